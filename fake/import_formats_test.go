package fake_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// copies is the number of copies of a namespace in largeCluster.
const copies = 39

// largeCluster returns the objects of a real cluster with copies of its namespaces: 2,300 objects of 60 kinds, or with -short 330 and no
// copies. They are in reverse order, so that definitions come after their objects.
func largeCluster(t *testing.T) []object.Object {
	t.Helper()
	objects, _ := realObjects(t)
	copies, least := copies, 2000
	switch {
	case os.Getenv("KUBESIM_CLUSTER") != "":
		copies = 1
	case testing.Short():
		copies, least = 1, 300
	}
	kinds := map[string]bool{}
	for _, obj := range slices.Clone(objects) {
		kinds[obj.APIVersion()+" "+obj.Kind()] = true
		if obj.Kind() == "Foo" || obj.Name() == "foos.samplecontroller.k8s.io" { // the same definition in another group
			c := replaced(obj, "aaaa", "samplecontroller.k8s.io", "samples.example.com")
			c.Set("9"+obj.ResourceVersion(), "metadata", "resourceVersion")
			kinds[c.APIVersion()+" "+c.Kind()] = true
			objects = append(objects, c)
		}
		for n := range copies - 1 {
			if c := copied(obj, n+1); c != nil {
				objects = append(objects, c)
			}
		}
	}
	if len(objects) < least || len(kinds) < 60 {
		t.Fatalf("%d objects of %d kinds, want %d of 60", len(objects), len(kinds), least)
	}
	slices.Reverse(objects)
	return objects
}

// copied returns copy n of an object in a namespace of users, with another namespace, uids and resourceVersion. It returns nil for other
// objects.
func copied(obj object.Object, n int) object.Object {
	namespace := obj.Namespace()
	if obj.Kind() == "Namespace" {
		namespace = obj.Name()
	}
	if !slices.Contains([]string{"shop", "data", "leaving"}, namespace) {
		return nil
	}
	suffix := fmt.Sprintf("-%d", n)
	c := replaced(obj, fmt.Sprintf("%04d", n), "", "")
	if obj.Kind() == "Namespace" {
		c.Set(namespace+suffix, "metadata", "name")
		c.Set(namespace+suffix, "metadata", "labels", "kubernetes.io/metadata.name")
	} else {
		c.Set(namespace+suffix, "metadata", "namespace")
	}
	if c.Has("involvedObject") {
		c.Set(namespace+suffix, "involvedObject", "namespace")
	}
	c.Set(fmt.Sprintf("%d%s", n, "00000"+obj.ResourceVersion()), "metadata", "resourceVersion")
	return c
}

// replaced returns a copy of an object in which all uids begin with four other characters, and a text is replaced.
func replaced(obj object.Object, begin, text, by string) object.Object {
	data := object.JSON(map[string]any(obj))
	if text != "" {
		data = bytes.ReplaceAll(data, []byte(text), []byte(by))
	}
	c, err := object.Parse(uids.ReplaceAllFunc(data, func(uid []byte) []byte { return append([]byte(begin), uid[4:]...) }))
	if err != nil {
		panic(err) // it was an object
	}
	return c
}

// uids matches the uids in an object: its own, and those of others.
var uids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// source is a file or folder in the format of a tool.
type source struct {
	t    *testing.T
	path string
	tar  *tar.Writer
	zip  *zip.Writer
}

// add adds a file to a folder or an archive.
func (s *source) add(name string, data []byte) {
	s.t.Helper()
	is := is.New(s.t)
	switch {
	case s.tar != nil:
		is.NoErr(s.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}))
		_, err := s.tar.Write(data)
		is.NoErr(err)
	case s.zip != nil:
		w, err := s.zip.Create(name)
		is.NoErr(err)
		_, err = w.Write(data)
		is.NoErr(err)
	default:
		name = filepath.Join(s.path, filepath.FromSlash(name))
		is.NoErr(os.MkdirAll(filepath.Dir(name), 0o700))
		is.NoErr(os.WriteFile(name, data, 0o600))
	}
}

