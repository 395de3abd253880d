package fake

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/kustomize"
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// loadManager is the field manager of Load's writes.
const loadManager = "kubesim-load"

// Load sends the objects in YAML or JSON files to the server, one after the other, as an administrator. Objects that do not exist are
// created, existing ones are updated by apply. A file may hold several documents, and lists. Objects without a namespace go to default.
// A definition is served before the next object is sent. For a folder with a kustomization.yaml, Load sends the output of "kubectl
// kustomize" (package fake/kustomize describes what it does not support); for any other folder all files that end in .yaml, .yml or
// .json, as "kubectl apply -f" does. Namespaces and definitions come first. In a test that began with RunT an error ends the test.
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

// loadPath loads a file or a folder.
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

// folder returns the objects of a kustomization, or of the files of a folder in the order of their names.
func folder(path string) (list []object.Object, err error) {
	if kustomize.File(path) != "" {
		return kustomize.Build(path)
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

// precedence returns the rank of an object in the order of loading.
func precedence(obj object.Object) int {
	switch obj.Kind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

// LoadData is Load for the contents of a file. An error does not fail a test.
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

// load creates one object, or updates the existing one by apply.
func (l *loader) load(obj object.Object) error {
	name := obj.Kind() + " " + obj.Name()
	path, err := l.collection(obj)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	body := object.JSON(map[string]any(obj))
	code, answer := http.StatusConflict, object.Object(nil)
	if !l.stored(obj, path) { // a create of an existing object may be refused by admission
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

// stored reports whether an object exists, whose collection is at path.
func (l *loader) stored(obj object.Object, path string) (found bool) {
	resource, namespace := path[strings.LastIndexByte(path, '/')+1:], ""
	if group := schema.ParseGVK(obj.APIVersion(), obj.Kind()).Group; group != "" {
		resource += "." + group
	}
	if _, rest, ok := strings.Cut(path, "/namespaces/"); ok {
		namespace, _, _ = strings.Cut(rest, "/")
	}
	_ = l.observer.Inspect(func(view View) error { // it returns none
		found = obj.Name() != "" && view.Knows(resource) && view.Get(resource, namespace, obj.Name()) != nil
		return nil
	})
	return found
}

// collection returns the path, according to discovery, at which an object of obj's kind is created.
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

// send sends a request as an administrator and returns the answer's object.
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
