package dump

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/stored"
)

const (
	podA = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop","creationTimestamp":"2026-01-02T03:04:05Z"}}`
	podB = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"shop"}}`
)

// names returns the names of the objects.
func names(d *Dump) string {
	var all []string
	for _, o := range d.Objects {
		all = append(all, o.Name)
	}
	return strings.Join(all, ", ")
}

// packed returns an archive of tar that is compressed with gzip.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1]))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFormats checks that the objects of each format are found.
func TestFormats(t *testing.T) {
	t.Parallel()
	record := func(at, event, path, body string) string {
		return `{"captured_at":"2026-04-09T10:00:` + at + `Z","event_type":"` + event + `","api_path":"` + path + `","response_code":200,"response_body":` + body + `}`
	}
	const path = "/api/v1/namespaces/shop/pods"
	for _, c := range []struct{ name, data, want string }{
		{"a list of kubectl get -o json", `{"kind":"List","apiVersion":"v1","items":[` + podA + `,` + podB + `]}`, "Pod shop/a, Pod shop/b"},
		{"a list of kubectl get -o yaml", "kind: List\napiVersion: v1\nitems:\n- kind: Node\n  apiVersion: v1\n  metadata: {name: n1}\n", "Node n1"},
		{"documents, as of kwokctl", "---\n" + podA + "\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\n---\n", "Pod shop/a, Pod b"},
		{"JSON values without a separator", podA + podB, "Pod shop/a, Pod shop/b"},
		{"a list whose items have no kind", `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, "Pod a"},
		{"kubectl cluster-info dump", "{\n \"kind\": \"NodeList\", \"apiVersion\": \"v1\", \"items\": [{\"metadata\":{\"name\":\"n\"}}]\n}\n==== START logs for container c of pod shop/a ====\n{x\n" +
			"==== END logs for container c of pod shop/a ====\n" + podB, "Node n, Pod shop/b"},
		{"empty lists", `{"kind":"PodList","apiVersion":"v1","items":[]}{"kind":"PodList","apiVersion":"v1","items":null}`, ""},
		{"a backup by Velero", string(packed(t, "resources/pods/namespaces/shop/a.json", podA, "resources/pods/v1-preferredversion/namespaces/shop/b.json", podB, "metadata/version", "1")),
			"Pod shop/a, Pod shop/b"},
		{"a must-gather", string(packed(t, "must-gather/image/namespaces/shop/core/pods.yaml", "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n",
			"must-gather/image/namespaces/shop/pods/a/a.log", "{", "must-gather/image/monitoring/rules.json", `{"status":"success"}`)), "Pod a"},
		{"records of k8shark", record("02", "", path, `{"kind":"PodList","apiVersion":"v1","items":[`+podB+`]}`) + "\n" +
			record("01", "", path, `{"kind":"PodList","apiVersion":"v1","items":[`+podA+`]}`) + "\n" + record("03", "", path+"?as=Table", `{"kind":"Table","rows":[]}`), "Pod shop/b"},
		{"an empty list of k8shark", record("01", "", path, `{"kind":"PodList","apiVersion":"v1","items":[`+podA+`]}`) + record("02", "", path, `{"kind":"PodList","apiVersion":"v1","items":null}`), ""},
		{"watch events of k8shark", record("01", "", path, `{"kind":"PodList","apiVersion":"v1","items":[`+podA+`]}`) +
			record("02", "ADDED", path, podB) + record("03", "DELETED", path, podA), "Pod shop/b"},
	} {
		d := &Dump{}
		if err := d.Add("dump", []byte(c.data)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := names(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestShark checks that an archive of k8shark is read: a zip file whose entries are compressed with zstd.
func TestShark(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	record := `{"captured_at":"2026-04-09T10:00:00Z","api_path":"/api/v1/pods","response_code":200,"response_body":{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}}`
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("k8shark-capture/records/0123/0.json.zst")
	is.NoErr(err)
	e, err := zstd.NewWriter(w)
	is.NoErr(err)
	_, err = e.Write([]byte(record))
	is.NoErr(err)
	is.NoErr(e.Close())
	is.NoErr(z.Close())
	d := &Dump{}
	is.NoErr(d.Add("capture.kshrk", b.Bytes()))
	is.Equal(names(d), "Pod a")
	is.Equal(d.Objects[0].File, "capture.kshrk/k8shark-capture/records/0123/0.json.zst")
	is.Equal(d.Newest(), time.Date(2026, 4, 9, 10, 0, 0, 0, time.UTC)) // when it was captured
}

// TestErrors checks that an error names the file and the line.
func TestErrors(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		podA + "\n\n{\"kind\": x}":                      "f:3: invalid character 'x'",
		"kind: A\n---\nkind: B\na: b: c\n":              "f:4: mapping values are not allowed",
		"kind: A\n---\n[1]":                             "f:3: ",
		`{"kind":"List","apiVersion":"v1","items":[1]}`: "f:1: item 0: ",
		"\x1f\x8b":                                        "f: ",
		"age-encryption.org/v1":                           "f: it is encrypted",
		string(packed(t, "a.json", `{"kind":`)):           "f/a.json:1: ",
		string(packed(t, "a.yaml", "a: 1\n---\nb: c: d")): "f/a.yaml:3: ",
	} {
		err := new(Dump).Add("f", []byte(data))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %s", data, err, want)
		}
	}
}

// TestFolder checks which files of a folder are read, and that the newest time and the nodes are known.
func TestFolder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.MkdirAll(filepath.Join(dir, "shop"), 0o700))
	for name, text := range map[string]string{"shop/pods.json": podA, "nodes.yaml": "kind: Node\napiVersion: v1\nmetadata: {name: n1}\nstatus: {conditions: [{lastHeartbeatTime: '2026-05-01T00:00:00Z'}]}\n",
		"shop/logs.txt": "{", "version.json": `{"major":"1"}`} { // order does not matter
		is.NoErr(os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600))
	}
	d, err := Read(dir)
	is.NoErr(err)
	is.Equal(names(d), "Node n1, Pod shop/a")
	is.Equal(d.NodeNames(), []string{"n1"})
	is.Equal(d.Newest(), time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	is.Equal(d.Skipped, []Problem{{filepath.Join(dir, "version.json") + ":1", stored.NoKind}})
}

