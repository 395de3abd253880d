// Package kindtest runs the rules of kinds in the same way as the registry, for tests of the packages that define them.
//
//	Served(Kinds) ──▶ New(t, served, "pods") ──▶ Create, Update: one object after the other, with other stored objects
//	             └──▶ Rules{…}.Run(t, cases):    many small changes of one object; On creates Rules for another minor or other gates
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

// TB is the subset of testing.TB that the package uses.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Now is the time at which all requests are sent.
var Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Served returns a function that returns the kinds of a 1.36 server with the default feature gates, by storage name. The kinds are
// created only once, because creating them takes longer than most test cases.
func Served(kinds func() []kind.Kind) func() map[string]*kind.Kind {
	return On(schema.Default, nil, kinds).Kinds
}

// On returns Rules for kinds on a server of another minor version, or with other feature gates. The caller must set Storage and
// Base.
func On(minor string, gates map[string]bool, kinds func() []kind.Kind) Rules {
	server, err := kind.Server(minor, gates)
	if err != nil {
		panic(err)
	}
	return Rules{server: &server, Kinds: sync.OnceValue(func() map[string]*kind.Kind {
		set, err := schema.LoadAll(minor)
		if err != nil {
			panic(err)
		}
		all := kinds()
		defined := map[string]bool{}
		for _, d := range kind.Define(set, server, all) {
			defined[d.Storage] = true
		}
		byName := map[string]*kind.Kind{}
		for i := range all {
			if len(all[i].Gates) == 0 || defined[all[i].Storage] { // the fields of a gate need the type of a defined kind
				byName[all[i].Storage] = &all[i]
			}
		}
		return byName
	})}
}

// Parse parses an object. If the JSON contains no double quotes, single quotes can be used in their place.
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

// Part returns the value at the path as JSON with single quotes in place of double quotes.
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

// Rules runs test cases for one kind.
type Rules struct {
	Kinds                  func() map[string]*kind.Kind // the kinds under test, usually from Served
	Storage, Version, Base string
	Stored                 map[string][]object.Object // other stored objects, by storage
	server                 *resource.Server           // set by On; the default is 1.36 with the default feature gates
}

// Case is a change of a base object, as a JSON merge patch, and the expected errors, one per line. If Old is set, it is
// another such change: it creates the stored object, which the case updates.
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

// Make returns the base object after applying a patch and the defaults.
func (rt Rules) Make(t TB, patch string) object.Object {
	t.Helper()
	obj := Parse(t, rt.Base)
	if patch != "" {
		Merge(obj, Parse(t, patch))
	}
	rt.try(t).setDefaults(obj)
	return obj
}

// Result performs the create or update of a case as the registry would. It returns the object, and the errors and the warnings, one
// per line.
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

// Run runs test cases in which Want contains the exact errors, in order.
func (rt Rules) Run(t TB, cases []Case) {
	t.Helper()
	for _, c := range cases {
		if _, errs, _ := rt.Result(t, c); errs != c.Want {
			t.Errorf("%s:\n got %s\nwant %s", c.Name, errs, c.Want)
		}
	}
}

// Warns runs test cases in which Want contains the exact warnings, in order.
func (rt Rules) Warns(t TB, cases []Case) {
	t.Helper()
	for _, c := range cases {
		if _, _, warnings := rt.Result(t, c); warnings != c.Want {
			t.Errorf("%s: warnings\n got %s\nwant %s", c.Name, warnings, c.Want)
		}
	}
}

// Cells returns the Table row of the base object after applying a patch. The row is printed a minute after the creation of the
// object.
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

// DoNotPanic runs every rule on variants of the base object that lack a value. A missing value may cause an error, but
// not a panic.
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

// visit removes each value in v, and empties each object and list, one at a time. It calls yield while v is modified.
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