// yaml returns an object as YAML.
func (s *source) yaml(obj map[string]any) []byte {
	text, err := codec.JSONToYAML(object.JSON(obj))
	is.New(s.t).NoErr(err)
	return text
}

// listOf returns a list of objects of one kind, whose items have no kind, as servers and kubectl cluster-info dump print it.
func listOf(objects []object.Object) map[string]any {
	items := make([]any, len(objects))
	for i, obj := range objects {
		item := obj.Copy()
		delete(item, "kind")
		delete(item, "apiVersion")
		items[i] = map[string]any(item)
	}
	return map[string]any{"kind": objects[0].Kind() + "List", "apiVersion": objects[0].APIVersion(), "metadata": map[string]any{"resourceVersion": ""}, "items": items}
}

// grouped returns the objects by a key.
func grouped(objects []object.Object, key func(object.Object) string) map[string][]object.Object {
	all := map[string][]object.Object{}
	for _, obj := range objects {
		all[key(obj)] = append(all[key(obj)], obj)
	}
	return all
}

// pathOfKind returns a path for the objects of a kind in a namespace.
func pathOfKind(obj object.Object) string {
	group, _, found := strings.Cut(obj.APIVersion(), "/")
	if !found {
		group = "core"
	}
	return group + "/" + strings.ToLower(obj.Kind()) + "s"
}

// formats write the objects of a cluster as tools do.
var formats = map[string]func(s *source, objects []object.Object){
	"kubectl get -o json": func(s *source, objects []object.Object) {
		items := make([]any, len(objects))
		for i, obj := range objects {
			items[i] = map[string]any(obj)
		}
		s.add("all.json", object.JSON(map[string]any{"kind": "List", "apiVersion": "v1", "items": items}))
	},
	"kubectl get -o yaml, a stream": func(s *source, objects []object.Object) {
		var all bytes.Buffer
		for _, obj := range objects {
			fmt.Fprintf(&all, "---\n%s", s.yaml(obj))
		}
		s.add("all.yaml", all.Bytes())
	},
	"kubectl cluster-info dump": func(s *source, objects []object.Object) {
		var all bytes.Buffer
		lists := grouped(objects, func(obj object.Object) string { return obj.Namespace() + "/" + pathOfKind(obj) })
		for _, key := range object.SortedKeys(lists) {
			is.New(s.t).NoErr(json.Indent(&all, object.JSON(listOf(lists[key])), "", "    "))
			all.WriteString("\n==== START logs for container c of pod a/b ====\n{\n==== END logs for container c of pod a/b ====\n")
		}
		s.add("dump.json", all.Bytes())
	},
	"kubectl cluster-info dump --output-directory": func(s *source, objects []object.Object) {
		lists := grouped(objects, func(obj object.Object) string { return obj.Namespace() + "/" + obj.Kind() + obj.APIVersion() })
		for _, key := range object.SortedKeys(lists) {
			one := lists[key][0]
			s.add(strings.TrimPrefix(one.Namespace()+"/"+strings.ReplaceAll(pathOfKind(one), "/", "-")+".json", "/"), object.JSON(listOf(lists[key])))
		}
		s.add("shop/web-1/logs.txt", []byte("{"))
	},
	"must-gather": func(s *source, objects []object.Object) {
		lists := grouped(objects, func(obj object.Object) string { return obj.Namespace() + "/" + pathOfKind(obj) })
		for _, key := range object.SortedKeys(lists) {
			if namespace := lists[key][0].Namespace(); namespace != "" {
				s.add("quay-io-1/namespaces/"+namespace+"/"+pathOfKind(lists[key][0])+".yaml", s.yaml(listOf(lists[key])))
				continue
			}
			for _, obj := range lists[key] {
				s.add("quay-io-1/cluster-scoped-resources/"+pathOfKind(obj)+"/"+obj.Name()+".yaml", append([]byte("---\n"), s.yaml(obj)...))
			}
		}
		s.add("quay-io-1/namespaces/shop/pods/web-1/web/logs/current.log", []byte("{"))
	},
	"Velero": func(s *source, objects []object.Object) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		packed := &source{t: s.t, tar: tar.NewWriter(z)}
		packed.add("metadata/version", []byte("1.1.0"))
		for _, obj := range objects {
			group, version, found := strings.Cut(obj.APIVersion(), "/")
			resource := strings.ToLower(obj.Kind()) + "s." + group
			if !found {
				resource, version = strings.ToLower(obj.Kind())+"s", group
			}
			scope := "cluster/"
			if obj.Namespace() != "" {
				scope = "namespaces/" + obj.Namespace() + "/"
			}
			for _, in := range []string{"", version + "-preferredversion/"} { // a backup contains both
				packed.add("resources/"+resource+"/"+in+scope+obj.Name()+".json", object.JSON(map[string]any(obj)))
			}
		}
		is.New(s.t).NoErr(packed.tar.Close())
		is.New(s.t).NoErr(z.Close())
		s.path = filepath.Join(s.path, "backup.tar.gz")
		is.New(s.t).NoErr(os.WriteFile(s.path, b.Bytes(), 0o600))
	},
	"k8shark": func(s *source, objects []object.Object) {
		var b bytes.Buffer
		packed := &source{t: s.t, zip: zip.NewWriter(&b)}
		e, err := zstd.NewWriter(nil)
		is.New(s.t).NoErr(err)
		lists := grouped(objects, func(obj object.Object) string { return obj.APIVersion() + pathOfKind(obj) })
		for i, key := range object.SortedKeys(lists) {
			record := fmt.Sprintf(`{"captured_at":"2026-11-29T00:34:00Z","api_path":"/apis/%s","response_code":200,"response_body":%s}`, key, object.JSON(listOf(lists[key])))
			packed.add(fmt.Sprintf("k8shark-capture/records/%d/0.json.zst", i), e.EncodeAll([]byte(record), nil))
		}
		is.New(s.t).NoErr(packed.zip.Close())
		s.path = filepath.Join(s.path, "capture.kshrk")
		is.New(s.t).NoErr(os.WriteFile(s.path, b.Bytes(), 0o600))
	},
	kwok: func(s *source, objects []object.Object) {
		var all bytes.Buffer
		for _, obj := range objects {
			fmt.Fprintf(&all, "---\n%s", s.yaml(without(obj)))
		}
		s.add("snapshot.yaml", all.Bytes())
	},
}

