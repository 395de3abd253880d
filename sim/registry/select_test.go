package registry_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/registry/registrytest"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// TestSelectNaively compares lists and watches that have selectors with a naive filter of all objects. Writes, selectors (labels, a
// field with and one without an index, name, namespace), page sizes and revisions are random.
func TestSelectNaively(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		s := newSelection(seed)
		for range 200 {
			s.write()
			switch s.IntN(4) {
			case 0:
				s.list(t)
			case 1:
				s.watch(t)
			}
			s.checkWatches(t)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// BenchmarkSelect lists 100 of 100,000 objects, or all of them.
func BenchmarkSelect(b *testing.B) {
	s := newSelection(1)
	for n := range 100_000 {
		group := fmt.Sprint(n % 1000)
		s.put(thing{"ns", fmt.Sprintf("t%06d", n), group, group, group})
	}
	for name, choice := range map[string]choice{
		"indexed field": {fields: "data.node=7"}, "field": {fields: "data.zone=7"}, "label": {labels: "app=7"}, "all": {},
	} {
		b.Run(name, func(b *testing.B) {
			var answer []byte
			for b.Loop() {
				answer = answer[:0]
				s.reg.List(s.request(choice), choice.options(b), func(p *registry.Page, _ *status.Status) {
					for _, it := range p.Items {
						answer = append(answer, it.Bytes()...)
					}
				})
			}
		})
	}
}

// selection is a registry of things, which are config maps with two selectable fields. One of the fields has an index.
type selection struct {
	*rand.Rand
	*registrytest.Backend
	reg     *registry.Registry
	def     *resource.Definition
	watches []*selecting
}

// thing holds the selectable values of an object.
type thing struct{ namespace, name, node, zone, app string }

// choice selects things.
type choice struct{ namespace, fields, labels string }

// selecting is a watch of the things that a choice selects, and their state according to the watch's events.
type selecting struct {
	choice
	stream *watchcache.Watch
	things map[string]string
}

func newSelection(seed uint64) *selection {
	s := &selection{Rand: rand.New(rand.NewPCG(seed, 0)), Backend: registrytest.New(mvcc.New(1), clock.Epoch())}
	d := *s.Hubs["configmaps"]
	d.Hub, d.FieldLabels = &d, map[string]string{"data.node": "data.node", "data.zone": "data.zone"}
	d.Strategy = &resource.Strategy{Index: "data.node",
		Fields: resource.Fields{resource.FieldAt("data.node", "data", "node"), resource.FieldAt("data.zone", "data", "zone")}}
	s.def, s.reg = &d, s.Registry()
	return s
}

// put writes a thing.
func (s *selection) put(x thing) {
	obj := object.Object{"metadata": map[string]any{"namespace": x.namespace, "name": x.name, "labels": map[string]any{"app": x.app},
		"resourceVersion": fmt.Sprint(s.Store().Rev() + 1)}, "data": map[string]any{"node": x.node, "zone": x.zone}}
	data := object.JSON(map[string]any(obj))
	s.Committed(nil, s.Store().Put(s.def.Key(x.namespace, x.name), pack.New(data), resource.NewItem(s.def, obj, s.Store().Rev()+1, data)))
}

func (s *selection) pick(from string) string {
	words := strings.Split(from, " ")
	return words[s.IntN(len(words))]
}

// write puts or deletes a random thing.
func (s *selection) write() {
	x := thing{s.pick("blue green"), s.pick("a b c d e f"), s.pick(" n1 n2"), s.pick("z1 z2"), s.pick("web db")}
	if s.IntN(4) > 0 {
		s.put(x)
	} else if e, found := s.Store().Delete(s.def.Key(x.namespace, x.name)); found {
		s.Committed(nil, e)
	}
}

// choose returns a random choice.
func (s *selection) choose() choice {
	var fields []string
	for _, field := range []string{"data.node=" + s.pick(" n1 n2"), "data.zone" + s.pick("= !=") + "z1", "data.node!=n1",
		"metadata.namespace=blue", "metadata.name=a"} {
		if s.IntN(3) == 0 {
			fields = append(fields, field)
		}
	}
	return choice{s.pick(" blue green"), strings.Join(fields, ","), s.pick("  app=web app!=web !app")}
}

func (s *selection) request(c choice) *registry.Request {
	return &registry.Request{Definition: s.def, Namespace: c.namespace, Manager: "test"}
}

func (c choice) options(t testing.TB) (o registry.ListOptions) {
	var err, wrong error
	o.Fields, err = selector.ParseFields(c.fields)
	if o.Labels, wrong = selector.ParseLabels(c.labels); err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return o
}

// selects reports whether a choice selects an object.
func (c choice) selects(t *testing.T, obj object.Object) bool {
	o := c.options(t)
	return (c.namespace == "" || c.namespace == obj.Namespace()) && o.Labels.Matches(map[string]string{"app": obj.String("metadata", "labels", "app")}) &&
		o.Fields.Matches(func(label string) string { return obj.String(strings.Split(label, ".")...) })
}

// naive returns the names of the things that a choice selects at a revision, in key order, and their JSON by name.
func (s *selection) naive(t *testing.T, c choice, rev uint64) (names []string, texts map[string]string) {
	view, err := s.Store().At(rev)
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	view.Range("/registry/configmaps/", "", func(kv *mvcc.KV) bool {
		if obj, err := object.Parse(kv.Value()); err != nil {
			t.Error(err)
		} else if c.selects(t, obj) {
			name := obj.Namespace() + "/" + obj.Name()
			names, texts[name] = append(names, name), string(kv.Value())
		}
		return true
	})
	return names, texts
}

// list compares a list, in pages, with a naive filter.
func (s *selection) list(t *testing.T) {
	c, now := s.choose(), s.Store().Rev()
	o := c.options(t)
	if o.Limit = int64(s.IntN(4)); s.IntN(2) == 0 {
		now -= s.Uint64N(min(now, 20))
		o.ResourceVersion, o.Match = fmt.Sprint(now), "Exact"
	} else if s.IntN(3) == 0 {
		o.ResourceVersion, o.Limit = "0", 0
	}
	var got []string
	if strings.Contains(c.fields, "metadata.namespace") {
		o.Limit = 0 // as in the real server, the next page begins elsewhere: see lister.scope
	}
	for {
		var page *registry.Page
		s.reg.List(s.request(c), o, func(p *registry.Page, failed *status.Status) {
			if page = p; failed != nil {
				t.Fatal(failed)
			}
		})
		for _, it := range page.Items {
			got = append(got, it.Namespace+"/"+it.Name)
		}
		if o.Continue, o.ResourceVersion, o.Match = page.Continue, "", ""; o.Continue == "" {
			break
		}
		s.write() // the next page still has the revision of the first
	}
	if want, _ := s.naive(t, c, now); !slices.Equal(got, want) {
		t.Errorf("%+v at %d of %d: a list in pages of %d has %q, want %q", c, now, s.Store().Rev(), o.Limit, got, want)
	}
}

// watch opens a random watch, with or without initial events and from the current or a past revision, or ends one.
func (s *selection) watch(t *testing.T) {
	if len(s.watches) > 20 {
		i := s.IntN(len(s.watches))
		s.watches[i].stream.End()
		s.watches = slices.Delete(s.watches, i, i+1)
		return
	}
	w := &selecting{choice: s.choose(), things: map[string]string{}}
	o := w.options(t)
	if s.IntN(2) == 0 {
		rev := s.Store().Rev()
		rev -= s.Uint64N(min(rev, 20))
		o.ResourceVersion = fmt.Sprint(rev)
		_, w.things = s.naive(t, w.choice, rev)
	}
	var failed *status.Status
	w.stream, failed = s.reg.Watch(s.request(w.choice), o, watchcache.Encoder{Encode: w.apply})
	if s.watches = append(s.watches, w); failed != nil {
		t.Fatal(failed)
	}
}

// apply applies an event to the things.
func (w *selecting) apply(n watchcache.Notice) codec.Text {
	name := n.Item.Namespace + "/" + n.Item.Name
	switch _, known := w.things[name]; {
	case known == (n.Type == watchcache.Added):
		w.things[name] = "an unexpected " + n.Type
	case n.Type == watchcache.Deleted:
		delete(w.things, name)
	default:
		w.things[name] = string(n.Item.Bytes())
	}
	return codec.TextOf([]byte(n.Type))
}

// checkWatches compares all watches with naive filters.
func (s *selection) checkWatches(t *testing.T) {
	for _, w := range s.watches {
		if _, want := s.naive(t, w.choice, 0); fmt.Sprint(w.things) != fmt.Sprint(want) { // sorted by name
			t.Errorf("%+v: a watch has %v, want %v", w.choice, w.things, want)
		}
	}
}
