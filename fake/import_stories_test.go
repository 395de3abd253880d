package fake_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
)

// The stories of guide/import.md, over a dump of a real 1.36 cluster.

// production imports the cluster. Its controllers run, and its nodes are simulated.
func production(t *testing.T, replicas ...fake.ReplicaOptions) (*fake.Server, client) {
	t.Helper()
	if testing.Short() {
		t.Skip("the stories take two seconds of CPU; make full runs this test")
	}
	is := is.New(t)
	d, err := dump.Read(realCluster)
	is.NoErr(err)
	srv := fake.RunT(t, fake.Options{Controllers: controller.All, NodeNames: d.NodeNames(), Clock: clock.NewManual(d.Newest()), Replicas: replicas})
	done, err := srv.ImportDump(d)
	is.NoErr(err)
	is.Equal(len(done.Refused), 0)
	return srv, client{t, srv}
}

// podsOn returns the pods on a node that a drain evicts, as NAMESPACE/NAME.
func podsOn(c client, node string) (names []string) {
	list := c.parse(second(c.do("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D"+node, "")))
	for _, p := range list.Objects("items") {
		if p.Namespace() != "kube-system" { // of a DaemonSet
			names = append(names, p.Namespace()+"/"+p.Name())
		}
	}
	return names
}

// evict evicts a pod and returns the code and the message of the response.
func evict(c client, pod string) (int, string) {
	namespace, name, _ := strings.Cut(pod, "/")
	code, body := c.do("POST", "/api/v1/namespaces/"+namespace+"/pods/"+name+"/eviction",
		`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+name+`"}}`)
	return code, c.parse(body).String("message")
}

// TestStoryDrain drains a node. The budget of web allows one missing pod, so the second eviction has to wait for the replacement of the
// first pod. A fork of the cluster is not affected.
func TestStoryDrain(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := production(t)
	before := srv.Fork()
	all := podsOn(c, "node-1")
	is.Equal(len(all), 3) // two of web, and the database
	c.mergePatch("/api/v1/nodes/node-1", `{"spec":{"unschedulable":true}}`)
	var refused []string
	for range 3 {
		for _, pod := range podsOn(c, "node-1") {
			if code, message := evict(c, pod); code == 429 {
				refused = append(refused, message)
			}
		}
		srv.Clock.Advance(time.Minute)
	}
	is.Equal(podsOn(c, "node-1"), nil)
	is.Equal(refused, []string{"Cannot evict pod as it would violate the pod's disruption budget."})
	web := c.parse(second(c.do("GET", "/apis/apps/v1/namespaces/shop/deployments/web", "")))
	is.Equal(web.Int64("status", "readyReplicas"), int64(4))
	is.Equal(podsOn(client{t, before}, "node-1"), all) // the fork
}

// TestStoryUpgrade imports the cluster into a server of 1.37, which accepts every object, and lists what changes for clients.
func TestStoryUpgrade(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, old := production(t)
	_, next := production(t, fake.ReplicaOptions{Version: "1.37"})
	served := func(c client) (all []string) {
		for _, k := range c.srv.Kinds() {
			all = append(all, strings.TrimPrefix(k.Group+"/"+k.Version, "/")+" "+k.Kind)
		}
		return all
	}
	is.Equal(missing(served(next), served(old)), nil)
	is.Equal(missing(served(old), served(next)), []string{"certificates.k8s.io/v1 ClusterTrustBundle", "certificates.k8s.io/v1 PodCertificateRequest",
		"resource.k8s.io/v1 DeviceTaintRule", "storagemigration.k8s.io/v1 StorageVersionMigration"})
	var own []string
	for _, name := range changed(t, old, next) {
		if !strings.HasPrefix(name, "rbac.authorization.k8s.io/v1 ") { // default roles and bindings
			own = append(own, name)
		}
	}
	i := slices.IndexFunc(own, func(name string) bool { return strings.HasPrefix(name, "certificates.k8s.io/v1 ClusterTrustBundle ") })
	own = slices.Delete(own, i, i+1)                                                                                                                      // of the API server's certificate, with a hash in its name
	is.Equal(own, []string{"apiregistration.k8s.io/v1 APIService /v1.metrics.k8s.io", "apiregistration.k8s.io/v1 APIService /v1.storagemigration.k8s.io", // new APIs
		"apps/v1 StatefulSet data/db",                                                                        // a new default
		"autoscaling/v1 HorizontalPodAutoscaler shop/web", "autoscaling/v2 HorizontalPodAutoscaler shop/web", // observedGeneration
		"storage.k8s.io/v1 CSIDriver /disks.example.com", "storage.k8s.io/v1 CSINode /node-1", // new defaults
		"v1 PersistentVolumeClaim data/data-db-0"}) // the condition Unused
}

// changed returns the names of the objects that differ between two servers, apart from events, managed fields and revisions.
func changed(t *testing.T, old, next client) (names []string) {
	t.Helper()
	read := func(c client) map[string]string {
		_, all := dumpOf(c, c.srv)
		for name, text := range all { // order does not matter
			obj := c.parse(text)
			obj.Remove("metadata", "managedFields")
			obj.Remove("metadata", "resourceVersion")
			if all[name] = string(object.JSON(map[string]any(obj))); obj.Kind() == "Event" {
				delete(all, name)
			}
		}
		return all
	}
	before, after := read(old), read(next)
	for name := range maps.Keys(before) {
		if after[name] == "" {
			after[name] = "gone"
		}
	}
	for _, name := range object.SortedKeys(after) {
		if before[name] != after[name] {
			names = append(names, name)
		}
	}
	return names
}

// missing returns the strings that are in all and not in some.
func missing(some, all []string) (rest []string) {
	known := map[string]bool{}
	for _, s := range some {
		known[s] = true
	}
	for _, s := range all {
		if !known[s] {
			rest = append(rest, s)
		}
	}
	return rest
}

// TestStoryVersion removes versions from a definition. The version in which objects are stored cannot be removed. After another
// version is removed, requests for it get 404, but the objects stay.
func TestStoryVersion(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, c := production(t)
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/issuers.cert-manager.io"
	without := func(version string) (int, string) {
		crd := c.parse(second(c.do("GET", path, "")))
		var kept []any
		for _, v := range crd.Objects("spec", "versions") {
			if v.String("name") != version {
				v["storage"] = true
				kept = append(kept, map[string]any(v))
			}
		}
		crd.Set(kept, "spec", "versions")
		code, body := c.do("PUT", path, string(object.JSON(map[string]any(crd))))
		return code, c.parse(body).String("message")
	}
	code, message := without("v1")
	is.Equal(code, 422)
	is.True(strings.Contains(message, `status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version`))
	code, _ = c.do("GET", "/apis/cert-manager.io/v1alpha2/namespaces/shop/issuers/self", "")
	is.Equal(code, 200)
	code, _ = without("v1alpha2")
	is.Equal(code, 200)
	code, _ = c.do("GET", "/apis/cert-manager.io/v1alpha2/namespaces/shop/issuers/self", "")
	is.Equal(code, 404)
	self := c.parse(second(c.do("GET", "/apis/cert-manager.io/v1/namespaces/shop/issuers/self", "")))
	is.Equal(self.Objects("metadata", "managedFields")[0].String("apiVersion"), "cert-manager.io/v1alpha2")

	code, _ = c.do("DELETE", path, "")
	is.Equal(code, 200) // the whole definition: one object waits for its finalizer
	c.srv.Clock.Advance(time.Hour)
	list := c.parse(second(c.do("GET", "/apis/cert-manager.io/v1/issuers", "")))
	is.Equal(len(list.Objects("items")), 1)
	crd := c.parse(second(c.do("GET", path, "")))
	is.Equal(crd.Condition("Terminating").String("status"), "True")
}

// TestStoryPolicy enforces a Pod Security standard in a namespace. The warning names the pods that violate it. They continue to run, but
// an hour later the next rollout has made no progress.
func TestStoryPolicy(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := production(t)
	code, header, _ := c.ask("PATCH", "/api/v1/namespaces/shop", "application/merge-patch+json", "",
		`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	is.Equal(code, 200)
	is.Equal(header["Warning"], []string{`299 - "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \"restricted:latest\""`,
		`299 - "report-94lgt (and 4 other pods): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile"`})
	c.mergePatch("/apis/apps/v1/namespaces/shop/deployments/web", `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.28"}]}}}}`)
	srv.Clock.Advance(time.Hour)
	web := c.parse(second(c.do("GET", "/apis/apps/v1/namespaces/shop/deployments/web", "")))
	is.Equal(web.Condition("Progressing").String("reason"), "ProgressDeadlineExceeded")
	is.True(strings.HasPrefix(web.Condition("ReplicaFailure").String("message"), `pods "web-`))
	is.Equal(web.Int64("status", "readyReplicas"), int64(3))
}

// TestImportedSettles checks that an imported cluster settles although a namespace stays in Terminating, also in a fork, and that
// the namespace goes when its last object has lost its finalizer, although a fault delays this.
func TestImportedSettles(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := production(t)
	began := srv.Clock.Now()
	is.NoErr(srv.Settle(t.Context()))
	is.True(srv.Clock.Now().Sub(began) < 5*time.Minute)
	fork := srv.Fork()
	for _, s := range []*fake.Server{srv, fork} {
		is.NoErr(s.Settle(t.Context()))
	}
	srv.Faults.Add(fault.On("patch", "configmaps").Times(1).Conflict())
	for _, want := range []int{409, 200} {
		code, _, _ := c.ask("PATCH", "/api/v1/namespaces/leaving/configmaps/held", "application/merge-patch+json", "", `{"metadata":{"finalizers":null}}`)
		is.Equal(code, want)
	}
	is.NoErr(srv.Settle(t.Context()))
	code, _ := c.do("GET", "/api/v1/namespaces/leaving", "")
	is.Equal(code, 404)
	code, _ = client{t, fork}.do("GET", "/api/v1/namespaces/leaving", "")
	is.Equal(code, 200)
}