// FuzzText checks that Add survives arbitrary text, such as damaged YAML, JSON and records of k8shark.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"kind":"List","apiVersion":"v1","items":[` + podA + `]}` + podB))
	f.Add([]byte("kind: Node\napiVersion: v1\nmetadata: {name: n1}\n---\nitems: [1]\nkind: AList\n"))
	f.Add([]byte(`{"captured_at":"2026-04-09T10:00:00Z","api_path":"/api/v1/pods","response_body":{"items":[` + podA + `]}}`))
	f.Add([]byte("{}==== START logs x\n==== END logs x"))
	f.Fuzz(func(t *testing.T, data []byte) { checkAdd(t, data) })
}

// FuzzFile checks that Add survives damaged archives and compressed files.
func FuzzFile(f *testing.F) {
	f.Add(packed(f, "a.json", podA, "b.yaml", "a: 1"))
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { checkAdd(t, data) })
}

// FuzzDatabase checks that Add survives a damaged snapshot of etcd.
func FuzzDatabase(f *testing.F) {
	packed, err := os.ReadFile("../testdata/import/real/etcd.db.gz")
	if err != nil {
		f.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		f.Fatal(err)
	}
	whole, err := io.ReadAll(z)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0x1040), []byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		damaged := bytes.Clone(whole)
		copy(damaged[int(at)%len(damaged):], change)
		checkAdd(t, damaged)
	})
}

// checkAdd calls Add, which may fail, and checks that each object that it has added has a kind.
func checkAdd(t *testing.T, data []byte) {
	t.Helper()
	d := &Dump{}
	if d.Add("f", data) != nil {
		return
	}
	for _, o := range d.Objects {
		if o.Name == "" || len(o.JSON) == 0 {
			t.Errorf("an object without a name: %+v", o)
		}
	}
}
