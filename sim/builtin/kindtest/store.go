package kindtest

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Store is a small store for Connectors: objects by storage name and name. It records deletions with their options.
type Store struct {
	resource.Reader // nil, because its methods are not called

	Objects map[string]object.Object
	Deleted map[string]string

	Tokens   *token.Authority // the default has no options
	Warnings []string

	t   TB
	Rev int
}

// NewStore returns a store with objects, by "storage/name".
func NewStore(t TB, objects map[string]string) *Store {
	t.Helper()
	c := &Store{t: t, Objects: map[string]object.Object{}, Deleted: map[string]string{}, Rev: 100}
	for key, text := range objects { // order does not matter
		c.Objects[key] = Parse(t, text)
	}
	return c
}

// Get returns a copy of an object.
func (c *Store) Get(storage, _, name string) object.Object {
	return c.Objects[storage+"/"+name].Copy()
}

// All returns copies of the objects.
func (c *Store) All(storage, _ string) (objects []object.Object) {
	for _, key := range object.SortedKeys(c.Objects) {
		if obj := c.Objects[key]; key == storage+"/"+obj.Name() {
			objects = append(objects, obj.Copy())
		}
	}
	return objects
}

// Update changes an object.
func (c *Store) Update(storage, _, name, _ string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	obj := c.Get(storage, "", name)
	if obj == nil {
		return nil, status.NotFound(status.Resource{Resource: storage}, name)
	}
	if s := change(obj); s != nil {
		return nil, s
	}
	c.Rev++
	obj.SetMeta("resourceVersion", strconv.Itoa(c.Rev))
	c.Objects[storage+"/"+name] = obj
	return obj.Copy(), nil
}

// Write changes an object.
func (c *Store) Write(storage, ns, name string, change func(object.Object) *status.Status) *status.Status {
	_, s := c.Update(storage, ns, name, "", change)
	return s
}

// Delete notes a deletion.
func (c *Store) Delete(storage, _, name string, options object.Object) *status.Status {
	c.Deleted[storage+"/"+name] = string(object.JSON(map[string]any(options)))
	return nil
}

// Connect calls a connector with a create of body for the object with the name.
func (c *Store) Connect(to resource.Connector, name, body string) (object.Object, *status.Status) {
	c.t.Helper()
	uids := 0
	if c.Tokens == nil {
		c.Tokens, _ = token.New(token.Options{}) // no options are good ones
	}
	ctx := &resource.Context{Now: Now, Namespace: "ns", Name: name, Tokens: c.Tokens,
		Warn:       func(text string) { c.Warnings = append(c.Warnings, text) },
		Definition: &resource.Definition{GVK: schema.GVK{Version: "v1", Kind: "Pod"}, Resource: "pods", Storage: "pods"},
		UID:        func() string { uids++; return "uid-" + strconv.Itoa(uids) }}
	return to(&resource.Connection{Context: ctx, Verb: "create", Body: Parse(c.t, body), Objects: c,
		Manage: func(live, obj object.Object) {}, Admit: func() *status.Status { return nil }})
}
