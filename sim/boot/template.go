package boot

import (
	"bytes"
	"embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Placeholders in the data for values that vary between clusters.
const (
	noUID   = "00000000-0000-0000-0000-000000000000"
	noRev   = `"resourceVersion":"0000"`
	noDate  = "0001-01-01"
	noClock = "T00:00:00"
)

// template contains the objects that servers create when they start. Their timestamps are filled in for each cluster.
type template struct {
	first   uint64 // revision before the first object
	size    int    // total size of all objects in bytes
	objects []templateObject
}

// templateObject is an object and the positions of timestamps in its bytes.
type templateObject struct {
	key   string
	item  *resource.Item
	times []int
}

// must returns v. It panics if there is an error, which only damaged embedded data could cause.
func must[T any](v T, err error) T {
	if err != nil {
		panic("boot: " + err.Error())
	}
	return v
}

// recorded returns the recorded lines of a minor version.
func recorded(minor string) []string {
	text, err := data.ReadFile("data/" + minor + ".jsonl")
	if err != nil {
		text = must(data.ReadFile("data/" + schema.Default + ".jsonl"))
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// Objects returns the objects of one kind that servers of a minor version create, without timestamps, uids and revisions. The
// result is keyed by name.
func Objects(minor, kind string) map[string]object.Object {
	found := map[string]object.Object{}
	for _, line := range recorded(minor) {
		if strings.HasPrefix(line, `{"kind":"`+kind+`",`) {
			obj := must(object.Parse([]byte(line)))
			found[obj.Name()] = obj
		}
	}
	return found
}

// Policy is a default role or binding.
type Policy struct {
	Storage string
	object.Object
}

// policies are the kinds of default roles and bindings, in the order in which a starting server processes them.
var policies = []struct{ kind, storage string }{{"ClusterRole", "clusterroles"}, {"ClusterRoleBinding", "clusterrolebindings"},
	{"Role", "roles"}, {"RoleBinding", "rolebindings"}}

// Policies returns the roles and bindings that servers of a minor version with the given gates create, without timestamps, uids,
// revisions and managedFields. All callers get the same objects, and must not change them.
func Policies(minor string, gates []string) []Policy {
	made.Lock()
	defer made.Unlock()
	return made.policies.get(fmt.Sprintf("%s %q", minor, gates), func() []Policy { return newPolicies(minor, gates) })
}

func newPolicies(minor string, gates []string) (all []Policy) {
	var lines []own
	for _, line := range recorded(minor) {
		if strings.Contains(line[:min(len(line), 80)], "rbac.authorization.k8s.io/v1") {
			lines = append(lines, own{obj: must(object.Parse([]byte(line)))})
		}
	}
	lines = Options{Minor: minor, Gates: gates}.gated(lines)
	for _, p := range policies {
		for _, line := range lines {
			if line.obj.Kind() != p.kind {
				continue
			}
			obj := line.obj
			for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
				obj.Remove("metadata", name)
			}
			all = append(all, Policy{p.storage + ".rbac.authorization.k8s.io", obj})
		}
	}
	return all
}

func newTemplate(o Options) *template {
	hubs := map[schema.GVK]*resource.Definition{}
	for _, d := range builtin.Definitions(must(schema.Load(o.Minor))) {
		if d.Hub == d {
			hubs[d.GVK] = d
		}
	}
	var all []own
	for _, line := range recorded(o.Minor) {
		all = append(all, o.adapt(read(hubs, line))...)
	}
	if o.Served != nil {
		all = o.services(all)
	}
	all = o.gated(all)
	if o.Aggregate {
		aggregate(all)
	}
	t := &template{first: o.Last - uint64(len(all))}
	for i, x := range all {
		t.add(x, t.first+uint64(i)+1)
	}
	return t
}

// own is an object that a server creates when it starts.
type own struct {
	d    *resource.Definition
	obj  object.Object // usually only kind and metadata; see read
	line []byte        // JSON of the object; nil if obj was changed and is complete
}

// read parses a line. If the object is adapted or has selectable fields, it parses the whole line. Otherwise it parses only the
// part before the managedFields, which saves most of the time.
func read(hubs map[schema.GVK]*resource.Definition, line string) own {
	head, _, _ := strings.Cut(line, `,"managedFields":`)
	obj := must(object.Parse([]byte(head + "}}")))
	d := hubs[schema.ParseGVK(obj.APIVersion(), obj.Kind())]
	if d.Strategy.Fields != nil || adapted[obj.Kind()] || strings.Contains(line, "aggregat") {
		obj = must(object.Parse([]byte(line)))
	}
	return own{d, obj, []byte(line)}
}

// add adds an object to the template.
func (t *template) add(x own, rev uint64) {
	key := x.d.Key(x.obj.Namespace(), x.obj.Name())
	if x.line == nil {
		x.line = codec.Append(nil, x.obj, x.d.Layout())
	}
	line := bytes.Replace(x.line, []byte(noRev), fmt.Appendf(nil, `"resourceVersion":"%d"`, rev), 1)
	line = bytes.Replace(line, []byte(noUID), uid(key), 1)
	line = bytes.ReplaceAll(line, []byte(noUID), uid(key+"/process"))
	made := templateObject{key: key, item: resource.NewItem(x.d, x.obj, rev, line)}
	for at := 0; ; at += len(noDate) {
		i := bytes.Index(line[at:], []byte(noDate))
		if i < 0 {
			break
		}
		at += i
		made.times = append(made.times, at)
	}
	t.size += len(line)
	t.objects = append(t.objects, made)
}

// uid returns the uid of the object with the given key (RFC 9562, version 4).
func uid(key string) []byte {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.NewPCG(h.Sum64(), 0)
	a, b := r.Uint64(), r.Uint64()
	return fmt.Appendf(nil, "%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0x3fff|0x8000, b&0xffffffffffff)
}

// store returns a store in which all objects were created at the given time.
func (t *template) store(at time.Time) *mvcc.Store {
	s := mvcc.New(t.first)
	text := []byte(at.UTC().Format("2006-01-02T15:04:05"))
	memory := make([]byte, 0, t.size)
	for _, x := range t.objects {
		from := len(memory)
		memory = append(memory, x.item.Bytes()...)
		line := memory[from:len(memory):len(memory)]
		for _, i := range x.times {
			n := len(noDate)
			if bytes.HasPrefix(line[i+n:], []byte(noClock)) {
				n = len(text)
			}
			copy(line[i:], text[:n])
		}
		item := x.item.Reprinted(line)
		s.Put(x.key, item.Text(), item)
	}
	return s
}

//go:embed data/*.jsonl
var data embed.FS
