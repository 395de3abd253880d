package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/kubesim/kubesim/sim/trouble"
)

// Generate draws the ops of a run.
func Generate(c Config) []scenario.Op {
	g := &generator{c: c, r: rand.New(rand.NewPCG(c.Seed, 0x6f7073))}
	g.work, g.trouble = weightedNames(work, c.Work), weightedNames(troubles, c.Trouble)
	out := make([]scenario.Op, 0, c.Ops)
	for _, f := range c.Extra {
		out = append(out, scenario.Op{Name: "fault", Text: f})
	}
	for len(out) < c.Ops {
		if g.r.IntN(c.Calm) == 0 {
			out = append(out, g.happen()...)
		} else {
			out = append(out, g.ask(len(out)+1))
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

// weightedNames returns each name as many times as its weight.
func weightedNames(weights map[string]int, names []string) []string {
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

// request is an op that sends a request. The request may fail, and the op does not wait for the response.
type request struct{ scenario.Op }

func newRequest(verb, client string, args ...string) *request {
	return &request{scenario.Op{Name: verb, May: true, Async: true, Args: args, Flags: []scenario.FlagValue{{Name: "as", Value: client}}}}
}

func (o *request) flag(name, value string) {
	o.Flags = append(o.Flags, scenario.FlagValue{Name: name, Value: value})
}

// about returns a request for all objects in a scope.
func about(verb, client string, s checker.Scope) *request {
	o := newRequest(verb, client, s.Resource)
	switch {
	case s.Namespace != "":
		o.flag("namespace", s.Namespace)
	case !resources[s.Resource].cluster:
		o.flag("all-namespaces", "")
	}
	if s.Selector != "" {
		o.flag("selector", s.Selector)
	}
	if s.Name != "" {
		o.flag("field-selector", "metadata.name="+s.Name)
	}
	return o
}

// ask draws the n-th op: a read, a watch or a write of a random client, or the end of its watches.
func (g *generator) ask(n int) scenario.Op {
	client, verb := fmt.Sprint("c", 1+g.r.IntN(g.c.Clients)), pick(g.r, g.work)
	resource := pick(g.r, names)
	switch verb {
	case "stop":
		return scenario.Op{Name: verb, Flags: []scenario.FlagValue{{Name: "as", Value: client}}}
	case "page":
		return newRequest(verb, client).Op
	case "list", "watch", "deletecollection":
		o := about(verb, client, g.scope(verb, resource))
		switch verb {
		case "list":
			g.list(o)
		case "watch":
			g.watch(o)
		}
		return o.Op
	case "get":
		o := newRequest(verb, client, resource, "")
		o.Args[1], _ = g.object(o, resource)
		if rv := g.version(); rv != "" {
			o.flag("rv", rv)
		}
		return o.Op
	}
	return g.write(verb, client, resource, n)
}

// object draws the object of a request.
func (g *generator) object(o *request, resource string) (name, namespace string) {
	name = fmt.Sprint("o", g.r.IntN(g.c.Names))
	if !resources[resource].cluster {
		namespace = pick(g.r, namespaces)
		o.flag("namespace", namespace)
	}
	return name, namespace
}

// write draws a write of one object.
func (g *generator) write(verb, client, resource string, n int) scenario.Op {
	o := newRequest(verb, client, resource, "")
	name, namespace := g.object(o, resource)
	o.Args[1] = name
	label := fmt.Sprint("l", g.r.IntN(3))
	based := verb != "create" && verb != "apply" && g.one(2)
	switch verb {
	case "patch":
		kind, finalizer := pick(g.r, []string{"merge", "json"}), ""
		if g.one(3) {
			finalizer = pick(g.r, []string{"on", "off", "off"})
		}
		o.patch(kind, finalizer, label, n)
	case "delete":
		if based {
			o.flag("precondition-rv", "seen")
		}
		return o.Op
	case "apply":
		o.apply(resource, namespace, label, n, g.one(2))
	default:
		o.put(verb, resource, namespace, label, n)
	}
	if based {
		o.flag("rv", "seen")
	}
	return o.Op
}

// put sets the fields of a create or an update.
func (o *request) put(verb, resource, namespace, label string, n int) {
	if verb == "update" {
		o.Name = "replace"
	}
	if label != "l2" { // the third label means no label
		o.flag("set", "metadata.labels.app="+label)
	}
	o.object(resources[resource], namespace, n)
}

func (o *request) apply(resource, namespace, label string, n int, force bool) {
	o.put("apply", resource, namespace, label, n%3)
	o.flag("field-manager", "soak")
	if force {
		o.flag("force", "")
	}
}

// patch sets the body and the type of a patch. A JSON patch replaces the annotations. A merge patch changes a label and an
// annotation, and adds (on) or removes (off) a finalizer. A patch with a finalizer is always a merge patch.
func (o *request) patch(kind, finalizer, label string, n int) {
	if kind == "json" && finalizer == "" {
		o.flag("type", "json")
		o.flag("patch", fmt.Sprintf(`[{"op":"add","path":"/metadata/annotations","value":{"j":"%d"}}]`, n))
		return
	}
	value := fmt.Sprintf("%q", label)
	if label == "l2" {
		value = "null"
	}
	guard := map[string]string{"on": `,"finalizers":["example.com/soak"]`, "off": `,"finalizers":null`}[finalizer]
	o.flag("type", "merge")
	o.flag("patch", fmt.Sprintf(`{"metadata":{"labels":{"app":%s},"annotations":{"m":"%d"}%s}}`, value, n%5, guard))
}

// scope draws the scope of a list, a watch or a deletecollection.
func (g *generator) scope(verb, resource string) checker.Scope {
	s := checker.Scope{Resource: resource}
	if !resources[resource].cluster && (verb == "deletecollection" || g.one(2)) {
		s.Namespace = pick(g.r, namespaces)
	}
	switch g.r.IntN(5) {
	case 0, 1:
		s.Selector = pick(g.r, []string{"app=l0", "app!=l0", "app", "!app", "app in (l0,l1)"})
	case 2:
		if verb != "deletecollection" && g.one(2) {
			s.Name = fmt.Sprint("o", g.r.IntN(g.c.Names))
		}
	}
	return s
}

// version draws a resourceVersion: none, 0, or an offset of up to 100 from the newest revision.
func (g *generator) version() string {
	switch g.r.IntN(4) {
	case 0, 1:
		return ""
	case 2:
		return "0"
	}
	return g.offset()
}

func (g *generator) offset() string {
	span := pick(g.r, []int{1, 3, 10, 100})
	if g.one(4) {
		return fmt.Sprintf("+%d", g.r.IntN(span+1))
	}
	return fmt.Sprintf("-%d", g.r.IntN(span+1))
}

func (g *generator) list(o *request) {
	rv := g.version()
	if g.one(2) {
		o.flag("limit", fmt.Sprint(1+g.r.IntN(3)))
	}
	if rv == "" {
		return
	}
	o.flag("rv", rv)
	switch {
	case rv == "0" && g.one(2):
		o.flag("rv-match", "NotOlderThan")
	case rv != "0" && g.one(3):
		o.flag("rv-match", pick(g.r, []string{"NotOlderThan", "Exact"}))
	}
}

// watchesMax is the maximum number of open watches per client.
const watchesMax = "4"

func (g *generator) watch(o *request) {
	if !g.one(4) {
		o.flag("bookmarks", "")
	}
	switch g.r.IntN(6) {
	case 0, 1:
		o.flag("rv", "seen") // the last revision of the client's last watch with this scope
	case 2:
		o.flag("rv", "0")
	case 3:
		o.flag("rv", g.offset())
	}
	switch g.r.IntN(5) {
	case 0:
		o.flag("send-initial-events", "false")
	case 1: // the parameters of clients that do not use watch-list
	default:
		o.flag("send-initial-events", "true")
	}
	o.flag("at-most", watchesMax)
}

// happen draws a disturbance of the cluster.
func (g *generator) happen() []scenario.Op {
	verb := pick(g.r, g.trouble)
	replica := fmt.Sprint(1 + g.r.IntN(g.c.Replicas))
	client := fmt.Sprint("c", 1+g.r.IntN(g.c.Clients))
	o := scenario.Op{Name: verb}
	if k := trouble.Find(verb); k != nil {
		o.Args = []string{replica}
		if k.Duration != "" {
			o.Args = append(o.Args, "45s")
		}
		if k.Resources && g.one(2) {
			o.Args = append(o.Args, pick(g.r, names))
		}
		return []scenario.Op{o}
	}
	switch verb {
	case "advance":
		o.Name = "pause"
		o.Args = []string{pick(g.r, []string{"1ms", "100ms", "1s", "1s", "3s", "5s", "20s", "1m15s", "6m", "1h1m"})}
	case "hold", "release":
		o.Args = []string{client}
	case "route":
		o.Args = []string{client, replica}
	case "fault":
		return g.faults()
	case "clear":
		o = scenario.Op{Name: "fault", Text: "clear"}
	}
	return []scenario.Op{o}
}

// faults draws a plan of Legal faults.
func (g *generator) faults() []scenario.Op {
	var out []scenario.Op
	for _, f := range fault.Random(g.r.Uint64(), 1+g.r.IntN(g.c.Faults), names...) {
		if f.Action().Replica <= g.c.Replicas {
			out = append(out, scenario.Op{Name: "fault", Text: strings.TrimSpace(f.String())})
		}
	}
	return out
}

// kind is a resource that runs use.
type kind struct {
	cluster bool     // its objects have no namespace
	fields  []string // in addition to metadata; %d is the number of the op, $NS the namespace
}

// resources are the resources that runs use: ConfigMaps and Leases because they are common, Events because they have no
// watch cache, ClusterRoles because they have no namespace, and Widgets because a CustomResourceDefinition defines
// them.
var resources = map[string]kind{
	"configmaps":                 {fields: []string{`data={"n":"%d"}`}},
	"leases.coordination.k8s.io": {fields: []string{`spec={"holderIdentity":"%d"}`}},
	"events": {fields: []string{`involvedObject={"namespace":"$NS","name":"x"}`, "reason=r", `message="%d"`,
		"type=Normal"}},
	"clusterroles.rbac.authorization.k8s.io": {cluster: true, fields: []string{`rules=[{"verbs":["get"],"apiGroups":[""],"resources":["r%d"]}]`}},
	"widgets.example.com":                    {fields: []string{`spec={"n":%d}`}},
}

// names contains the names of the resources, sorted.
var names = object.SortedKeys(resources)

var namespaces = []string{"default", "kube-public"}

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,
"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}]}}
`

// object sets the fields of an object. n makes each write different.
func (o *request) object(k kind, namespace string, n int) {
	for _, f := range k.fields {
		if strings.Contains(f, "%d") {
			f = fmt.Sprintf(f, n)
		}
		o.flag("set", strings.ReplaceAll(f, "$NS", namespace))
	}
}
