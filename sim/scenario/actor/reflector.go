package actor

import (
	"fmt"
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

// reflector keeps a copy of a resource, like client-go's Reflector of 1.35 and later:
//
//	start ─▶ watch-list ─ ADDED … BOOKMARK (end of the initial events) ─▶ watching ─┐
//	  ▲          │ refused, or an error other than 410 and "too large"       ▲     │ the stream ends normally
//	  │          ▼                                                            └─────┘
//	  │        list (resourceVersion 0, or the last one known) ─▶ watch ─────▶ watching
//	  │          │ fails                                                        │ 410, an error, or a stream shorter than 1 s
//	  └── back-off: 0.8 s, 1.6 s, … 30 s, each up to twice as long ◀────────────┘
//
// If the server cannot serve a list or watch at the known revision (410, or 504 too large), the reflector retries at
// once without a revision. The server takes the 3 s in between.
type reflector struct {
	Source
	w       World
	lane    string
	random  *rand.Rand
	changed func(obj object.Object) // receives each change of the cache; may be nil

	def         *resource.Definition
	store       map[string]object.Object // objects by namespace/name
	initial     map[string]object.Object // objects that the list or watch-list in progress has returned so far; otherwise nil
	rv          string                   // the resourceVersion of the store
	unavailable bool                     // the server could not serve rv
	synced      bool
	doing       string
	sleeps      bool
	fallback    bool // the list in progress is the second attempt, without a revision
	paged       bool
	call        Request
	watch       Watch
	opened      time.Time
	seen        int // number of events that the watch has received
	delay       time.Duration
	delayed     time.Time
	wake        func() // stops the timer
	life        int    // the number of starts and crashes; callbacks of earlier lives are ignored
}

// The timing constants of client-go's reflector.
const (
	firstDelay    = 800 * time.Millisecond
	longestDelay  = 30 * time.Second
	delayReset    = 2 * time.Minute
	shortestWatch = 5 * time.Minute // timeoutSeconds is up to twice as long
	shortWatch    = time.Second
	pageLimit     = "500"
)

// newReflector returns a reflector. lane is the name of its watches.
func newReflector(w World, s Source, lane string, changed func(obj object.Object)) *reflector {
	return &reflector{Source: s, w: w, lane: lane, random: w.Random("reflector " + lane), changed: changed,
		store: map[string]object.Object{}}
}

// Able implements Actor for an informer.
func (r *reflector) Able() error {
	_, err := r.w.Definition(r.Resource, r.Name)
	return err
}

// Start implements Actor for an informer.
func (r *reflector) Start() {
	d, err := r.w.Definition(r.Resource, r.Name)
	if err != nil {
		return
	}
	r.life++
	r.def, r.store, r.rv, r.unavailable, r.synced = d, map[string]object.Object{}, "", false, false
	r.delay = 0
	r.begin()
}

// stop ends the watch and drops the state.
func (r *reflector) stop() {
	r.life++
	if r.call != nil {
		r.call.Forget()
	}
	if r.watch != nil {
		r.watch.Stop()
	}
	if r.wake != nil {
		r.wake()
	}
	r.call, r.watch, r.initial, r.store, r.synced, r.sleeps = nil, nil, nil, map[string]object.Object{}, false, false
	r.rv, r.doing = "", "crashed"
}

// begin starts a list and watch from the beginning.
func (r *reflector) begin() {
	if r.ListWatch {
		r.list()
		return
	}
	r.doing, r.initial = "reads the state from a watch", map[string]object.Object{}
	q := r.query(r.reached())
	q.Set("sendInitialEvents", "true")
	q.Set("resourceVersionMatch", "NotOlderThan")
	r.openWatch(q)
}

// reached returns the minimum revision for a read. It returns "" if the server could not serve the last known revision.
func (r *reflector) reached() string {
	if r.unavailable {
		return ""
	}
	return r.rv
}

// query returns the parameters of a list or a watch. If rv is empty, the request has no resourceVersion.
func (r *reflector) query(rv string) url.Values {
	q := url.Values{}
	all := map[string]string{"labelSelector": r.Labels, "fieldSelector": r.Fields, "resourceVersion": rv}
	for name, value := range all { // the order does not matter, because the query is a map, too
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// openWatch sends the request for a watch.
func (r *reflector) openWatch(q url.Values) {
	q.Set("watch", "true")
	q.Set("allowWatchBookmarks", "true")
	seconds := int64(shortestWatch.Seconds() * (1 + r.random.Float64()))
	q.Set("timeoutSeconds", strconv.FormatInt(seconds, 10))
	r.opened, r.seen = r.w.Now(), 0
	r.send(q)
}

// send sends a list request or a watch request.
func (r *reflector) send(q url.Values) {
	life := r.life
	r.call = r.w.Read(Read{Client: r.Name, Resource: r.def, Namespace: r.Namespace, Query: q, Watch: r.lane, Phrase: r.phrase(q), Sink: r})
	r.call.Send(func(a *Answer) {
		if life == r.life {
			r.call = nil
			r.answered(a)
		}
	})
}

// phrase describes a request for the transcript.
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
	text += r.def.GroupResource().String()
	if rv := q.Get("resourceVersion"); rv != "" {
		text += ", rv=" + rv
	}
	return text
}

// answered handles the response to a list request or a watch request.
func (r *reflector) answered(a *Answer) {
	switch {
	case a.Watch != nil:
		r.watch = a.Watch
	case a.Query.Get("watch") != "":
		r.failed(a.Code, a.Body, "its watch was refused")
	default:
		r.page(a)
	}
}

// failed handles a failed watch request, or an error that ended a watch.
func (r *reflector) failed(code int, s object.Object, why string) {
	switch {
	case code == 429:
		r.sleep("was told to come back later", func() { r.rewatch() })
	case r.initial != nil && gone(s):
		r.unavailable = true
		r.begin()
	case r.initial != nil:
		r.list()
	default:
		r.sleep(why, func() { r.begin() })
	}
}

// rewatch sends the watch request again.
func (r *reflector) rewatch() {
	if r.initial != nil {
		r.begin()
		return
	}
	r.resume()
}

// resume watches from the last known revision.
func (r *reflector) resume() {
	r.doing = "watches"
	r.openWatch(r.query(r.rv))
}

// gone reports whether a Status means that the server cannot serve the requested revision, because it is too old or too new.
func gone(s object.Object) bool {
	if reason := s.String("reason"); reason == "Expired" || reason == "Gone" {
		return true
	}
	return slices.ContainsFunc(s.Objects("details", "causes"), func(cause object.Object) bool {
		return cause.String("reason") == "ResourceVersionTooLarge"
	})
}

// replace replaces the contents of the cache with the received objects and notifies the consumer of all changes. rv is the
// resourceVersion of the new contents.
func (r *reflector) replace(rv string) {
	old := r.store
	r.store, r.initial, r.rv, r.unavailable, r.synced = r.initial, nil, rv, false, true
	r.w.Say("%s knows %s at rv %s: %s", r.Name, r.def.GroupResource(), rv, keysLine(r.store))
	for _, k := range object.SortedKeys(r.store) {
		r.notify(r.store[k])
	}
	for _, k := range object.SortedKeys(old) {
		if r.store[k] == nil {
			r.notify(old[k])
		}
	}
}

func (r *reflector) notify(obj object.Object) {
	if r.changed != nil {
		r.changed(obj)
	}
}

// keysLine returns the keys of a cache in one line, without the namespace default.
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

// Event implements Sink.
func (r *reflector) Event(kind string, obj object.Object) {
	if kind == watchcache.Error {
		code, reason := int(obj.Int64("code")), obj.String("reason")
		r.w.Say("%s ◀ ERROR %d %s", r.Name, code, reason)
		r.watch.Stop()
		r.watch = nil
		r.failed(code, obj, fmt.Sprintf("its watch ended with %d %s", code, reason))
		return
	}
	r.seen++
	if r.initial != nil {
		r.initialEvent(kind, obj)
		return
	}
	r.rv = obj.ResourceVersion()
	if kind == watchcache.Bookmark {
		return
	}
	k := keyOf(obj)
	if kind == watchcache.Deleted {
		delete(r.store, k)
	} else {
		r.store[k] = obj
	}
	r.w.Say("%s ◀ %s %s rv %s%s", r.Name, kind, ShortRef(Ref(r.def, obj.Namespace(), obj.Name())), r.rv, Terminating(obj))
	r.notify(obj)
}

// initialEvent handles an event of a watch-list.
func (r *reflector) initialEvent(kind string, obj object.Object) {
	k := keyOf(obj)
	switch kind {
	case watchcache.Bookmark:
		if obj.Annotations()["k8s.io/initial-events-end"] == "true" {
			r.doing = "watches"
			r.replace(obj.ResourceVersion())
		}
	case watchcache.Deleted:
		delete(r.initial, k)
	default:
		r.initial[k] = obj
	}
}

// Closed implements Sink.
func (r *reflector) Closed(x Watch) {
	if x != r.watch {
		return
	}
	r.watch = nil
	short := r.seen == 0 && r.w.Now().Sub(r.opened) < shortWatch
	switch {
	case short && r.initial != nil:
		r.list()
	case short:
		r.sleep("its watch ended within a second", func() { r.begin() })
	default:
		r.rewatch()
	}
}

// sleep calls f after the back-off.
func (r *reflector) sleep(why string, f func()) {
	now := r.w.Now()
	if now.Sub(r.delayed) > delayReset {
		r.delay = 0
	}
	r.delayed = now
	r.delay = min(max(2*r.delay, firstDelay), longestDelay)
	d := time.Duration(float64(r.delay) * (1 + r.random.Float64())).Round(time.Millisecond)
	r.w.Say("%s: %s; it tries again in %s", r.Name, why, d)
	r.doing, r.sleeps = why, true
	life := r.life
	r.wake = r.w.After(d, func() {
		if life == r.life {
			r.sleeps, r.wake = false, nil
			f()
		}
	})
}
