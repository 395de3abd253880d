package kubectl_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/check"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/fake/kubectl"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// The files of TestRecordImport: its recipe, and in the folder with the results the objects and the database.
const (
	recorded    = "../testdata/import/real"
	recipeFile  = recorded + "/cluster.yaml"
	clusterFile = "cluster.json.gz"
	etcdFile    = "etcd.db.gz"
)

// TestRecordImport fills a fresh real server with its controllers (make real CONTROLLERS=1), and writes its objects and its database,
// the file KUBESIM_ETCD (member/snap/db), to files. No kubelet and no scheduler run: the test does their work.
//
// For a larger cluster (make import-real), KUBESIM_COPIES is the number of copies of the recipe's namespaces, KUBESIM_MANIFESTS
// a list of files and folders with more objects, and KUBESIM_CLUSTER the folder for the results.
func TestRecordImport(t *testing.T) {
	if os.Getenv("KUBESIM_RECORD") == "" || os.Getenv("KUBESIM_ETCD") == "" {
		t.Skip("KUBESIM_RECORD, KUBESIM_TARGET, KUBESIM_TOKEN and KUBESIM_ETCD name no real server to fill")
	}
	is := is.New(t)
	target, err := kubectl.Load([]string{"--server=" + os.Getenv("KUBESIM_TARGET"), "--token=" + os.Getenv("KUBESIM_TOKEN")}, os.Getenv)
	is.NoErr(err)
	r := recorder{is, &client.Client{Conn: kubectl.Dial(context.Background(), target.Config.Server, target.Transport(), target.Token),
		Warnings: os.Stderr, Discovery: &client.Discovery{}}}
	r.fill(t)
	d := &dump.Dump{}
	is.NoErr(target.Export(context.Background(), kubectl.Exported{Secrets: true}, d))
	kinds := map[string]bool{}
	var items []json.RawMessage
	for _, o := range d.Objects {
		items = append(items, o.JSON)
		obj, err := object.Parse(o.JSON)
		is.NoErr(err)
		kinds[obj.APIVersion()+" "+obj.Kind()] = true
	}
	t.Logf("%d objects of %d kinds", len(items), len(kinds))
	list, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": items})
	is.NoErr(err)
	folder := cmp.Or(os.Getenv("KUBESIM_CLUSTER"), recorded)
	r.write(filepath.Join(folder, clusterFile), list)
	database, err := os.ReadFile(os.Getenv("KUBESIM_ETCD"))
	is.NoErr(err)
	r.write(filepath.Join(folder, etcdFile), database)
}

// fill creates the objects of the recipe and all other manifests, and lets the controllers work for half a minute.
func (r recorder) fill(t *testing.T) {
	recipe, err := os.ReadFile(recipeFile)
	r.NoErr(err)
	objects, err := codec.Manifest(recipe)
	r.NoErr(err)
	for i := range 3 {
		r.addNode(fmt.Sprintf("node-%d", i+1))
	}
	for _, obj := range objects {
		r.create(obj)
	}
	copies, _ := strconv.Atoi(os.Getenv("KUBESIM_COPIES"))
	for n := 1; n < copies; n++ {
		for _, obj := range objects {
			if c := another(obj, fmt.Sprintf("-%d", n)); c != nil {
				r.create(c)
			}
		}
	}
	for _, path := range filepath.SplitList(os.Getenv("KUBESIM_MANIFESTS")) {
		sources, err := check.Read([]string{path}, nil)
		r.NoErr(err)
		report, err := check.RunOn(check.Target{URL: os.Getenv("KUBESIM_TARGET"), Transport: http.DefaultTransport, Token: os.Getenv("KUBESIM_TOKEN"),
			Pause: 20 * time.Second, Keep: true}, sources, check.Options{})
		r.NoErr(err)
		t.Logf("%s: %s", path, report.Summary())
	}
	for n := range max(copies, 1) {
		suffix := fmt.Sprintf("-%d", n)
		r.send(wire.MethodDelete, "/api/v1/namespaces/leaving"+strings.TrimSuffix(suffix, "-0"), nil)
	}
	r.send(wire.MethodDelete, "/apis/cert-manager.io/v1/namespaces/shop/issuers/self", nil)
	for range 6 {
		clock.System{}.Sleep(5 * time.Second)
		for i := range 3 {
			r.renew(fmt.Sprintf("node-%d", i+1))
		}
		r.runPods()
	}
	clock.System{}.Sleep(5 * time.Second)
}

// another returns a copy of an object in another copy of its namespace, which has the suffix. A volume is copied for the claim in
// that namespace. Other objects have no copy: another returns nil.
func another(obj object.Object, suffix string) object.Object {
	c := obj.Copy()
	switch {
	case obj.Kind() == "Namespace", obj.Kind() == "PersistentVolume":
		c.Set(obj.Name()+suffix, "metadata", "name")
	case obj.Namespace() == "" || obj.Namespace() == "kube-system":
		return nil
	default:
		c.Set(obj.Namespace()+suffix, "metadata", "namespace")
	}
	return c
}

// recorder sends requests to a real server.
type recorder struct {
	*is.I
	*client.Client
}

