package fake

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/kustomize"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// loadManager is the field manager of Load's writes.
const loadManager = "kubesim-load"

// Load sends the objects in YAML or JSON files to the server, one after the other, as an administrator. It creates
// objects that do not exist, and updates existing ones by server-side apply. A file may contain several documents, and
// lists. Objects without a namespace are put into default. A CustomResourceDefinition is served before the next object
// is sent. For a directory with a kustomization.yaml, Load sends the output of "kubectl kustomize" (package
// sim/kubectl/kustomize describes what it does not support). For any other directory, it sends all files that end in .yaml,
// .yml or .json, like "kubectl apply -f". Namespaces and definitions come first. In a test that began with RunT, an
// error ends the test.
func (s *Server) Load(files ...string) error {
	for _, name := range files {
		err := s.loader().loadPath(name)
		if err != nil {
			err = fmt.Errorf("kubesim: %s: %w", name, err)
			if s.test != nil {
				s.test.Fatalf("%v", err)
			}
			return err
		}
	}
	return nil
}

// LoadModule is like Load, for files of a Go module that the module of the test requires, at the version that it
// requires. The go command finds the module. A module that the go command does not find is an error.
//
//	srv.LoadModule("sigs.k8s.io/jobset", "config/components/crd/bases")
func (s *Server) LoadModule(module string, files ...string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		err = fmt.Errorf("kubesim: go list -m %s: %w", module, err)
		if s.test != nil {
			s.test.Fatalf("%v", err)
		}
		return err
	}
	for i, dir := 0, strings.TrimSpace(string(out)); i < len(files); i++ {
		if err := s.Load(filepath.Join(dir, files[i])); err != nil {
			return err
		}
	}
	return nil
}

// loadPath loads the objects in a file, in a kustomization, or in all manifests of a directory. In a directory, kinds
// that others need, such as namespaces, are loaded first.
func (l *loader) loadPath(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return l.loadData(data)
	}
	list, err := folder(path)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b object.Object) int { return cmp.Compare(precedence(a), precedence(b)) })
	return l.loadAll(list)
}

// disk implements kustomize.Files with the machine's file system.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (disk) Names(folder string) (out []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	out = []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// folder returns the objects of a kustomization, or of the files in a directory, sorted by file name.
func folder(path string) (list []object.Object, err error) {
	if kustomize.File(disk{}, path) != "" {
		return kustomize.Build(disk{}, path, io.Discard)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		more, err := codec.Manifest(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		list = append(list, more...)
	}
	return list, nil
}

// precedence returns the position of an object's kind in the order of loading.
func precedence(obj object.Object) int {
	switch obj.Kind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

// LoadData is like Load, for the contents of a file. An error does not fail a test.
func (s *Server) LoadData(data []byte) error {
	return s.loader().loadData(data)
}

// loader writes objects to a server as an administrator.
type loader struct {
	cluster   *sim.Cluster
	observer  *oracle.Observer
	transport transport // sends requests as an administrator
}

func (s *Server) loader() *loader {
	l := &loader{s.cluster, s.observer, *s.transport}
	l.transport.client = func(*http.Request) *auth.Client {
		return &auth.Client{User: &auth.User{Name: "admin", Groups: []string{"system:masters"}}}
	}
	return l
}

// loadData loads the contents of a file.
func (l *loader) loadData(data []byte) error {
	list, err := codec.Manifest(data)
	if err != nil {
		return err
	}
	return l.loadAll(list)
}

func (l *loader) loadAll(list []object.Object) error {
	for _, obj := range list {
		if err := l.load(obj); err != nil {
			return err
		}
	}
	return nil
}

// load creates one object, or updates the existing object by server-side apply.
func (l *loader) load(obj object.Object) error {
	name := obj.Kind() + " " + obj.Name()
	path, err := l.collection(obj)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	body := object.JSON(map[string]any(obj))
	code, answer := http.StatusConflict, object.Object(nil)
	if !l.stored(obj, path) { // admission may reject the creation of an existing object
		code, answer, err = l.send(http.MethodPost, path+"?fieldManager="+loadManager, "application/json", body)
	}
	if err == nil && code == http.StatusConflict && obj.Name() != "" {
		path += "/" + url.PathEscape(obj.Name()) + "?force=true&fieldManager=" + loadManager
		code, answer, err = l.send(http.MethodPatch, path, "application/apply-patch+yaml", body)
	}
	if err == nil && code >= 300 {
		err = fmt.Errorf("%s", answer.String("message"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// stored reports whether an object exists. path is the path of its collection.
func (l *loader) stored(obj object.Object, path string) (found bool) {
	resource, namespace := path[strings.LastIndexByte(path, '/')+1:], ""
	if group := schema.ParseGVK(obj.APIVersion(), obj.Kind()).Group; group != "" {
		resource += "." + group
	}
	if _, rest, ok := strings.Cut(path, "/namespaces/"); ok {
		namespace, _, _ = strings.Cut(rest, "/")
	}
	_ = l.observer.Inspect(func(view View) error { // the function does not return an error
		found = obj.Name() != "" && view.Knows(resource) && view.Get(resource, namespace, obj.Name()) != nil
		return nil
	})
	return found
}

// collection looks up the path at which an object of obj's kind is created. It returns an error if the server has no
// such kind.
func (l *loader) collection(obj object.Object) (string, error) {
	kind := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	if kind.Version == "" || kind.Kind == "" {
		return "", fmt.Errorf("apiVersion and kind must be set")
	}
	path := "/apis/" + kind.GV()
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	code, list, err := l.send(http.MethodGet, path, "", nil)
	if err != nil {
		return "", err
	}
	for _, r := range list.Objects("resources") {
		if code != http.StatusOK || r.String("kind") != kind.Kind || strings.Contains(r.String("name"), "/") {
			continue
		}
		if namespaced, _ := r.Bool("namespaced"); namespaced {
			namespace := obj.Namespace()
			if namespace == "" {
				namespace = "default"
			}
			path += "/namespaces/" + url.PathEscape(namespace)
		}
		return path + "/" + r.String("name"), nil
	}
	return "", fmt.Errorf("no matches for kind %q in version %q", kind.Kind, kind.GV())
}

// send sends a request as an administrator and returns the object in the response.
func (l *loader) send(method, path, contentType string, body []byte) (int, object.Object, error) {
	q, err := http.NewRequest(method, inProcessURL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("User-Agent", loadManager)
	if contentType != "" {
		q.Header.Set("Content-Type", contentType)
	}
	a, err := l.transport.RoundTrip(q)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, nil, err
	}
	obj, err := object.Parse(data)
	if err != nil {
		return a.StatusCode, object.Object{"message": strings.TrimSpace(string(data))}, nil
	}
	return a.StatusCode, obj, nil
}