// kwok is the format without resourceVersions and managed fields.
const kwok = "kwokctl snapshot export"

func without(obj object.Object) object.Object {
	c := obj.Copy()
	c.Remove("metadata", "resourceVersion")
	c.Remove("metadata", "managedFields")
	return c
}

// TestImportFormats writes a large cluster in the formats of other tools, with -short in three of them, and checks that the imported
// objects are the same, to the byte.
func TestImportFormats(t *testing.T) {
	t.Parallel()
	objects := largeCluster(t)
	want := map[string]string{}
	for _, obj := range objects {
		want[nameOf(obj)] = string(object.JSON(map[string]any(obj)))
	}
	for i, name := range slices.Sorted(maps.Keys(formats)) {
		if testing.Short() && i%9 != 0 {
			continue
		}
		is := is.New(t)
		s := &source{t: t, path: t.TempDir()}
		formats[name](s, objects)
		_, srv, c := watched(t, fake.Options{NoControllers: true})
		done, err := srv.Import(s.path)
		is.NoErr(err)
		for _, p := range done.Refused {
			t.Errorf("%s: %s: %s", name, p.Place, p.Reason)
		}
		is.Equal(done.Objects, len(want))
		if name != kwok {
			sameObjects(t, name, srv, want)
			continue
		}
		_, got := dumpOf(c, srv)
		for _, obj := range objects {
			now, err := object.Parse([]byte(got[nameOf(obj)]))
			is.NoErr(err)
			if was, is := object.JSON(without(obj)), object.JSON(without(now)); !bytes.Equal(was, is) {
				t.Errorf("%s: %s\n%s\nimported as\n%s", name, nameOf(obj), was, is)
			}
		}
	}
}
