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
	Stored   map[string][]object.Object // by storage
	Warnings []string

	t       TB
	kinds   map[string]*kind.Kind
	version string
}

// New makes a try for a resource, in the version v1 of its group.
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

// Get returns a copy of a stored object.
func (r *Try) Get(storage, namespace, name string) object.Object {
	for _, o := range r.Stored[storage] {
		if o.Namespace() == namespace && o.Name() == name {
			return o.Copy()
		}
	}
	return nil
}

// Field returns what a field selector compares, "" for kinds that are not under test.
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

// Items yields the objects as the store has them.
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

// Item returns one object as the store has it.
func (r *Try) Item(storage, namespace, name string) (found *resource.Item) {
	r.Items(storage, "", func(it *resource.Item) bool {
		if it.Namespace == namespace && it.Name == name {
			found = it
		}
		return found == nil
	})
	return found
}

// Parse reads an object and gives it the defaults.
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

// Create does the steps of a POST up to storing. It returns the object and its errors, one per line.
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

// Update does what a merge patch of the main resource or a subresource does to an object.
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

// allocated returns why nothing could be allocated, "" when all was.
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
