package boot

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"hash/fnv"
	"io"
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

// Placeholders in the data for values that differ between servers.
const (
	noUID   = "00000000-0000-0000-0000-000000000000"
	noRev   = `"resourceVersion":"0000"`
	noDate  = "0001-01-01"
	noClock = "T00:00:00"
)

// template is the objects of a start at no time.
type template struct {
	first  uint64 // revision before the first object
	size   int    // bytes of all objects
	things []thing
}

// thing is one object and where times stand in its bytes.
type thing struct {
	key   string
	item  *resource.Item
	times []int
}

// must returns v. An error would be a mistake in the embedded data, so must panics.
func must[T any](v T, err error) T {
	if err != nil {
		panic("boot: " + err.Error())
	}
	return v
}

// unpack returns the lines of a data file.
func unpack(packed []byte) []string {
	text := must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(packed)))))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// recorded returns the lines of a minor.
func recorded(minor string) []string {
	packed, err := data.ReadFile("data/" + minor + ".jsonl.gz")
	if err != nil {
		packed = must(data.ReadFile("data/" + schema.Default + ".jsonl.gz"))
	}
	return unpack(packed)
}

// Objects returns the objects of a kind that servers of a minor make, by name, without times, uids and revisions.
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

// policies are the kinds of default roles and bindings, in the order in which a server that starts looks at them.
var policies = []struct{ kind, storage string }{{"ClusterRole", "clusterroles"}, {"ClusterRoleBinding", "clusterrolebindings"},
	{"Role", "roles"}, {"RoleBinding", "rolebindings"}}

// Policies returns the roles and bindings that servers of a minor make, without times, uids, revisions and managedFields.
func Policies(minor string) (all []Policy) {
	lines := recorded(minor)
	for _, p := range policies {
		for _, line := range lines {
			if !strings.HasPrefix(line, `{"kind":"`+p.kind+`",`) {
				continue
			}
			obj := must(object.Parse([]byte(line)))
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
	if o.Aggregate {
		aggregate(all)
	}
	t := &template{first: o.Last - uint64(len(all))}
	for i, x := range all {
		t.add(x, t.first+uint64(i)+1)
	}
	return t
}

// own is one object of a server.
type own struct {
	d    *resource.Definition
	obj  object.Object // of most only kind and metadata, see read
	line []byte        // the printed object; nil if obj, which was changed, is the whole object
}

// read parses a line: the whole object if it is adapted or has selectable fields, and otherwise only the part before its
// managedFields, which saves most of the time.
func read(hubs map[schema.GVK]*resource.Definition, line string) own {
	head, _, _ := strings.Cut(line, `,"managedFields":`)
	obj := must(object.Parse([]byte(head + "}}")))
	d := hubs[schema.ParseGVK(obj.APIVersion(), obj.Kind())]
	if d.Strategy.Fields != nil || adapted[obj.Kind()] || strings.Contains(line, "aggregat") {
		obj = must(object.Parse([]byte(line)))
	}
	return own{d, obj, []byte(line)}
}

// add puts an object into the template.
func (t *template) add(x own, rev uint64) {
	key := x.d.Key(x.obj.Namespace(), x.obj.Name())
	if x.line == nil {
		x.line = codec.Append(nil, x.obj, x.d.Layout())
	}
	line := bytes.Replace(x.line, []byte(noRev), fmt.Appendf(nil, `"resourceVersion":"%d"`, rev), 1)
	line = bytes.Replace(line, []byte(noUID), uid(key), 1)
	line = bytes.ReplaceAll(line, []byte(noUID), uid(key+"/process"))
	made := thing{key: key, item: resource.NewItem(x.d, x.obj, rev, line)}
	for at := 0; ; at += len(noDate) {
		i := bytes.Index(line[at:], []byte(noDate))
		if i < 0 {
			break
		}
		at += i
		made.times = append(made.times, at)
	}
	t.size += len(line) + 1
	t.things = append(t.things, made)
}

// uid returns the uid of the object at a key (RFC 9562, version 4).
func uid(key string) []byte {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.NewPCG(h.Sum64(), 0)
	a, b := r.Uint64(), r.Uint64()
	return fmt.Appendf(nil, "%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0x3fff|0x8000, b&0xffffffffffff)
}

// store returns a store in which all objects were created at a time.
func (t *template) store(at time.Time) *mvcc.Store {
	s := mvcc.New(t.first)
	text := []byte(at.UTC().Format("2006-01-02T15:04:05"))
	memory := make([]byte, 0, t.size)
	for _, x := range t.things {
		from := len(memory)
		memory = append(append(memory, x.item.Bytes...), '\n')
		line := memory[from:len(memory):len(memory)]
		for _, i := range x.times {
			n := len(noDate)
			if bytes.HasPrefix(line[i+n:], []byte(noClock)) {
				n = len(text)
			}
			copy(line[i:], text[:n])
		}
		item := x.item.Reprinted(line)
		s.Put(x.key, item.Bytes, item)
	}
	return s
}

//go:embed data/*.jsonl.gz
var data embed.FS
