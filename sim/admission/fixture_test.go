package admission

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	devices "github.com/kubesim/kubesim/sim/builtin/resource"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// stored contains objects by storage name, in the order of the store.
type stored map[string][]object.Object

func (s stored) Get(storage, namespace, name string) object.Object {
	for _, obj := range s[storage] {
		if obj.Name() == name && obj.Namespace() == namespace {
			return obj.Copy()
		}
	}
	return nil
}

func (s stored) Field(storage, namespace, name, label string) (string, bool) {
	obj := s.Get(storage, namespace, name)
	return obj.String(object.Path(label)...), obj != nil
}

func (s stored) All(storage, namespace string) (objects []object.Object) {
	for _, obj := range s[storage] {
		if namespace == "" || obj.Namespace() == namespace {
			objects = append(objects, obj.Copy())
		}
	}
	return objects
}

// bare is the definition of all stored objects.
var bare = func() *resource.Definition {
	d := &resource.Definition{Strategy: &resource.Strategy{}}
	d.Hub = d
	return d
}()

func (s stored) Item(storage, namespace, name string) *resource.Item {
	obj := s.Get(storage, namespace, name)
	if obj == nil {
		return nil
	}
	return resource.NewItem(bare, obj, 0, object.JSON(map[string]any(obj)))
}

func (s stored) Items(storage, namespace string, yield func(*resource.Item) bool) {
	for _, obj := range s.All(storage, namespace) {
		if !yield(s.Item(storage, obj.Namespace(), obj.Name())) {
			return
		}
	}
}

// parse parses a JSON object. It fails the test if text is invalid.
func parse(t *testing.T, text string) object.Object {
	t.Helper()
	if text == "" {
		return nil
	}
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return obj
}

// put adds objects, given as JSON, and returns s.
func (s stored) put(t *testing.T, storage string, texts ...string) stored {
	t.Helper()
	for _, text := range texts {
		s[storage] = append(s[storage], parse(t, text))
	}
	return s
}

// write returns the attributes of a write: a create if old is nil, and an update otherwise.
func write(storage string, obj, old object.Object, objects stored) *Attributes {
	name, group, _ := strings.Cut(storage, ".")
	d := &resource.Definition{GVK: schema.GVK{Group: group, Version: "v1"}, Resource: name, Storage: storage,
		Strategy: &resource.Strategy{Quota: quotaOf(storage)}}
	d.Hub = d
	a := &Attributes{Operation: Create, Object: obj, Old: old,
		Context: &resource.Context{Now: time.Unix(0, 0), Definition: d, Name: obj.Name(), Objects: objects}}
	if old != nil {
		a.Operation = Update
	}
	return a
}

// quotaOf returns the Quota of a built-in kind.
func quotaOf(storage string) resource.Quota {
	for _, k := range slices.Concat(core.Kinds(), devices.Kinds()) {
		if k.Storage == storage {
			return k.Strategy.Quota
		}
	}
	return resource.Quota{}
}

// message returns the message of a rejection, or "" if there is none.
func message(s *status.Status) string {
	if s == nil {
		return ""
	}
	return s.Message
}
