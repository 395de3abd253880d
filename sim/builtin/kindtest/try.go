package kindtest

import (
	"encoding/json"
	"strings"

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
