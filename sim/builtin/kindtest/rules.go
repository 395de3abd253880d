package kindtest

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

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
