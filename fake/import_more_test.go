package fake_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/sim/object"
)

// realObjects returns the objects of a real cluster, and the text of each by its name.
func realObjects(t *testing.T) (objects []object.Object, texts map[string]string) {
	t.Helper()
	is := is.New(t)
	d, err := dump.Read(realCluster)
	is.NoErr(err)
	texts = map[string]string{}
	for _, o := range d.Objects {
		obj, err := object.Parse(o.JSON)
		is.NoErr(err)
		objects = append(objects, obj)
		texts[nameOf(obj)] = string(object.JSON(map[string]any(obj)))
	}
	return objects, texts
}

// sameObjects checks that a server has all objects of a real cluster, to the byte.
func sameObjects(t *testing.T, format string, srv *fake.Server, want map[string]string) {
	t.Helper()
	_, got := dumpOf(client{t, srv}, srv)
	for _, name := range object.SortedKeys(want) {
		if got[name] != want[name] {
			t.Errorf("%s: %s:\n%s\nimported as\n%s", format, name, want[name], got[name])
		}
	}
}

// TestImportContinues checks that an imported server can be saved, forked and imported into again.
func TestImportContinues(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, want := realObjects(t)
	_, srv, c := watched(t, fake.Options{NoControllers: true})
	c.create("own") // an object that stays
	_, err := srv.Import(realCluster)
	is.NoErr(err)
	saved, err := srv.Snapshot()
	is.NoErr(err)
	again, err := fake.New(fake.Options{Snapshot: saved})
	is.NoErr(err)
	defer again.Close()
	sameObjects(t, "a snapshot", again, want)
	sameObjects(t, "a fork", srv.Fork(), want)
	rev := srv.Revision()
	c.create("next")
	is.Equal(srv.Revision(), rev+1)
	before, err := srv.ForkAt(rev)
	is.NoErr(err)
	sameObjects(t, "a fork at the import", before, want)
	done, err := srv.Import(realCluster)
	is.NoErr(err)
	is.Equal(len(done.Refused), 0)
	sameObjects(t, "the second import", srv, want)
	for _, name := range []string{"own", "next"} {
		code, _ := c.do("GET", "/api/v1/namespaces/default/configmaps/"+name, "")
		is.Equal(code, 200)
	}
}

// TestImportRefused checks which objects are refused, and that the others are imported.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	file := filepath.Join(t.TempDir(), "dump.yaml")
	is.NoErr(os.WriteFile(file, []byte(`kind: Widget
apiVersion: example.com/v1
metadata: {name: a, namespace: shop}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: same, namespace: shop, resourceVersion: "7", uid: u1}
data: {a: old}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: same, namespace: shop, resourceVersion: "9", uid: u1}
data: {a: new}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: other, namespace: shop, resourceVersion: "9"}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: unknown, namespace: shop}
dta: {}
---
kind: Pod
apiVersion: v1
metadata: {name: empty, namespace: shop}
---
kind: Service
apiVersion: v1
metadata: {name: nowhere}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: gone, namespace: shop, deletionTimestamp: "2026-01-01T00:00:00Z"}
---
replicas: 3
`), 0o600))
	done, err := srv.Import(file)
	is.NoErr(err)
	is.Equal(strings.ReplaceAll(done.String(), file, "dump.yaml"), `imported 2 objects
created the missing namespaces shop
not imported: dump.yaml:1: Widget shop/a: no API server serves Widget in version example.com/v1
not imported: dump.yaml:19: ConfigMap shop/unknown: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"
not imported: dump.yaml:24: Pod shop/empty: Pod "empty" is invalid: spec.containers: Required value
not imported: dump.yaml:28: Service nowhere: it has no metadata.namespace
not imported: dump.yaml:32: ConfigMap shop/gone: it has a deletionTimestamp and no finalizers: a server removes such an object at once
not imported: dump.yaml:36: not an object: it has no kind and apiVersion
`)
	same := c.parse(second(c.do("GET", "/api/v1/namespaces/shop/configmaps/same", "")))
	is.Equal(same.String("data", "a")+same.ResourceVersion(), "new9")
	other := c.parse(second(c.do("GET", "/api/v1/namespaces/shop/configmaps/other", "")))
	is.True(other.UID() != "" && len(other.ResourceVersion()) == 4) // above all others

	before := srv.Revision()
	is.NoErr(os.WriteFile(file, []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: x, namespace: shop}\n---\na: b: c\n"), 0o600))
	d := &dump.Dump{}
	data, err := os.ReadFile(file)
	is.NoErr(err)
	is.Equal(d.Add("f", data).Error(), "f:5: mapping values are not allowed in this context")
	is.Equal(srv.Revision(), before)
}
