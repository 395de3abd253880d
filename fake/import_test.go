package fake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// dumpOf returns all objects of a server as a List, like kubectl get -A -o json, and each of them by its name.
func dumpOf(c client, srv *fake.Server) (list []byte, objects map[string]string) {
	objects = map[string]string{}
	var items []json.RawMessage
	for _, k := range srv.Kinds() {
		path := "/apis/" + k.Group + "/" + k.Version
		if k.Group == "" {
			path = "/api/" + k.Version
		}
		code, body := c.do("GET", path+"/"+k.Resource, "")
		if code != 200 {
			continue // kinds that are not stored
		}
		var l struct {
			Items []json.RawMessage
		}
		if err := json.Unmarshal([]byte(body), &l); err != nil {
			c.t.Fatal(err)
		}
		for _, text := range l.Items {
			obj, err := object.Parse(text)
			if err != nil {
				c.t.Fatal(err)
			}
			obj["kind"], obj["apiVersion"] = k.Kind, strings.TrimPrefix(k.Group+"/"+k.Version, "/")
			text = object.JSON(map[string]any(obj))
			items = append(items, text)
			objects[nameOf(obj)] = string(text)
		}
	}
	list, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": items})
	if err != nil {
		c.t.Fatal(err)
	}
	return list, objects
}

// nameOf returns the name of an object with its kind.
func nameOf(obj object.Object) string {
	return fmt.Sprintf("%s %s %s/%s", obj.APIVersion(), obj.Kind(), obj.Namespace(), obj.Name())
}

// TestImportIsTheSame checks that an imported cluster has the same objects, to the byte, in whatever order they are.
func TestImportIsTheSame(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t, fake.Options{Controllers: controller.All, Nodes: 2})
	is.NoErr(srv.LoadData([]byte(siteCRD)))
	is.NoErr(srv.Load("testdata/import/workloads.yaml"))
	srv.Clock.Advance(time.Minute)
	is.NoErr(srv.Settle(context.Background()))
	is.NoErr(srv.LoadData([]byte(`{"apiVersion":"web.example.com/v1","kind":"Site","metadata":{"name":"blog","namespace":"default"},"spec":{"size":1}}`)))
	list, want := dumpOf(c, srv)

	file := filepath.Join(t.TempDir(), "dump.json")
	is.NoErr(os.WriteFile(file, list, 0o600))
	_, other, d := watched(t, fake.Options{NoControllers: true})
	done, err := other.Import(file)
	is.NoErr(err)
	is.Equal(len(done.Refused), 0)
	_, got := dumpOf(d, other)
	delete(want, "apiregistration.k8s.io/v1 APIService /v1beta1.metrics.k8s.io") // the new server has checked whether it is available
	for _, name := range object.SortedKeys(want) {
		if got[name] != want[name] {
			t.Errorf("%s:\n%s\nimported as\n%s", name, want[name], got[name])
		}
	}
	is.True(!other.Clock.Now().Before(srv.Clock.Now().Add(-time.Minute))) // it advanced to the newest time of the dump
}

// BenchmarkImport imports 20,000 pods of 4 kB, as JSON.
func BenchmarkImport(b *testing.B) {
	d, err := dump.Read(realCluster)
	if err != nil {
		b.Fatal(err)
	}
	var text []byte
	n := 0
	for n < 20_000 {
		for _, o := range d.Objects {
			if !strings.HasPrefix(o.Name, "Pod ") || n == 20_000 {
				continue
			}
			obj, err := object.Parse(o.JSON)
			if err != nil {
				b.Fatal(err)
			}
			n++
			obj.Set(fmt.Sprint(obj.Name(), "-", n), "metadata", "name")
			obj.Set(fmt.Sprint(n), "metadata", "resourceVersion")
			text = object.AppendJSON(text, map[string]any(obj))
		}
	}
	var took time.Duration
	for b.Loop() {
		began := cpu(b)
		srv, err := fake.New(fake.Options{NoControllers: true})
		if err != nil {
			b.Fatal(err)
		}
		d := &dump.Dump{}
		if err := d.Add("dump", text); err != nil {
			b.Fatal(err)
		}
		if done, err := srv.ImportDump(d); err != nil || done.Objects != n {
			b.Fatal(done, err)
		}
		took += cpu(b) - began
		srv.Close()
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(len(text))/1e6, "MB")
}

// TestImportNodes checks that simulated kubelets take over the nodes and pods of a real cluster as they are.
func TestImportNodes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d, err := dump.Read(realCluster)
	is.NoErr(err)
	is.Equal(d.NodeNames(), []string{"node-1", "node-2", "node-3"})
	_, srv, c := watched(t, fake.Options{Controllers: controller.All, NodeNames: d.NodeNames(), Clock: clock.NewManual(d.Newest())})
	_, err = srv.ImportDump(d)
	is.NoErr(err)
	srv.Clock.Advance(10 * time.Minute)
	_, got := dumpOf(c, srv)
	pods := 0
	for _, o := range d.Objects {
		if !strings.HasPrefix(o.Name, "Pod ") {
			continue
		}
		pods++
		obj, err := object.Parse(o.JSON)
		is.NoErr(err)
		is.Equal(got[nameOf(obj)], string(object.JSON(map[string]any(obj)))) // ten minutes later
	}
	is.Equal(pods, 10)
	node := c.parse(second(c.do("GET", "/api/v1/nodes/node-2", "")))
	is.Equal(node.Condition("Ready").String("status"), "True") // its kubelet renews the lease
	is.Equal(node.String("status", "nodeInfo", "kubeletVersion"), "v1.36.3")
	is.Equal(node.Objects("status", "addresses")[0].String("address"), "172.18.0.12")
}
