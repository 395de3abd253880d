// Package kindtest runs the rules of kinds as the registry does, for tests of the packages that define them.
//
//	Served(Kinds) ──▶ New(t, served, "pods") ──▶ Create, Update: one object after the other, with other stored objects
//	             └──▶ Rules{…}.Run(t, cases):    many small changes of one object; On makes Rules of another minor, or of gates
//	NewStore(t, objects).Connect(connector, …):  subresources that write other objects
package kindtest

import (
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// TB is the part of testing.TB that the package uses.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Now is the time of all requests.
var Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Served returns kinds as a 1.36 with the default feature gates serves them, by storage name. They are made once: making
// them takes longer than most cases.
func Served(kinds func() []kind.Kind) func() map[string]*kind.Kind {
	return On(schema.Default, nil, kinds).Kinds
}

// On returns Rules of kinds on a server of another minor or with gates of its own, to which Storage and Base are added.
func On(minor string, gates map[string]bool, kinds func() []kind.Kind) Rules {
	server, err := kind.Server(minor, gates)
	if err != nil {
		panic(err)
	}
	return Rules{server: &server, Kinds: sync.OnceValue(func() map[string]*kind.Kind {
		set, err := schema.Load(minor)
		if err != nil {
			panic(err)
		}
		all := kinds()
		kind.Define(set, server, all)
		byName := map[string]*kind.Kind{}
		for i := range all {
			byName[all[i].Storage] = &all[i]
		}
		return byName
	})}
}

// Parse reads an object. Quotes may be written ' where the text has no other ones.
func Parse(t TB, text string) object.Object {
	t.Helper()
	if !strings.Contains(text, `"`) {
		text = strings.ReplaceAll(text, "'", `"`)
	}
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return obj
}

// Part prints part of an object with single quotes.
func Part(obj object.Object, path ...string) string {
	v, _ := obj.Get(path...)
	return strings.ReplaceAll(string(object.JSON(v)), `"`, "'")
}

// Merge applies a JSON merge patch (RFC 7396), except that an empty object replaces the existing value.
func Merge(obj, patch map[string]any) {
	for name, v := range patch { // order does not matter
		from, ok := v.(map[string]any)
		to, both := obj[name].(map[string]any)
		switch {
		case v == nil:
			delete(obj, name)
		case ok && both && len(from) > 0:
			Merge(to, from)
		case ok && !both:
			to = map[string]any{}
			Merge(to, from)
			obj[name] = to
		default:
			obj[name] = v
		}
	}
}

// Rules runs cases on one kind.
type Rules struct {
	Kinds                  func() map[string]*kind.Kind // Served
	Storage, Version, Base string
	Stored                 map[string][]object.Object // beside it, by storage
	server                 *resource.Server           // set by On; the default is 1.36 with the default feature gates
}

// Case is a change of a base object, as a JSON merge patch, and what the kind says about the result: an error per line. With
// Old, another change of the base object is the stored one that is updated.
type Case struct {
	Name, Patch, Old, Want string
	Sub                    string // subresource of the update
}

func (rt Rules) try(t TB) *Try {
	t.Helper()
	r := New(t, rt.Kinds, rt.Storage)
	r.version = rt.Version
	if rt.server != nil {
		r.Ctx.Server = *rt.server
	}
	for storage, objects := range rt.Stored { // order does not matter
		r.Stored[storage] = objects
	}
	return r
}

// Make returns the base object with a change and its defaults.
func (rt Rules) Make(t TB, patch string) object.Object {
	t.Helper()
	obj := Parse(t, rt.Base)
	if patch != "" {
		Merge(obj, Parse(t, patch))
	}
	rt.try(t).setDefaults(obj)
	return obj
}

// Result runs what the registry runs and returns the object, the errors and the warnings, a line each.
func (rt Rules) Result(t TB, c Case) (obj object.Object, errs, warnings string) {
	t.Helper()
	r := rt.try(t)
	if obj = rt.Make(t, c.Patch); c.Old == "" {
		obj, errs = r.create(obj)
	} else {
		obj, errs = r.update(obj, rt.Make(t, c.Old), c.Sub)
	}
	return obj, errs, strings.Join(r.Warnings, "\n")
}

// Run runs cases whose Want is the errors, to the letter and in order.
func (rt Rules) Run(t TB, cases []Case) {
	t.Helper()
	for _, c := range cases {
		if _, errs, _ := rt.Result(t, c); errs != c.Want {
			t.Errorf("%s:\n got %s\nwant %s", c.Name, errs, c.Want)
		}
	}
}

// Warns runs cases whose Want is the warnings, to the letter and in order.
func (rt Rules) Warns(t TB, cases []Case) {
	t.Helper()
	for _, c := range cases {
		if _, _, warnings := rt.Result(t, c); warnings != c.Want {
			t.Errorf("%s: warnings\n got %s\nwant %s", c.Name, warnings, c.Want)
		}
	}
}

// Cells returns the row of the base object with a change, printed a minute after it was created.
func (rt Rules) Cells(t TB, patch string) string {
	t.Helper()
	k := rt.try(t).Kind
	obj := rt.Make(t, patch)
	obj.SetDefault("2026-01-02T03:03:05Z", "metadata", "creationTimestamp")
	row := k.Row(Now, obj)
	if len(row.Cells) != len(k.Columns) {
		t.Errorf("%d cells for %d columns", len(row.Cells), len(k.Columns))
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(object.JSON(row.Cells)))
}

// DoNotPanic runs every rule on the base object with something missing: what a client leaves out is its error.
func (rt Rules) DoNotPanic(t TB) {
	t.Helper()
	k := rt.try(t).Kind
	obj := Parse(t, rt.Base)
	visit(map[string]any(obj), func() {
		changed := string(object.JSON(obj))
		for _, sub := range []string{"", "status", "approval"} {
			rt := rt
			rt.Base = changed
			rt.Result(t, Case{Sub: sub})
			rt.Result(t, Case{Sub: sub, Old: `{"spec":{}}`, Patch: `{"metadata":{"labels":{"x":"y"}}}`})
		}
		k.Row(Now, Parse(t, changed))
		for _, version := range object.SortedKeys(k.Convert) {
			if c := k.Convert[version]; c.ToHub != nil && c.FromHub != nil {
				c.ToHub(Parse(t, changed))
				c.FromHub(Parse(t, changed))
			}
		}
	})
	k.Row(Now, rt.Make(t, ""))
}

// visit calls yield with every way to leave out or empty one value in v; v is changed while yield runs.
func visit(v any, yield func()) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			was := v[name]
			visit(was, yield)
			delete(v, name)
			yield()
			switch was.(type) {
			case map[string]any:
				v[name] = map[string]any{}
				yield()
			case []any:
				v[name] = []any{}
				yield()
			}
			v[name] = was
		}
	case []any:
		for i := range v {
			visit(v[i], yield)
		}
	}
}
