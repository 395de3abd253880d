package builtin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// try is a kind under test with what is stored beside it.
type try struct {
	t        *testing.T
	kind     *kind
	ctx      *resource.Context
	stored   map[string][]object.Object // by storage
	warnings []string
}

// newTry makes a try for a resource; group is that of the version the client uses.
func newTry(t *testing.T, storage, group string) *try {
	t.Helper()
	k := servedKinds()[storage]
	if k == nil {
		t.Fatal("no kind " + storage)
	}
	r := &try{t: t, kind: k, stored: map[string][]object.Object{}}
	draws := 0
	r.ctx = &resource.Context{
		Now:        time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		Definition: &resource.Definition{GVK: schema.GVK{Group: group, Version: "v1"}},
		Warn:       func(text string) { r.warnings = append(r.warnings, text) },
		Objects:    r,
		Random:     func(n int) int { draws++; return draws * 7 % n },
		UID:        func() string { return "11111111-2222-3333-4444-555555555555" },
	}
	return r
}

func (r *try) Get(storage, namespace, name string) object.Object {
	for _, o := range r.stored[storage] {
		if o.Namespace() == namespace && o.Name() == name {
			return o.Copy()
		}
	}
	return nil
}

func (r *try) Field(storage, namespace, name, label string) (string, bool) {
	o := r.Get(storage, namespace, name)
	if o == nil {
		return "", false
	}
	if fields := kinds()[storage].strategy.Fields; fields != nil {
		return fields(o)[label], true
	}
	return "", true
}

func (r *try) Each(storage, _ string, yield func(object.Object) bool) {
	for _, o := range r.stored[storage] {
		if !yield(o.Copy()) {
			return
		}
	}
}

// Items yields the objects as the store has them.
func (r *try) Items(storage, _ string, yield func(*resource.Item) bool) {
	d := &resource.Definition{Storage: storage, Strategy: &resource.Strategy{}}
	d.Hub = d
	for _, o := range r.stored[storage] {
		data, err := json.Marshal(o)
		if err != nil {
			r.t.Fatal(err)
		}
		if !yield(resource.NewItem(d, o, 1, data)) {
			return
		}
	}
}

// Item returns one object as the store has it.
func (r *try) Item(storage, namespace, name string) (found *resource.Item) {
	r.Items(storage, "", func(it *resource.Item) bool {
		if it.Namespace == namespace && it.Name == name {
			found = it
		}
		return found == nil
	})
	return found
}

// asStored is a Reader's objects as they are stored, for those that nobody asks for them.
type asStored struct{}

func (asStored) Item(string, string, string) *resource.Item      { panic("not asked for") }
func (asStored) Items(string, string, func(*resource.Item) bool) { panic("not asked for") }

// parse reads an object, its quotes written ', and gives it the defaults.
func (r *try) parse(text string) object.Object {
	r.t.Helper()
	obj, err := object.Parse([]byte(strings.ReplaceAll(text, "'", `"`)))
	if err != nil {
		r.t.Fatal(text, err)
	}
	r.setDefaults(obj)
	return obj
}

func (r *try) setDefaults(obj object.Object) {
	if f := r.kind.defaults[""]; f != nil {
		f(obj)
	}
}

// create does what a POST does, up to storing, and returns the object and what is wrong with it.
func (r *try) create(text string) (object.Object, string) {
	r.t.Helper()
	obj, s := r.parse(text), r.kind.strategy
	if s.HasStatus {
		delete(obj, "status")
	}
	if s.PrepareForCreate != nil {
		s.PrepareForCreate(r.ctx, obj)
	}
	if s.Allocate != nil {
		if problem := allocated(s.Allocate(r.ctx, obj, nil)); problem != "" {
			return obj, problem
		}
	}
	var errs field.ErrorList
	if s.Validate != nil {
		errs = s.Validate(r.ctx, obj)
	}
	if s.Warn != nil {
		s.Warn(r.ctx, obj, nil)
	}
	r.setDefaults(obj)
	return obj, lines(errs)
}

// update does what a merge patch of the main resource or a subresource does to an object.
func (r *try) update(old object.Object, patch, subresource string) (object.Object, string) {
	r.t.Helper()
	change, err := object.Parse([]byte(strings.ReplaceAll(patch, "'", `"`)))
	if err != nil {
		r.t.Fatal(patch, err)
	}
	obj, s := old.Copy(), r.kind.strategy
	merge(obj, change)
	r.setDefaults(obj)
	r.ctx.Subresource = subresource
	defer func() { r.ctx.Subresource = "" }()
	if s.HasStatus && subresource == "" {
		keepOld(obj, old, "status")
	} else if s.HasStatus && subresource == "status" {
		keepOld(obj, old, "spec")
	}
	if s.PrepareForUpdate != nil {
		s.PrepareForUpdate(r.ctx, obj, old)
	}
	if s.Allocate != nil && subresource == "" {
		if problem := allocated(s.Allocate(r.ctx, obj, old)); problem != "" {
			return obj, problem
		}
	}
	var errs field.ErrorList
	if s.ValidateFirst != nil && subresource == "" {
		errs = s.ValidateFirst(r.ctx, obj, old)
	}
	if s.ValidateUpdate != nil {
		errs = append(errs, s.ValidateUpdate(r.ctx, obj, old)...)
	}
	if s.Warn != nil {
		s.Warn(r.ctx, obj, old)
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

// merge is JSON merge patch (RFC 7396).
func merge(obj, change map[string]any) {
	for name, v := range change { // order does not matter
		switch v := v.(type) {
		case nil:
			delete(obj, name)
		case map[string]any:
			inner, ok := obj[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				obj[name] = inner
			}
			merge(inner, v)
		default:
			obj[name] = v
		}
	}
}

func lines(errs field.ErrorList) string {
	var texts []string
	for _, e := range errs {
		texts = append(texts, e.Error())
	}
	return strings.Join(texts, "\n")
}

// part prints part of an object with single quotes.
func part(obj object.Object, path ...string) string {
	v, _ := obj.Get(path...)
	return strings.ReplaceAll(string(object.JSON(v)), `"`, "'")
}
