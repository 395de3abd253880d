package watchcache

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/resource"
)

var things = func() *resource.Definition {
	d := &resource.Definition{Resource: "things", Storage: "things", Strategy: &resource.Strategy{
		Index: "l", Fields: resource.Fields{resource.FieldAt("l", "metadata", "labels", "l")}}}
	d.Hub = d
	return d
}()

// bench is a store with a clock and a cache of one resource.
type bench struct {
	store    *mvcc.Store
	position *Position
	cache    *Cache
	now      time.Time
}

func newBench() *bench {
	store := mvcc.New(100)
	view, _ := store.At(0)
	b := &bench{store: store, position: &Position{View: view}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.cache = New("/registry/things/", b.position, 100)
	return b
}

// put writes an object with a label and returns its revision.
func (b *bench) put(name, label string) uint64 {
	rev := b.store.Rev() + 1
	obj := object.Object{"metadata": map[string]any{"name": name, "resourceVersion": fmt.Sprint(rev), "labels": map[string]any{"l": label}}}
	data := object.JSON(map[string]any(obj))
	return b.commit(b.store.Put("/registry/things/"+name, pack.New(data), resource.NewItem(things, obj, rev, data)))
}

func (b *bench) delete(name string) uint64 {
	e, _ := b.store.Delete("/registry/things/" + name)
	return b.commit(e)
}

func (b *bench) commit(e *mvcc.Event) uint64 {
	b.position.View, _ = b.store.At(e.Rev)
	b.cache.Apply(e, b.now)
	return e.Rev
}

// watch opens a watch on the objects with the label. If label is empty, the watch covers all objects.
func (b *bench) watch(label string) *Watch {
	o := Options{Definition: things, Prefix: "/registry/things/", Bookmarks: true, Encoder: Encoder{Key: "text", Encode: text}}
	if label != "" {
		o.Match = func(it *resource.Item) bool { l, _ := it.Label("l"); return l == label }
	}
	return NewWatch(o)
}

// text returns a notice as one word, such as ADDED:a@101.
func text(n Notice) codec.Text {
	switch n.Type {
	case Error:
		return codec.TextOf([]byte(n.Type + ":" + string(n.Status.Reason)))
	case Bookmark:
		return codec.TextOf(fmt.Appendf(nil, "%s@%d", n.Type, n.Rev))
	}
	return codec.TextOf(fmt.Appendf(nil, "%s:%s@%d", n.Type, n.Item.Name, n.Item.Rev))
}

func taken(w *Watch) string {
	frames, ended := w.Take()
	var words []string
	for _, f := range frames {
		words = append(words, string(f.Bytes()))
	}
	if ended {
		words = append(words, "end")
	}
	return strings.Join(words, " ")
}

// Events depend on the selector: an object that begins to match is ADDED, and one that stops matching is DELETED with its last
// matching state.
func TestSelectors(t *testing.T) {
	is := is.New(t)
	b := newBench()
	all, x := b.watch(""), b.watch("x")
	b.cache.Start(all, 100)
	b.cache.Start(x, 100)
	b.put("a", "x") // 101
	b.put("a", "x") // 102
	b.put("a", "y") // 103
	b.put("a", "y") // 104
	b.put("a", "x") // 105
	b.delete("a")   // 106
	b.put("b", "y") // 107
	is.Equal(taken(all), "ADDED:a@101 MODIFIED:a@102 MODIFIED:a@103 MODIFIED:a@104 MODIFIED:a@105 DELETED:a@106 ADDED:b@107")
	is.Equal(taken(x), "ADDED:a@101 MODIFIED:a@102 DELETED:a@103 ADDED:a@105 DELETED:a@106")
}

// A watch may start anywhere in the ring, but not before it.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		after uint64
		want  string
	}{
		{99, "ERROR:Expired end"},
		{100, "ADDED:a@101 MODIFIED:a@102"},
		{101, "MODIFIED:a@102"},
		{102, ""},
		{500, ""}, // the future: no events yet
	} {
		is := is.New(t)
		b := newBench()
		b.put("a", "x")
		b.put("a", "x")
		w := b.watch("")
		b.cache.Start(w, c.after)
		is.Equal(taken(w), c.want) // a watch after this revision
	}
}

// The initial state is sent in key order, and each later event exactly once.
func TestState(t *testing.T) {
	is := is.New(t)
	b := newBench()
	b.put("b", "x")
	b.put("a", "x")
	w := b.watch("")
	w.SendState(b.cache)
	b.cache.Start(w, b.cache.Rev())
	w.Bookmark(true)
	b.put("c", "x")
	is.Equal(taken(w), "ADDED:a@102 ADDED:b@101 BOOKMARK@102 ADDED:c@103")
}

