package kindtest

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Try is a kind under test, with other stored objects.
type Try struct {
	Kind     *kind.Kind
	Ctx      *resource.Context
	Stored   map[string][]object.Object // objects by storage name
	Warnings []string

	t       TB
	kinds   map[string]*kind.Kind
	version string
}

// New returns a Try for a resource in version v1 of its group.
func New(t TB, served func() map[string]*kind.Kind, storage string) *Try {
	t.Helper()
	kinds := served()
	k := kinds[storage]
	if k == nil {
		t.Fatalf("no kind %s", storage)
	}
	server, err := kind.Server(schema.Default, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r := &Try{t: t, Kind: k, kinds: kinds, Stored: map[string][]object.Object{}}
	draws := 0
	_, group, _ := strings.Cut(storage, ".")
	r.Ctx = &resource.Context{
		Now: Now, Server: server, Verb: "create",
		Definition: &resource.Definition{GVK: schema.GVK{Group: group, Version: "v1"}},
		User:       resource.User{Name: "admin", Groups: []string{"system:masters"}},
		Warn:       func(text string) { r.Warnings = append(r.Warnings, text) },
		Objects:    r,
		Random:     func(n int) int { draws++; return draws * 7 % n },
		UID:        func() string { return "11111111-2222-3333-4444-555555555555" },
	}
	return r
}

// Get returns a copy of a stored object, or nil.
func (r *Try) Get(storage, namespace, name string) object.Object {
	for _, o := range r.Stored[storage] {
		if o.Namespace() == namespace && o.Name() == name {
			return o.Copy()
		}
	}
	return nil
}

// Field returns the value that a field selector with the given label compares, and reports whether the object exists. For kinds
// that are not under test, the value is "".
func (r *Try) Field(storage, namespace, name, label string) (string, bool) {
	o := r.Get(storage, namespace, name)
	if o == nil {
		return "", false
	}
	if k := r.kinds[storage]; k != nil {
		return k.Strategy.Fields.Text(label, o), true
	}
	return "", true
}

// All returns copies of all stored objects.
func (r *Try) All(storage, _ string) (objects []object.Object) {
	for _, o := range r.Stored[storage] {
		objects = append(objects, o.Copy())
	}
	return objects
}

// Items calls yield with the stored objects of a resource as store items, until it returns false.
func (r *Try) Items(storage, _ string, yield func(*resource.Item) bool) {
	d := &resource.Definition{Storage: storage, Strategy: &resource.Strategy{}}
	d.Hub = d
	for _, o := range r.Stored[storage] {
		data, err := json.Marshal(o)
		if err != nil {
			r.t.Fatalf("%v", err)
		}
		if !yield(resource.NewItem(d, o, 1, data)) {
			return
		}
	}
}

// Item returns a stored object as a store item, or nil.
func (r *Try) Item(storage, namespace, name string) (found *resource.Item) {
	r.Items(storage, "", func(it *resource.Item) bool {
		if it.Namespace == namespace && it.Name == name {
			found = it
		}
		return found == nil
	})
	return found
}

// Parse parses an object and sets its defaults.
func (r *Try) Parse(text string) object.Object {
	r.t.Helper()
	obj := Parse(r.t, text)
	r.setDefaults(obj)
	return obj
}

func (r *Try) setDefaults(obj object.Object) {
	set := r.Kind.Defaults[r.version]
	if set == nil {
		set = r.Kind.Defaults[""]
	}
	if set != nil {
		set(obj)
	}
}

// Create performs those steps of a POST request that precede storage. It returns the object and the errors, one per line.
func (r *Try) Create(text string) (object.Object, string) {
	r.t.Helper()
	return r.create(r.Parse(text))
}

func (r *Try) create(obj object.Object) (object.Object, string) {
	s := r.Kind.Strategy
	if s.HasStatus && !s.MakesStatus {
		delete(obj, "status")
	}
	if s.PrepareForCreate != nil {
		s.PrepareForCreate(r.Ctx, obj)
	}
	if s.Allocate != nil {
		if problem := allocated(s.Allocate(r.Ctx, obj, nil)); problem != "" {
			return obj, problem
		}
	}
	var errs field.ErrorList
	if s.Validate != nil {
		errs = s.Validate(r.Ctx, obj)
	}
	if s.Warn != nil {
		s.Warn(r.Ctx, obj, nil)
	}
	r.setDefaults(obj)
	return obj, lines(errs)
}

// Update applies a merge patch to an object or a subresource of it. It returns the object and the errors, one per line.
func (r *Try) Update(old object.Object, patch, subresource string) (object.Object, string) {
	r.t.Helper()
	obj := old.Copy()
	Merge(obj, Parse(r.t, patch))
	r.setDefaults(obj)
	return r.update(obj, old, subresource)
}

func (r *Try) update(obj, old object.Object, subresource string) (object.Object, string) {
	s := r.Kind.Strategy
	r.Ctx.Subresource, r.Ctx.Verb = subresource, "update"
	defer func() { r.Ctx.Subresource, r.Ctx.Verb = "", "create" }()
	if s.HasStatus && subresource == "" {
		kind.KeepOld(obj, old, "status")
	} else if s.HasStatus && subresource == "status" {
		kind.KeepOld(obj, old, "spec")
	}
	if s.PrepareForUpdate != nil {
		s.PrepareForUpdate(r.Ctx, obj, old)
	}
	if s.SpecChanged != nil && subresource == "" && s.SpecChanged(obj, old) {
		obj.Set(old.Generation()+1, "metadata", "generation")
	}
	if s.Allocate != nil && subresource == "" {
		if problem := allocated(s.Allocate(r.Ctx, obj, old)); problem != "" {
			return obj, problem
		}
	}
	var errs field.ErrorList
	if s.ValidateFirst != nil && subresource == "" {
		errs = s.ValidateFirst(r.Ctx, obj, old)
	}
	if s.ValidateUpdate != nil {
		errs = append(errs, s.ValidateUpdate(r.Ctx, obj, old)...)
	}
	if s.Warn != nil {
		s.Warn(r.Ctx, obj, old)
	}
	return obj, lines(errs)
}

// allocated returns the error message of a failed allocation, or "" if there is none.
func allocated(errs field.ErrorList, failure *status.Status) string {
	if failure != nil {
		return failure.Message
	}
	return lines(errs)
}

func lines(errs field.ErrorList) string {
	var texts []string
	for _, e := range errs {
		texts = append(texts, e.Error())
	}
	return strings.Join(texts, "\n")
}

// Store is a small store for Connectors, with objects by storage name and name. It records deletions with their options.
type Store struct {
	resource.Reader // nil, because its methods are not called

	Objects map[string]object.Object
	Deleted map[string]string

	Tokens   *token.Authority // by default, an Authority without options
	Warnings []string

	t   TB
	Rev int
}

// NewStore returns a store that contains the given objects, which are keyed by "storage/name".
func NewStore(t TB, objects map[string]string) *Store {
	t.Helper()
	c := &Store{t: t, Objects: map[string]object.Object{}, Deleted: map[string]string{}, Rev: 100}
	for key, text := range objects { // order does not matter
		c.Objects[key] = Parse(t, text)
	}
	return c
}

// Get returns a copy of a stored object, or nil.
func (c *Store) Get(storage, _, name string) object.Object {
	return c.Objects[storage+"/"+name].Copy()
}

// All returns copies of the stored objects of a resource.
func (c *Store) All(storage, _ string) (objects []object.Object) {
	for _, key := range object.SortedKeys(c.Objects) {
		if obj := c.Objects[key]; key == storage+"/"+obj.Name() {
			objects = append(objects, obj.Copy())
		}
	}
	return objects
}

// Update applies change to a stored object and increments its resourceVersion. If change returns an error, the object stays as it
// was.
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

// Write is Update without a subresource.
func (c *Store) Write(storage, ns, name string, change func(object.Object) *status.Status) *status.Status {
	_, s := c.Update(storage, ns, name, "", change)
	return s
}

// Delete records the options of a deletion in Deleted, by storage and name. The object remains.
func (c *Store) Delete(storage, _, name string, options object.Object) *status.Status {
	c.Deleted[storage+"/"+name] = string(object.JSON(map[string]any(options)))
	return nil
}

// Connect calls a connector with a create request for the named object. The request has the given body.
func (c *Store) Connect(to resource.Connector, name, body string) (object.Object, *status.Status) {
	c.t.Helper()
	uids := 0
	if c.Tokens == nil {
		c.Tokens, _ = token.New(token.Options{}) // empty options are valid
	}
	ctx := &resource.Context{Now: Now, Namespace: "ns", Name: name, Tokens: c.Tokens,
		Warn:       func(text string) { c.Warnings = append(c.Warnings, text) },
		Definition: &resource.Definition{GVK: schema.GVK{Version: "v1", Kind: "Pod"}, Resource: "pods", Storage: "pods"},
		UID:        func() string { uids++; return "uid-" + strconv.Itoa(uids) }}
	return to(&resource.Connection{Context: ctx, Verb: "create", Body: Parse(c.t, body), Objects: c,
		Manage: func(live, obj object.Object) {}, Admit: func() *status.Status { return nil }})
}
