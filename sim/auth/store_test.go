package auth

import (
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// store is a resource.Reader. It returns objects in the order in which they were added.
type store map[string][]*resource.Item

// plain is the definition of all objects in a store.
var plain = func() *resource.Definition {
	d := &resource.Definition{Strategy: &resource.Strategy{}}
	d.Hub = d
	return d
}()

func (s store) put(storage, text string) {
	o, err := object.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	s[storage] = append(s[storage], resource.NewItem(plain, o, 0, []byte(text)))
}

// fresh returns a store with the roles and bindings of a newly started server.
func fresh(t *testing.T) store {
	t.Helper()
	made, err := boot.Store(boot.Options{Minor: schema.Default, At: time.Unix(0, 0), Last: 4004, Aggregate: true})
	if err != nil {
		t.Fatal(err)
	}
	view, err := made.At(0)
	if err != nil {
		t.Fatal(err)
	}
	s := store{}
	for _, storage := range []string{rolesKey, clusterRolesKey, roleBindingsKey, clusterRoleBindingsKey} {
		view.Range("/registry/"+storage+"/", "", func(kv *mvcc.KV) bool {
			s.put(storage, string(kv.Value()))
			return true
		})
	}
	return s
}

func (s store) Get(storage, namespace, name string) object.Object {
	if it := s.Item(storage, namespace, name); it != nil {
		return it.Object()
	}
	return nil
}

func (s store) Field(storage, namespace, name, _ string) (string, bool) {
	return "", s.Item(storage, namespace, name) != nil
}

func (s store) All(storage, namespace string) (objects []object.Object) {
	s.Items(storage, namespace, func(it *resource.Item) bool { objects = append(objects, it.Object()); return true })
	return objects
}

func (s store) Item(storage, namespace, name string) *resource.Item {
	for _, it := range s[storage] {
		if it.Namespace == namespace && it.Name == name {
			return it
		}
	}
	return nil
}

func (s store) Items(storage, namespace string, yield func(*resource.Item) bool) {
	for _, it := range s[storage] {
		if (namespace == "" || it.Namespace == namespace) && !yield(it) {
			return
		}
	}
}
