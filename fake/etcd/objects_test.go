package etcd

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/sim/cbor"
)

// overObjects returns a server and a client of its keys below a prefix.
func overObjects(t *testing.T, o fake.Options, prefix string) (*fake.Server, etcdctl) {
	t.Helper()
	srv := fake.RunT(t, o)
	return srv, serve(t, New(NewObjects(srv.Storage(), prefix, cbor.Codec{}), clock.NewManual(clock.Epoch())))
}

// load creates objects.
func load(t *testing.T, srv *fake.Server, yaml string) {
	t.Helper()
	if err := srv.LoadData([]byte(yaml)); err != nil {
		t.Fatal(err)
	}
}

// realSnapshot returns the newest writes in a snapshot of a real etcd.
func realSnapshot(t *testing.T) (all []dump.Written, d *dump.Dump) {
	t.Helper()
	packed, err := os.ReadFile("../testdata/import/real/etcd.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err == nil {
		all, err = dump.Snapshot(data)
	}
	d = &dump.Dump{}
	if err == nil {
		err = d.Add("etcd.db", data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all, d
}

// TestRealBytes checks that the objects of a real cluster have the keys and the bytes of its etcd after they were imported.
func TestRealBytes(t *testing.T) {
	t.Parallel()
	writes, d := realSnapshot(t)
	srv, c := overObjects(t, fake.Options{Bare: true}, DefaultPrefix)
	if _, err := srv.ImportDump(d); err != nil {
		t.Fatal(err)
	}
	skipped := map[string]bool{}
	for _, p := range d.Skipped {
		skipped[strings.TrimPrefix(p.Place, "etcd.db: ")] = true
	}
	equal := 0
	for _, w := range writes {
		if w.Value == nil || skipped[w.Key] {
			continue
		}
		kv, err := c.must("KV/Range", from(w.Key, "")).Inner(2)
		if err != nil {
			t.Fatal(err)
		}
		switch got := kv.Text(5); {
		case got == "":
			t.Errorf("%s is missing", w.Key)
		case got != string(w.Value):
			t.Errorf("%s:\n%q, want\n%q", w.Key, got, w.Value)
		default:
			equal++
		}
	}
	if equal < 100 {
		t.Errorf("only %d values were compared", equal)
	}
}

const flowers = `
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: roses.flowers.io}
spec:
  group: flowers.io
  scope: Namespaced
  names: {kind: Rose, plural: roses}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}, additionalPrinterColumns: [{name: C, type: string, jsonPath: .c}]}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// TestCustom checks the keys and values of a definition and of custom resources, in JSON and in CBOR.
func TestCustom(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := overObjects(t, fake.Options{}, "/abc/registry/")
	load(t, srv, flowers)
	load(t, srv, "kind: Rose\napiVersion: flowers.io/v2\nmetadata: {name: red, namespace: default}\ncolor: red\n")
	value := c.get(from("/abc/registry/apiextensions.k8s.io/customresourcedefinitions/roses.flowers.io", ""))
	for _, part := range []string{`"apiVersion":"apiextensions.k8s.io/v1beta1"`, `"version":"v1"`, `"preserveUnknownFields":false`, `"validation":{"openAPIV3Schema"`, `"JSONPath":".c"`} {
		is.True(strings.Contains(value, part)) // a definition is stored as v1beta1
	}
	is.True(!strings.Contains(value, `"schema"`)) // it is the same in all versions
	value = c.get(from("/abc/registry/flowers.io/roses/default/red", ""))
	is.True(strings.HasPrefix(value, `/abc/registry/flowers.io/roses/default/red={"apiVersion":"flowers.io/v1","color":"red",`)) // the storage version
	is.True(strings.HasSuffix(value, "}\n"))
	is.True(!strings.Contains(value, "resourceVersion"))

	c.put("/abc/registry/flowers.io/roses/default/old", `{"kind":"Rose","apiVersion":"flowers.io/v1","metadata":{"name":"old","namespace":"default","labels":{"a":"b"},"annotations":{"a":1}}}`)
	is.True(strings.Contains(read(t, srv, "/apis/flowers.io/v1/namespaces/default/roses/old"), `"metadata":{"generation":1,"labels":{"a":"b"},"name":"old",`)) // invalid annotations are dropped

	srv, c = overObjects(t, fake.Options{CBOR: cbor.Codec{}, Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{"CBORServingAndStorage": true}}}}, DefaultPrefix)
	load(t, srv, flowers)
	load(t, srv, "kind: Rose\napiVersion: flowers.io/v1\nmetadata: {name: red, namespace: default}\n")
	is.True(strings.HasPrefix(c.get(from("/registry/flowers.io/roses/default/red", "")), "/registry/flowers.io/roses/default/red=\xd9\xd9\xf7"))
}

// TestPutRead checks that every object of a new server stays the same if the value in etcd is written again.
func TestPutRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := overObjects(t, fake.Options{}, DefaultPrefix)
	load(t, srv, flowers)
	load(t, srv, "kind: Rose\napiVersion: flowers.io/v1\nmetadata: {name: red, namespace: default}\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: a, namespace: default}\nspec: {containers: [{name: c, image: i}]}\n")
	before, err := c.must("KV/Range", from("/", "0")).Messages(2)
	is.NoErr(err)
	is.True(len(before) > 180)
	for _, kv := range before {
		c.put(kv.Text(1), kv.Text(5))
	}
	after, err := c.must("KV/Range", from("/", "0")).Messages(2)
	is.NoErr(err)
	is.Equal(len(after), len(before))
	for i, kv := range after {
		if kv.Text(5) != before[i].Text(5) {
			t.Errorf("%s: %q, was %q", kv.Text(1), kv.Text(5), before[i].Text(5))
		}
		is.Equal(kv.Number(4), before[i].Number(4)+1) // version
	}
}

// TestOldVersions checks that values in versions that are no longer served are read in the served ones.
func TestOldVersions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := overObjects(t, fake.Options{}, DefaultPrefix)
	c.put("/registry/poddisruptionbudgets/default/none", `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1beta1","metadata":{"name":"none","namespace":"default"},"spec":{"selector":{}}}`)
	c.put("/registry/apiextensions.k8s.io/customresourcedefinitions/as.b.io", `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"as.b.io"},`+
		`"spec":{"group":"b.io","version":"v1","scope":"Cluster","names":{"kind":"A","plural":"as","listKind":"AList","singular":"a"},"preserveUnknownFields":true}}`)
	get := func(path string) string { return read(t, srv, path) }
	is.True(strings.Contains(get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/none"), `pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match`))
	is.True(strings.Contains(get("/apis/b.io/v1/as"), `"kind":"AList"`)) // the definition is served
	m := c.must("KV/DeleteRange", from("/registry/poddisruptionbudgets/", "/registry/poddisruptionbudgets0"))
	is.Equal(m.Number(2), int64(1))
	is.True(strings.Contains(get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/none"), `"reason":"NotFound"`))
}

// TestOldClaim checks that a claim which an earlier version has stored, with dataSource only, can be written again.
func TestOldClaim(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := overObjects(t, fake.Options{}, DefaultPrefix)
	c.put("/registry/persistentvolumeclaims/default/a", `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"u"},`+
		`"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1G"}},"dataSource":{"kind":"PersistentVolumeClaim","name":"b"}}}`)
	q, err := http.NewRequest("PATCH", srv.URL()+"/api/v1/namespaces/default/persistentvolumeclaims/a", strings.NewReader("{}"))
	is.NoErr(err)
	q.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := srv.Transport().RoundTrip(q)
	is.NoErr(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	is.NoErr(err)
	is.True(strings.Contains(string(text), `"dataSourceRef":{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"b"}`))
}

// TestReplay checks that a server continues with the writes of another store, and names the writes that are not objects.
func TestReplay(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	objects := NewObjects(srv.Storage(), "/p", nil)
	configMap := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}}`)
	refused := objects.Replay([]Write{{Key: "/p/configmaps/default/a", Value: configMap}, {Key: "/p/configmaps/default/a", Deleted: true, Compacted: true},
		{Key: "/p/configmaps/default/a", Value: configMap}, {Key: "/p/x/y", Value: []byte("1")}, {Key: "/p/pods/default/a", Value: []byte("x")}})
	is.Equal(len(refused), 2)
	is.True(strings.Contains(refused[0].Error(), "no resource of its API server has such keys"))
	is.True(strings.Contains(refused[1].Error(), "cannot store /p/pods/default/a"))
	is.True(strings.Contains(read(t, srv, "/api/v1/namespaces/default/configmaps/a"), `"name":"a"`))
	is.NoErr(objects.Do(func(tx Tx) error {
		is.Equal(tx.Compacted(), tx.Rev()-2) // at the delete
		return nil
	}))
}

// read sends a GET request.
func read(t *testing.T, srv *fake.Server, path string) string {
	t.Helper()
	res, err := (&http.Client{Transport: srv.Transport()}).Get(srv.URL() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWatchOfObjects checks that a watch of etcd sees the writes of API clients.
func TestWatchOfObjects(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := overObjects(t, fake.Options{}, DefaultPrefix)
	w := c.watch(new(builder).Message(1, from("/registry/secrets/", "/registry/secrets0")))
	w.next()
	load(t, srv, "kind: Secret\napiVersion: v1\nmetadata: {name: a, namespace: default}\n")
	e, err := w.next().Inner(11)
	is.NoErr(err)
	kv, err := e.Inner(2)
	is.NoErr(err)
	is.Equal(kv.Text(1), "/registry/secrets/default/a")
	is.True(strings.HasPrefix(kv.Text(5), "k8s\x00\n\f\n\x02v1\x12\x06Secret"))
	is.Equal(kv.Number(3), int64(srv.Revision()))
}

// TestNonStructural checks the condition of a definition that only etcd can have: its schema is not structural. The condition goes when
// the schema is mended.
func TestNonStructural(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, c := overObjects(t, fake.Options{}, DefaultPrefix)
	const key = "/registry/apiextensions.k8s.io/customresourcedefinitions/as.b.io"
	put := func(properties, preserve string) string {
		c.put(key, `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"as.b.io"},"spec":{"group":"b.io","version":"v1",`+
			`"scope":"Cluster","names":{"kind":"A","plural":"as","listKind":"AList","singular":"a"},"preserveUnknownFields":`+preserve+`,"validation":{"openAPIV3Schema":`+properties+`}}}`)
		return read(t, srv, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/as.b.io")
	}
	got := put(`{"type":"object","properties":{"a":{}}}`, "true")
	is.True(strings.Contains(got, `"reason":"Violations","message":"[spec.preserveUnknownFields: Invalid value: true: must be false, `+
		`spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields]"`))
	load(t, srv, "kind: A\napiVersion: b.io/v1\nmetadata: {name: x}\nunknown: {deep: 1}\n")
	is.True(strings.Contains(read(t, srv, "/apis/b.io/v1/as/x"), `"unknown":{"deep":1}`)) // preserveUnknownFields
	got = put(`{"type":"object","properties":{"a":{"type":"string"}}}`, "false")
	is.True(!strings.Contains(read(t, srv, "/apis/b.io/v1/as/x"), `"unknown"`))
	is.True(strings.Contains(got, `"Established"`) && !strings.Contains(got, "NonStructuralSchema"))
}
