package scenario

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// informer is an actor with one cache.
type informer struct{ *reflector }

func newInformer(w *World, op *Op) (actor, error) {
	return &informer{w.newReflector(op.Args[0], op.Args[1], op.Args[0], op)}, nil
}

// newReflector returns a reflector for the flags of an operation.
func (w *World) newReflector(name, res, lane string, op *Op) *reflector {
	return &reflector{name: name, client: w.client(name), resource: res, lane: lane, namespace: op.value("namespace"),
		labels: op.value("selector"), fields: op.value("field-selector"), pageSize: op.value("limit"),
		listWatch: op.has("list-watch"), random: w.stream("reflector " + lane), store: map[string]object.Object{}}
}

func (i *informer) called() string   { return i.name }
func (i *informer) asleep() bool     { return i.sleeps }
func (i *informer) step(*World) bool { return false }
func (i *informer) idle() bool       { return true }
func (i *informer) crash(w *World)   { i.stop(w) }

func (i *informer) state() ActorState {
	return ActorState{Name: i.name, Kind: "informer", Resource: i.resource, State: i.doing, Synced: i.synced, RV: i.rv,
		Keys: object.SortedKeys(i.store)}
}

func (i *informer) objects(d *resource.Definition, namespace, name string) ([]object.Object, error) {
	if i.def == nil || d.Storage != i.def.Storage {
		return nil, noCache(i.name, d)
	}
	return i.find(namespace, name), nil
}

// find returns objects of the cache in the order of their keys.
func (r *reflector) find(namespace, name string) (out []object.Object) {
	if name != "" && (namespace != "" || !r.def.Namespaced) {
		if obj := r.store[key(namespace, name)]; obj != nil {
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
