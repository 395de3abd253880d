package scenario

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// reflector keeps a copy of a resource as client-go's Reflector of 1.35 and later does:
//
//	start ─▶ watch-list ─ ADDED … BOOKMARK (end of the initial events) ─▶ watching ─┐
//	  ▲          │ refused, or an error that is no 410 and no "too large"     ▲     │ the stream ends in order
//	  │          ▼                                                            └─────┘
//	  │        list (resourceVersion 0, or the last one known) ─▶ watch ─────▶ watching
//	  │          │ fails                                                        │ 410, an error, a stream of less than 1 s
//	  └── back-off: 0.8 s, 1.6 s, … 30 s, each up to twice as long ◀────────────┘
//
// A list or watch that the server cannot serve at the revision known (410, or 504 too large) is tried again at once
// without a revision; the 3 s that pass in between are the server's.
type reflector struct {
	name      string
	client    *client
	resource  string
	namespace string // "": all
	labels    string
	fields    string
	pageSize  string
	listWatch bool // begin with a list
	lane      string
	random    *rand.Rand
	changed   func(w *World, obj object.Object) // told of each change of the cache

	def         *resource.Definition
	store       map[string]object.Object // by namespace/name
	initial     map[string]object.Object // that a list or watch-list has sent so far; nil: none goes on
	rv          string                   // resourceVersion up to which the store knows
	unavailable bool                     // the server did not have it
	synced      bool
	doing       string
	sleeps      bool
	fallback    bool // the list that goes on is the second try, without a revision
	paged       bool
	call        *call
	watch       *watch
	opened      time.Time
	seen        int // events of the watch
	delay       time.Duration
	delayed     time.Time
	wake        func() // takes back the timer
	life        int    // how often it was started or crashed: what an earlier life has left behind is not done
}

// The times of client-go's reflector.
const (
	firstDelay    = 800 * time.Millisecond
	longestDelay  = 30 * time.Second
	delayReset    = 2 * time.Minute
	shortestWatch = 5 * time.Minute // timeoutSeconds is up to twice that
	shortWatch    = time.Second
	pageLimit     = "500"
)

// stream returns a generator for one purpose of one client.
func (w *World) stream(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(max(w.options.Seed, 1), h.Sum64()))
}

// able returns why the resource cannot be read.
func (r *reflector) able(w *World) error {
	_, err := w.resolve(r.resource, max(r.client.replica, 1))
	return err
}

// start begins with an empty cache.
func (r *reflector) start(w *World) {
	d, err := w.resolve(r.resource, max(r.client.replica, 1))
	if err != nil {
		return
	}
	r.life++
	r.def, r.store, r.rv, r.unavailable, r.synced = d, map[string]object.Object{}, "", false, false
	r.delay = 0
	r.begin(w)
}

// stop forgets everything.
func (r *reflector) stop(w *World) {
	r.life++
	if r.call != nil {
		r.call.gone = true
	}
	if r.watch != nil {
		w.stop(r.watch)
	}
	if r.wake != nil {
		r.wake()
	}
	r.call, r.watch, r.initial, r.store, r.synced, r.sleeps = nil, nil, nil, map[string]object.Object{}, false, false
	r.rv, r.doing = "", "crashed"
}

// begin is the beginning of a list and watch.
func (r *reflector) begin(w *World) {
	if r.listWatch {
		r.list(w)
		return
	}
	r.doing, r.initial = "reads the state from a watch", map[string]object.Object{}
	q := r.query(r.reached())
	q.Set("sendInitialEvents", "true")
	q.Set("resourceVersionMatch", "NotOlderThan")
	r.openWatch(w, q)
}

// reached is the revision that a read has to reach, "" when the server did not have the one known.
func (r *reflector) reached() string {
	if r.unavailable {
		return ""
	}
	return r.rv
}

