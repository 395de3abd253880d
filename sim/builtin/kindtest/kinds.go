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
