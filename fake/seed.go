package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Seed stores objects unchanged, like WithObjects and WithStatusSubresource of controller-runtime's fake client: with
// their status, uid, owners, finalizers, managed fields, times, generation and deletionTimestamp, and with fields that
// a server derives, such as the selector of a Job or the address of a Service. Each object is one commit. Missing
// fields get their defaults, and the values that a server sets in every new object. Objects are validated as on an
// update, so that any object that a server may have stored can be seeded. Unknown fields are an error. An existing
// object is merged with the seeded one. Admission plugins and webhooks are not called. Missing namespaces are created.
// Objects without a namespace are put into default.
//
// Objects are Go values that marshal to JSON, such as *corev1.Pod, *unstructured.Unstructured or map[string]any. If
// apiVersion and kind are empty, they are derived from the name of the Go type and its package (k8s.io/api/apps/v1). In
// a test that began with RunT, an error ends the test.
func (s *Server) Seed(objects ...any) error {
	l := s.loader()
	for _, v := range objects {
		obj, err := l.object(v)
		if err == nil {
			err = l.seed(obj)
		}
		if err != nil {
			err = fmt.Errorf("kubesim: seed: %s %s: %w", obj.Kind(), obj.Name(), err)
			if s.test != nil {
				s.test.Fatalf("%v", err)
			}
			return err
		}
	}
	return nil
}

func (l *loader) seed(obj object.Object) error {
	collection, err := l.collection(obj)
	if err != nil {
		return err
	}
	if _, rest, ok := strings.Cut(collection, "/namespaces/"); ok {
		namespace, _, _ := strings.Cut(rest, "/")
		obj.Set(namespace, "metadata", "namespace")
		body := object.JSON(map[string]any{"metadata": map[string]any{"name": namespace}})
		code, answer, err := l.send(http.MethodPost, "/api/v1/namespaces", "application/json", body)
		if err == nil && code != http.StatusCreated && code != http.StatusConflict {
			err = fmt.Errorf("namespace %s: %s", namespace, answer.String("message"))
		}
		if err != nil {
			return err
		}
	}
	as := obj.Copy()
	as.Remove("metadata", "resourceVersion") // the store assigns it
	return l.cluster.Seed(loadManager, as)
}

// object converts a Go value to an object. If the value has no apiVersion and kind, they are derived from its type; it
// is an error if no served kind fits.
func (l *loader) object(v any) (object.Object, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	obj, err := object.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", v, err)
	}
	if obj.Kind() != "" && obj.APIVersion() != "" {
		return obj, nil
	}
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	d, err := l.kindOf(t)
	if err != nil {
		return obj, err
	}
	obj["apiVersion"], obj["kind"] = d.GV(), d.Kind
	return obj, nil
}

// kindOf returns the kind of a Go type. If several kinds have the type's name, it prefers one whose version is the last
// element of the package path and whose group begins with the element before it. It returns an error if no API server
// serves such a kind.
func (l *loader) kindOf(t reflect.Type) (*resource.Definition, error) {
	version, group := path.Base(t.PkgPath()), path.Base(path.Dir(t.PkgPath()))
	if group == "core" {
		group = ""
	}
	var found *resource.Definition
	best := 0
	l.cluster.EachServed(func(d *resource.Definition) bool {
		if d.Kind != t.Name() {
			return true
		}
		first, _, _ := strings.Cut(d.Group, ".")
		points := 1
		if d.Version == version {
			points += 2
		}
		if first == group {
			points++
		}
		if points > best {
			found, best = d, points
		}
		return true
	})
	if found == nil {
		return nil, fmt.Errorf("no API server serves a kind %q: set its apiVersion and kind, or load its definition first", t.Name())
	}
	return found, nil
}

// Kind is a kind that the server serves.
type Kind struct {
	Group, Version, Kind string
	Resource, Singular   string // such as deployments, deployment
	Namespaced           bool
}

// Kinds returns the currently served kinds, including those of custom resources. It provides the data for a RESTMapper,
// without discovery.
func (s *Server) Kinds() (all []Kind) {
	s.cluster.EachServed(func(d *resource.Definition) bool {
		all = append(all, Kind{Group: d.Group, Version: d.Version, Kind: d.Kind, Resource: d.Resource, Singular: d.Singular, Namespaced: d.Namespaced})
		return true
	})
	return all
}