// query returns the parameters of a request from a revision on, "" for none.
func (r *reflector) query(rv string) url.Values {
	q := url.Values{}
	all := map[string]string{"labelSelector": r.labels, "fieldSelector": r.fields, "resourceVersion": rv}
	for name, value := range all { // order does not matter: the query is a map, too
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// openWatch sends the request for a watch.
func (r *reflector) openWatch(w *World, q url.Values) {
	q.Set("watch", "true")
	q.Set("allowWatchBookmarks", "true")
	seconds := int64(shortestWatch.Seconds() * (1 + r.random.Float64()))
	q.Set("timeoutSeconds", strconv.FormatInt(seconds, 10))
	r.opened, r.seen = w.clock.Now(), 0
	r.send(w, q, r)
}

func (r *reflector) send(w *World, q url.Values, s *reflector) {
	b := &builder{w: w, op: &Op{}, client: r.client, replica: max(r.client.replica, 1)}
	if r.namespace == "" {
		b.op.Flags = []FlagValue{{Name: "all-namespaces"}}
	} else {
		b.op.Flags = []FlagValue{{"namespace", r.namespace}}
	}
	c := b.add("GET", b.location(r.def, "", ""), q, "", nil)
	c.def, c.sink, c.watchName, c.phrase = r.def, s, r.lane, r.phrase(q)
	life := r.life
	c.done = func(c *call) {
		if life == r.life {
			r.call = nil
			r.answered(w, c)
		}
	}
	r.call = c
	w.send(c)
}

// phrase says what a request asks for.
func (r *reflector) phrase(q url.Values) string {
	text := "lists "
	switch {
	case q.Get("sendInitialEvents") != "":
		text = "asks for state and changes of "
	case q.Get("watch") != "":
		text = "watches "
	case q.Get("continue") != "":
		text = "lists more "
	}
	text += r.def.Resourced().String()
	if rv := q.Get("resourceVersion"); rv != "" {
		text += ", rv=" + rv
	}
	return text
}

// answered takes in an answer to a list, or to the request for a watch.
func (r *reflector) answered(w *World, c *call) {
	switch {
	case c.answer.Watch != nil:
		r.watch = w.watchNamed(c.exchange.Watch)
	case c.query.Get("watch") != "":
		r.failed(w, c.answer.Code, c.body, "its watch was refused")
	default:
		r.page(w, c)
	}
}

// failed takes in the error with which a request for a watch was answered, or with which a watch ended.
func (r *reflector) failed(w *World, code int, s object.Object, why string) {
	switch {
	case code == 429:
		r.sleep(w, "was told to come back later", func() { r.again(w) })
	case r.initial != nil && gone(s):
		r.unavailable = true
		r.begin(w)
	case r.initial != nil:
		r.list(w)
	default:
		r.sleep(w, why, func() { r.begin(w) })
	}
}

// again sends the request for a watch again.
func (r *reflector) again(w *World) {
	if r.initial != nil {
		r.begin(w)
		return
	}
	r.resume(w)
}

// resume watches from the last revision known.
func (r *reflector) resume(w *World) {
	r.doing = "watches"
	r.openWatch(w, r.query(r.rv))
}

// gone reports whether a Status says that the server does not have the revision: no longer, or not yet.
func gone(s object.Object) bool {
	if reason := s.String("reason"); reason == "Expired" || reason == "Gone" {
		return true
	}
	return slices.ContainsFunc(s.Objects("details", "causes"), func(cause object.Object) bool {
		return cause.String("reason") == "ResourceVersionTooLarge"
	})
}

// replace makes what was read the cache, and tells what changed by that.
func (r *reflector) replace(w *World, rv string) {
	old := r.store
	r.store, r.initial, r.rv, r.unavailable, r.synced = r.initial, nil, rv, false, true
	w.say("%s knows %s at rv %s: %s", r.name, r.def.Resourced(), rv, keysLine(r.store))
	for _, k := range object.SortedKeys(r.store) {
		r.tell(w, r.store[k])
	}
	for _, k := range object.SortedKeys(old) {
		if r.store[k] == nil {
			r.tell(w, old[k])
		}
	}
}

func (r *reflector) tell(w *World, obj object.Object) {
	if r.changed != nil {
		r.changed(w, obj)
	}
}

// keysLine prints the keys of a cache, without the namespace default.
func keysLine(store map[string]object.Object) string {
	if len(store) == 0 {
		return "nothing"
	}
	var out []string
	for _, k := range object.SortedKeys(store) {
		out = append(out, strings.TrimPrefix(k, "default/"))
	}
	return strings.Join(out, " ")
}

// event takes in an event of its watch.
func (r *reflector) event(w *World, e Event) {
	if e.Type == watchcache.Error {
		code, reason := statusCode(e.Object), e.Object.String("reason")
		w.say("%s ◀ ERROR %d %s", r.name, code, reason)
		w.stop(r.watch)
		r.watch = nil
		r.failed(w, code, e.Object, fmt.Sprintf("its watch ended with %d %s", code, reason))
		return
	}
	r.seen++
	obj := e.Object
	if r.initial != nil {
		r.initialEvent(w, e)
		return
	}
	r.rv = obj.ResourceVersion()
	if e.Type == watchcache.Bookmark {
		return
	}
	k := key(obj.Namespace(), obj.Name())
	if e.Type == watchcache.Deleted {
		delete(r.store, k)
	} else {
		r.store[k] = obj
	}
	w.say("%s ◀ %s %s rv %s%s", r.name, e.Type, shortRef(refOf(r.def, obj.Namespace(), obj.Name())), r.rv, terminating(obj))
	r.tell(w, obj)
}

// initialEvent takes in an event of a watch-list.
func (r *reflector) initialEvent(w *World, e Event) {
	obj := e.Object
	k := key(obj.Namespace(), obj.Name())
	switch e.Type {
	case watchcache.Bookmark:
		if obj.Annotations()["k8s.io/initial-events-end"] == "true" {
			r.doing = "watches"
			r.replace(w, obj.ResourceVersion())
		}
	case watchcache.Deleted:
		delete(r.initial, k)
	default:
		r.initial[k] = obj
	}
}

// closed takes in the end of its watch, after the last event.
func (r *reflector) closed(w *World, x *watch) {
	if x != r.watch {
		return
	}
	r.watch = nil
	short := r.seen == 0 && w.clock.Now().Sub(r.opened) < shortWatch
	switch {
	case short && r.initial != nil:
		r.list(w)
	case short:
		r.sleep(w, "its watch ended within a second", func() { r.begin(w) })
	default:
		r.again(w)
	}
}

// sleep lets f be done when the back-off is over.
func (r *reflector) sleep(w *World, why string, f func()) {
	now := w.clock.Now()
	if now.Sub(r.delayed) > delayReset {
		r.delay = 0
	}
	r.delayed = now
	r.delay = min(max(2*r.delay, firstDelay), longestDelay)
	d := time.Duration(float64(r.delay) * (1 + r.random.Float64())).Round(time.Millisecond)
	w.say("%s: %s; it tries again in %s", r.name, why, d)
	r.doing, r.sleeps = why, true
	life := r.life
	r.wake = w.after(d, func() {
		if life == r.life {
			r.sleeps, r.wake = false, nil
			f()
		}
	})
}
