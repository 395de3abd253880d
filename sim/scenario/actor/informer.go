package actor

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Source describes the list and watch of an actor.
type Source struct {
	Name      string // the name of the actor and of its client
	Resource  string
	Namespace string // all namespaces if empty
	Labels    string // a label selector
	Fields    string // a field selector
	PageSize  string
	ListWatch bool // begin with a list instead of a watch-list
}

// informer is an actor with one cache.
type informer struct{ *reflector }

// NewInformer returns an actor that lists, watches and keeps a cache.
func NewInformer(w World, s Source) Actor { return &informer{newReflector(w, s, s.Name, nil)} }

// IsAsleep implements Actor.
func (i *informer) IsAsleep() bool { return i.sleeps }

// Step implements Actor.
func (i *informer) Step() bool { return false }

// IsIdle implements Actor.
func (i *informer) IsIdle() bool { return true }

// Crash implements Actor.
func (i *informer) Crash() { i.stop() }

// State implements Actor.
func (i *informer) State() State {
	return State{Name: i.Name, Kind: "informer", Resource: i.Resource, State: i.doing, Synced: i.synced, RV: i.rv,
		Keys: object.SortedKeys(i.store)}
}

// Objects implements condition.Reader.
func (i *informer) Objects(resource, namespace, name string) ([]object.Object, error) {
	return readCache(i.w, i.Name, "", resource, namespace, name, i.reflector)
}

// readCache returns objects from the cache of a resource. If there is no such cache, it returns an error that ends with
// hint.
func readCache(w World, actor, hint, resource, namespace, name string, caches ...*reflector) ([]object.Object, error) {
	d, err := w.Definition(resource, "")
	if err != nil {
		return nil, err
	}
	if !d.Namespaced {
		namespace = ""
	}
	for _, r := range caches {
		if r.def != nil && r.def.Storage == d.Storage {
			return r.find(namespace, name), nil
		}
	}
	return nil, fmt.Errorf("%s has no cache of %s%s", actor, d.GroupResource(), hint)
}

// find returns objects of the cache, sorted by key.
func (r *reflector) find(namespace, name string) (out []object.Object) {
	if name != "" && (namespace != "" || !r.def.Namespaced) {
		if obj := r.store[Key(namespace, name)]; obj != nil {
			return []object.Object{obj}
		}
		return nil
	}
	for _, k := range object.SortedKeys(r.store) {
		obj := r.store[k]
		if (namespace == "" || strings.HasPrefix(k, namespace+"/")) && (name == "" || obj.Name() == name) {
			out = append(out, obj)
		}
	}
	return out
}