// The initial state and events before the watch contain the decorated form of an object. Later events contain the stored form.
// Watches do not share frames that differ.
func TestShown(t *testing.T) {
	is := is.New(t)
	b := newBench()
	b.put("a", "x")
	shown := func(after uint64) *Watch {
		w := NewWatch(Options{Definition: things, Prefix: "/registry/things/", Encoder: Encoder{Key: "text", Encode: text},
			Decorate: func(it *resource.Item) *resource.Item {
				return &resource.Item{Namespace: it.Namespace, Name: strings.ToUpper(it.Name), Rev: it.Rev}
			}})
		if after == 0 {
			w.SendState(b.cache)
			after = b.cache.Rev()
		}
		b.cache.Start(w, after)
		return w
	}
	live, state := shown(100), shown(0)
	b.put("a", "x")
	b.delete("a")
	is.Equal(taken(live), "ADDED:A@101 MODIFIED:a@102 DELETED:a@103")
	is.Equal(taken(state), "ADDED:A@101 MODIFIED:a@102 DELETED:a@103")
	is.Equal(taken(shown(100)), "ADDED:A@101 MODIFIED:A@102 DELETED:A@103")
}

// The ring grows while all of its events are fresh. Otherwise it keeps its size and drops the oldest events.
func TestRing(t *testing.T) {
	is := is.New(t)
	b := newBench()
	for range 150 {
		b.put("a", "x")
	}
	is.Equal(b.cache.Oldest(), uint64(100)) // 150 fresh events: the capacity has doubled
	b.now = b.now.Add(2 * freshness)
	for range 100 {
		b.put("a", "x")
	}
	is.True(b.cache.Oldest() > 100) // stale events are dropped
	w := b.watch("")
	b.cache.Start(w, 100)
	is.Equal(taken(w), "ERROR:Expired end") // and cannot be watched any more
}

// The cost of an event does not depend on the length of a full ring.
func TestFullRing(t *testing.T) {
	is := is.New(t)
	b := newBench()
	commit := &mvcc.Event{Key: "/registry/things/a"}
	for range capacityMax { // fresh events: the capacity doubles up to its maximum
		b.cache.Apply(commit, b.now)
	}
	const events = 10_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		b.cache.Apply(commit, b.now)
	}
	runtime.ReadMemStats(&after)
	is.Equal(len(b.cache.state.Ring), capacityMax)
	is.True((after.TotalAlloc-before.TotalAlloc)/events < 1<<10) // in bytes: the ring is not copied for each event
}

// Snapshots serve reads of the past until the ring forgets them or the store has compacted them.
func TestSnapshot(t *testing.T) {
	is := is.New(t)
	b := newBench()
	is.True(b.cache.Snapshot(100) == nil) // no commits yet: the store is read
	b.put("a", "x")                       // 101
	b.put("b", "x")                       // 102
	b.delete("a")                         // 103
	view := b.cache.Snapshot(102)
	is.Equal(view.Count("/registry/things/", ""), 2) // a and b
	is.True(b.cache.Snapshot(104) == nil)            // the future
	is.NoErr(b.store.Compact(103))
	is.Equal(b.cache.Snapshot(102).Rev(), uint64(102)) // the cache has not been notified of the compaction
	b.cache.Compacted(103)
	is.True(b.cache.Snapshot(102) == nil) // now it has been notified
	b.cache.Forget()
	w := b.watch("")
	b.cache.Start(w, 102)
	is.Equal(taken(w), "ERROR:Expired end") // a forgotten history cannot be watched
}

// A watch ends if its client leaves too much unread.
func TestSlowReader(t *testing.T) {
	is := is.New(t)
	b := newBench()
	w := b.watch("")
	w.encoder = Encoder{Encode: func(Notice) codec.Text { return codec.TextOf(make([]byte, 2<<10)) }}
	b.cache.Start(w, 100)
	for range 2000 {
		b.put("a", "x")
	}
	frames, ended := w.Take()
	is.True(ended)                          // the stream is over
	is.True(len(frames) >= queueFrames)     // after the queued frames
	is.Equal(len(b.cache.watches.all()), 0) // and the cache no longer has the watch
	w.End()                                 // ending it again is a no-op
}

// atEnd is a gate that calls a function when the stream ends.
type atEnd func(*Watch)

func (f atEnd) Pass(*Watch, Notice, codec.Text) bool { return true }
func (f atEnd) Ended(w *Watch)                       { f(w) }

// TestBreak checks that a broken watch ends without its frames, and that nothing sees the end before it sees the break.
func TestBreak(t *testing.T) {
	is := is.New(t)
	b := newBench()
	w := b.watch("")
	ended := 0
	w.gate = atEnd(func(w *Watch) {
		ended++
		is.Equal(w.Broken(), ErrBroken)
	})
	b.cache.Start(w, 100)
	b.put("a", "x")
	w.Break()
	is.Equal(taken(w), "end")
	is.Equal(ended, 1)
}

// Watches with the same encoding share frames.
func TestSharedFrames(t *testing.T) {
	is := is.New(t)
	b := newBench()
	encoded := 0
	count := Encoder{Key: "k", Encode: func(n Notice) codec.Text { encoded++; return text(n) }}
	for range 10 {
		w := b.watch("")
		w.encoder = count
		b.cache.Start(w, 100)
	}
	b.put("a", "x")
	is.Equal(encoded, 1) // one event, one frame
}