// write compresses data and writes it to a file.
func (r recorder) write(file string, data []byte) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	r.NoErr(err)
	_, err = z.Write(data)
	r.NoErr(err)
	r.NoErr(z.Close())
	r.NoErr(os.WriteFile(file, b.Bytes(), 0o644))
}

// send sends a request with an object. It retries a request that fails because a definition is not served yet.
func (r recorder) send(method, path string, obj object.Object) object.Object {
	contentType := "application/json"
	if method == wire.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	for i := 0; ; i++ {
		answer, err := r.Ask(r.Request(method, path, nil, contentType, object.JSON(map[string]any(obj))))
		if failed, ok := err.(*client.StatusError); ok && failed.Code == http.StatusNotFound && i < 20 {
			clock.System{}.Sleep(500 * time.Millisecond)
			continue
		}
		r.NoErr(err)
		return answer
	}
}

func (r recorder) create(obj object.Object) {
	m, err := r.MappingFor(obj)
	for i := 0; err != nil && i < 20; i++ { // its definition is not served yet
		clock.System{}.Sleep(500 * time.Millisecond)
		m, err = r.MappingFor(obj)
	}
	r.NoErr(err)
	r.send(wire.MethodPost, m.Path(obj.Namespace(), ""), obj)
}

// parsed parses the YAML of one object. The arguments are those of fmt.Sprintf.
func (r recorder) parsed(format string, args ...any) object.Object {
	list, err := codec.Manifest(fmt.Appendf(nil, format, args...))
	r.NoErr(err)
	return list[0]
}

// addNode creates a node, its status and its lease.
func (r recorder) addNode(name string) {
	node := r.parsed(`{kind: Node, apiVersion: v1, metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, kubernetes.io/os: linux}}}`, name)
	if _, err := r.Get("/api/v1/nodes/"+name, nil); err == nil {
		return
	}
	r.create(node)
	r.create(r.parsed(`{kind: Lease, apiVersion: coordination.k8s.io/v1, metadata: {name: %s, namespace: kube-node-lease}, spec: {holderIdentity: %[1]s, leaseDurationSeconds: 40}}`, name))
	r.renew(name)
}

// renew renews the lease of a node and reports the node as ready.
func (r recorder) renew(name string) {
	now := time.Now().UTC()
	r.send(wire.MethodPatch, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+name, r.parsed(`spec: {renewTime: %q}`, now.Format("2006-01-02T15:04:05.000000Z")))
	r.send(wire.MethodPatch, "/api/v1/nodes/"+name+"/status", r.parsed(`status:
  capacity: &room {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: *room
  addresses: [{type: InternalIP, address: 172.18.0.1%s}, {type: Hostname, address: %s}]
  nodeInfo: {kubeletVersion: v1.36.3, operatingSystem: linux, architecture: amd64, bootID: "", containerRuntimeVersion: "", kernelVersion: "", kubeProxyVersion: "", machineID: "", osImage: "", systemUUID: ""}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: kubelet is posting ready status, lastHeartbeatTime: %q, lastTransitionTime: "2026-11-01T00:00:00Z"}]`,
		name[len("node-"):], name, now.Format(time.RFC3339)))
}

// runPods binds each pod to a node, and sets its status to that of a running pod.
func (r recorder) runPods() {
	list, err := r.Get("/api/v1/pods", nil)
	r.NoErr(err)
	for i, pod := range list.Objects("items") {
		path := "/api/v1/namespaces/" + pod.Namespace() + "/pods/" + pod.Name()
		if pod.String("spec", "nodeName") == "" {
			node := fmt.Sprintf("node-%d", i%3+1)
			for _, term := range pod.Objects("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms") { // of a DaemonSet
				node = term.Objects("matchFields")[0].Strings("values")[0]
			}
			r.send(wire.MethodPost, path+"/binding", r.parsed(`{kind: Binding, apiVersion: v1, metadata: {name: %s}, target: {kind: Node, apiVersion: v1, name: %s}}`, pod.Name(), node))
		}
		if pod.String("status", "phase") == "Running" {
			continue
		}
		at, container := time.Now().UTC().Format(time.RFC3339), pod.Objects("spec", "containers")[0]
		r.send(wire.MethodPatch, path+"/status", r.parsed(`status:
  phase: Running
  startTime: &at %q
  podIP: &ip 10.244.%d.%d
  podIPs: [{ip: *ip}]
  hostIP: 172.18.0.11
  conditions: [{type: Initialized, status: "True", lastTransitionTime: *at}, {type: Ready, status: "True", lastTransitionTime: *at}, {type: ContainersReady, status: "True", lastTransitionTime: *at}, {type: PodScheduled, status: "True", lastTransitionTime: *at}]
  containerStatuses: [{name: %s, image: %q, imageID: "sha256:1", containerID: "containerd://%s-1", ready: true, started: true, restartCount: 7, state: {running: {startedAt: *at}}, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: *at, finishedAt: *at, containerID: "containerd://%[6]s-0"}}}]`,
			at, i/200, i%200+10, container.String("name"), container.String("image"), pod.UID()))
	}
}
