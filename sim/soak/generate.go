package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

// Generate draws the ops of a run.
func Generate(c Config) []Op {
	g := &generator{c: c, r: rand.New(rand.NewPCG(c.Seed, 0x6f7073))}
	g.work, g.trouble = tickets(work, c.Work), tickets(troubles, c.Trouble)
	out := make([]Op, 0, c.Ops)
	for _, f := range c.Extra {
		out = append(out, Op{Client: "*", Verb: "fault", Words: strings.Fields(f)})
	}
	for len(out) < c.Ops {
		if g.r.IntN(c.Calm) == 0 {
			out = append(out, g.happen()...)
		} else {
			out = append(out, g.ask())
		}
	}
	return out
}

// generator draws ops.
type generator struct {
	c       Config
	r       *rand.Rand
	work    []string
	trouble []string
}

// tickets returns each name as often as its weight says.
func tickets(weights map[string]int, names []string) []string {
	var out []string
	for _, name := range names {
		for range weights[name] {
			out = append(out, name)
		}
	}
	return out
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (g *generator) one(n int) bool { return g.r.IntN(n) == 0 }

// ask draws what a client asks for.
func (g *generator) ask() Op {
	o := Op{Client: fmt.Sprint("c", 1+g.r.IntN(g.c.Clients)), Verb: pick(g.r, g.work), Args: map[string]string{}}
	resource := pick(g.r, sorted(resources))
	switch o.Verb {
	case "page", "stop":
		return o
	case "list", "watch", "deletecollection":
		o.Words = []string{resource}
		g.scope(&o, resource)
	default:
		o.Words = []string{resource, g.key(resource)}
	}
	switch o.Verb {
	case "create", "apply":
		g.label(&o)
	case "update", "patch", "delete":
		g.label(&o)
		if g.one(2) {
			o.Args["based"] = ""
		}
	case "get":
		g.version(&o)
	case "list":
		g.version(&o)
		g.list(&o)
	case "watch":
		g.watch(&o)
	}
	if o.Verb == "patch" {
		o.Args["type"] = pick(g.r, []string{"merge", "json"})
		if g.one(3) {
			o.Args["finalizer"] = pick(g.r, []string{"on", "off", "off"})
		}
	}
	if o.Verb == "apply" && g.one(2) {
		o.Args["force"] = ""
	}
	if o.Verb == "delete" {
		delete(o.Args, "label")
	}
	return o
}

func (g *generator) key(resource string) string {
	name := fmt.Sprint("o", g.r.IntN(g.c.Names))
	if !resources[resource].namespaced {
		return name
	}
	return pick(g.r, namespaces) + "/" + name
}

func (g *generator) label(o *Op) { o.Args["label"] = fmt.Sprint("l", g.r.IntN(3)) }

// scope narrows what a list or a watch is about: to a namespace, a selector, one name.
func (g *generator) scope(o *Op, resource string) {
	if resources[resource].namespaced && (o.Verb == "deletecollection" || g.one(2)) {
		o.Words = append(o.Words, pick(g.r, namespaces))
	}
	switch g.r.IntN(5) {
	case 0, 1:
		o.Args["selector"] = pick(g.r, []string{"app=l0", "app!=l0", "app", "!app", "app in (l0,l1)"})
		o.Args["selector"] = strings.ReplaceAll(o.Args["selector"], " ", "+")
	case 2:
		if o.Verb != "deletecollection" && g.one(2) {
			o.Args["name"] = fmt.Sprint("o", g.r.IntN(g.c.Names))
		}
	}
}

// version draws a resourceVersion: none, 0, or one around the store's, up to 100 before and behind it.
func (g *generator) version(o *Op) {
	switch g.r.IntN(4) {
	case 0, 1:
	case 2:
		o.Args["rv"] = "0"
	default:
		o.Args["rv"] = g.offset()
	}
}

func (g *generator) offset() string {
	span := pick(g.r, []int{1, 3, 10, 100})
	if g.one(4) {
		return fmt.Sprintf("+%d", g.r.IntN(span+1))
	}
	return fmt.Sprintf("-%d", g.r.IntN(span+1))
}

func (g *generator) list(o *Op) {
	if g.one(2) {
		o.Args["limit"] = fmt.Sprint(1 + g.r.IntN(3))
	}
	switch rv := o.Args["rv"]; {
	case rv == "":
	case rv == "0" && g.one(2):
		o.Args["match"] = "NotOlderThan"
	case rv != "0" && g.one(3):
		o.Args["match"] = pick(g.r, []string{"NotOlderThan", "Exact"})
	}
}

func (g *generator) watch(o *Op) {
	if !g.one(4) {
		o.Args["bookmarks"] = ""
	}
	switch g.r.IntN(6) {
	case 0, 1:
		o.Args["rv"] = "last" // where the client's last watch of the same has come to
	case 2:
		o.Args["rv"] = "0"
	case 3:
		o.Args["rv"] = g.offset()
	}
	switch g.r.IntN(5) {
	case 0:
		o.Args["noinitial"] = ""
	case 1:
		o.Args["legacy"] = "" // the parameters of clients before watch-list
	}
}

// happen draws what happens to the cluster.
func (g *generator) happen() []Op {
	verb := pick(g.r, g.trouble)
	o := Op{Client: "*", Verb: verb}
	replica := fmt.Sprint(1 + g.r.IntN(g.c.Replicas))
	client := fmt.Sprint("c", 1+g.r.IntN(g.c.Clients))
	if k := trouble.Find(verb); k != nil {
		o.Words = []string{replica}
		if k.Duration != "" {
			o.Words = append(o.Words, "45s")
		}
		if k.Resources && g.one(2) {
			o.Words = append(o.Words, pick(g.r, sorted(resources)))
		}
		return []Op{o}
	}
	switch verb {
	case "advance":
		o.Words = []string{pick(g.r, []string{"1ms", "100ms", "1s", "1s", "3s", "5s", "20s", "1m15s", "6m", "1h1m"})}
	case "hold", "release":
		o.Words = []string{client}
	case "route":
		o.Words = []string{client, replica}
	case "fault":
		return g.faults()
	}
	return []Op{o}
}

// faults draws a plan of Legal faults.
func (g *generator) faults() []Op {
	var out []Op
	for _, f := range fault.Random(g.r.Uint64(), 1+g.r.IntN(g.c.Faults), sorted(resources)...) {
		if f.Action().Replica <= g.c.Replicas {
			out = append(out, Op{Client: "*", Verb: "fault", Words: strings.Fields(f.String())})
		}
	}
	return slices.Clip(out)
}
