package watchcache

import (
	"slices"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The types of watch events (API concepts, "Efficient detection of changes").
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Error    = "ERROR"
)

const (
	// queueFrames and queueBytes are how much a watch holds that its connection does not take: a reader that leaves more
	// events than this unread, and more bytes, is cut off (channel sizes of kube-apiserver's cacher).
	queueFrames = 1000
	queueBytes  = 1 << 20
)

// Event is one commit on its way to the watches of a cache, with its encoded frames, which they share. It is not kept afterwards:
// the history has the stored form, not the sent one.
type Event struct {
	*mvcc.Event
	frames map[frameKey][]byte
	gone   *resource.Item
}

// frameKey names one encoding of one event: the same key gives the same bytes.
type frameKey struct{ encoding, eventType string }

// Notice is what a watch sends to its client: an event type and the object it shows.
type Notice struct {
	Type   string
	Item   *resource.Item // of ADDED, MODIFIED and DELETED
	Rev    uint64         // of BOOKMARK
	Ended  bool           // of BOOKMARK: the initial events have been sent
	Status *status.Status // of ERROR

	Before *resource.Item // of MODIFIED and DELETED: what the client saw last
}

// Encoder turns notices into bytes on the wire.
type Encoder struct {
	// Key names the encoding; events are encoded once per key. "" means that frames of this watch are not shared.
	Key    string
	Encode func(Notice) []byte
}

// Watch is one client's view of one cache: frames wait in its queue until the connection takes them.
type Watch struct {
	prefix   string // of the keys that it is about
	key      string // or the one key
	def      *resource.Definition
	match    func(*resource.Item) bool
	decorate func(*resource.Item) *resource.Item
	encoder  Encoder

	after     uint64 // revisions up to this one are not sent: they were part of the state, or are in the future
	bookmarks bool

	mu     sync.Mutex // held while the fields down to broken change: Take needs no other lock
	queue  [][]byte
	size   int // bytes in queue
	ended  bool
	held   bool // nothing reaches the client
	broken bool

	signal chan struct{}
	cache  *Cache

	stops   [timers]func() // cancel the timers that have been set
	gate    Gate
	stalled bool
}

// Gate decides which frames a watch sends.
type Gate interface {
	// Pass is called before a frame goes into the queue. If it returns false, the gate may Deliver the frame later.
	Pass(w *Watch, n Notice, frame []byte) bool
}

// Options configure a Watch.
type Options struct {
	Definition *resource.Definition
	Prefix     string                    // of the keys; "" to use Key
	Key        string                    // the only key of interest, or ""
	Match      func(*resource.Item) bool // if nil, everything matches
	Encoder    Encoder
	Bookmarks  bool // the client allows bookmarks
	Gate       Gate // if nil, every frame passes

	// Decorate returns the decorated form of an object, in which the initial state and events before the watch show it, as a read
	// does. Later events show the stored form: the real server's cache passes them on without decorating them. If Decorate is nil,
	// both forms are the same.
	Decorate func(*resource.Item) *resource.Item
}

// NewWatch returns a watch that is not yet connected to a cache: Fail, SendState and Start decide how it begins.
func NewWatch(o Options) *Watch {
	return &Watch{prefix: o.Prefix, key: o.Key, def: o.Definition, match: o.Match, decorate: o.Decorate, encoder: o.Encoder,
		bookmarks: o.Bookmarks, gate: o.Gate, signal: make(chan struct{}, 1)}
}

// Ready is signalled when Take has something new.
func (w *Watch) Ready() <-chan struct{} { return w.signal }

// Take returns the waiting frames, and whether the stream is over after them. The caller needs no lock, so that thousands of
// connections that are notified of one commit do not wait for each other.
func (w *Watch) Take() (frames [][]byte, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held {
		return nil, false
	}
	frames, w.queue, w.size = w.queue, nil, 0
	return frames, w.ended
}

// End closes the stream after what waits.
func (w *Watch) End() {
	if w.ended {
		return
	}
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	if w.cache != nil {
		w.cache.remove(w)
	}
	for _, stop := range w.stops {
		if stop != nil {
			stop()
		}
	}
	w.wake()
}

// Ended reports whether the stream is over.
func (w *Watch) Ended() bool { return w.ended }

// Fail sends s as the only event of the stream and ends it.
func (w *Watch) Fail(s *status.Status) {
	n := Notice{Type: Error, Status: s}
	w.offer(n, w.encoder.Encode(n))
	w.End()
}

// Bookmark sends a bookmark if the client allows them: everything up to the cache's revision has been sent.
func (w *Watch) Bookmark(initialEventsEnd bool) {
	if w.bookmarks && !w.ended && w.cache != nil {
		n := Notice{Type: Bookmark, Rev: max(w.cache.Rev(), w.after), Ended: initialEventsEnd}
		w.offer(n, w.encoder.Encode(n))
	}
}

func (w *Watch) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// Stall keeps the stream open and silent, as a broken connection that neither side has noticed. Only End ends it.
func (w *Watch) Stall() { w.stalled = true }

// offer sends the frame of n if the gate lets it pass. Without a frame, because n cannot be printed as the client wants
// it, the stream ends.
func (w *Watch) offer(n Notice, frame []byte) {
	if frame == nil {
		w.End()
		return
	}
	if w.passes(n, frame) {
		w.Deliver(frame)
	}
}

// passes reports whether a frame may be sent now.
func (w *Watch) passes(n Notice, frame []byte) bool { return w.gate == nil || w.gate.Pass(w, n, frame) }

// Deliver puts a frame into the queue, past the gate.
func (w *Watch) Deliver(frame []byte) {
	if w.ended || w.stalled {
		return
	}
	if !w.put(frame) {
		w.End() // too slow: the stream ends without an ERROR event, as on the real server
		return
	}
	w.wake()
}

// put appends a frame to the queue if there is room.
func (w *Watch) put(frame []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) >= queueFrames && w.size+len(frame) > queueBytes {
		return false
	}
	w.queue = append(w.queue, frame)
	w.size += len(frame)
	return true
}

// begin appends a frame of the state to the queue, which has room for all of it.
func (w *Watch) begin(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, frame)
}

func (w *Watch) concerns(key string) bool {
	if w.key != "" {
		return key == w.key
	}
	return strings.HasPrefix(key, w.prefix)
}

// item returns the item of a KV, or nil if there is none or the watch does not match it.
func (w *Watch) item(kv *mvcc.KV) *resource.Item {
	if kv != nil {
		if it := resource.ItemOf(w.def, kv); w.match == nil || w.match(it) {
			return it
		}
	}
	return nil
}

// SendState sends an ADDED event for each object of view that the watch matches, in key order. Events that are part of the state
// are not sent again later.
func (w *Watch) SendState(view *mvcc.View) {
	if w.ended { // while it waited for the cache
		return
	}
	prefix := w.prefix
	if w.key != "" {
		prefix = w.key
	}
	view.Range(prefix, "", func(kv *mvcc.KV) bool {
		if w.concerns(kv.Key) {
			if it := w.item(kv); it != nil {
				n := Notice{Type: Added, Item: w.asRead(it)}
				switch frame := w.encoder.Encode(n); {
				case frame == nil: // see offer
					w.End()
				case w.passes(n, frame):
					w.begin(frame)
				}
			}
		}
		return !w.ended && !w.stalled
	})
	w.after = view.Rev()
	w.wake()
}

// Start connects w to c. It sends the events after the revision after; events in the ring are sent at once. If the ring has dropped
// some of them, the watch fails with 410 Expired.
func (c *Cache) Start(w *Watch, after uint64) {
	if w.ended {
		return
	}
	if oldest := c.Oldest(); after < oldest {
		w.Fail(status.TooOldResourceVersion(after, oldest))
		return
	}
	w.join(c, after)
	for _, e := range c.state.since(after) {
		w.notify(&Event{Event: e.Event}, true)
	}
}

// join makes the watch one of those of the cache.
func (w *Watch) join(c *Cache, after uint64) {
	w.after, w.cache = after, c
	c.add(w)
}

func (c *Cache) add(w *Watch) { c.watches = append(c.watches, w) }

func (c *Cache) remove(w *Watch) {
	if i := slices.Index(c.watches, w); i >= 0 {
		c.watches = slices.Concat(c.watches[:i], c.watches[i+1:]) // a copy: another loop may be iterating over the slice
	}
}

// EndAll ends every watch of the cache.
func (c *Cache) EndAll() {
	for _, w := range slices.Clone(c.watches) {
		w.End()
	}
}

// Join connects w to c as Start does, for resources whose history is the store's own: events after the revision are
// read from log until they reach the cache's position.
func (c *Cache) Join(w *Watch, after uint64, log func(yield func(*mvcc.Event) bool)) {
	if w.ended {
		return
	}
	w.join(c, after)
	log(func(e *mvcc.Event) bool {
		if e.Rev <= c.Rev() {
			w.notify(&Event{Event: e}, true)
		}
		return e.Rev < c.Rev()
	})
}

// notify sends e unless it is irrelevant to the client: an object that begins to match the selectors is ADDED, one that stops
// matching is DELETED, with its last matching state. past reports that e happened before the watch.
func (w *Watch) notify(e *Event, past bool) {
	if e.Rev <= w.after || !w.concerns(e.Key) {
		return
	}
	now, before := w.item(e.KV), w.item(e.Prev)
	switch {
	case now != nil && before != nil:
		w.show(e, Notice{Type: Modified, Item: now, Before: before}, past)
	case now != nil:
		w.show(e, Notice{Type: Added, Item: now}, past)
	case before != nil:
		if e.gone == nil || !e.gone.SameCodec(before) {
			e.gone = before.At(e.Rev)
		}
		w.show(e, Notice{Type: Deleted, Item: e.gone, Before: before}, past)
	}
}

func (w *Watch) show(e *Event, n Notice, past bool) {
	if past {
		if it := w.asRead(n.Item); it != n.Item {
			n.Item = it
			w.offer(n, w.encoder.Encode(n)) // the frame is not shared
			return
		}
	}
	w.offer(n, w.frame(e, n))
}

// asRead returns an item as Options.Decorate has it.
func (w *Watch) asRead(it *resource.Item) *resource.Item {
	if w.decorate == nil {
		return it
	}
	return w.decorate(it)
}

func (w *Watch) frame(e *Event, n Notice) []byte {
	if w.encoder.Key == "" {
		return w.encoder.Encode(n)
	}
	key := frameKey{w.encoder.Key, n.Type}
	frame, ok := e.frames[key]
	if !ok {
		frame = w.encoder.Encode(n)
		if e.frames == nil {
			e.frames = map[frameKey][]byte{}
		}
		e.frames[key] = frame
	}
	return frame
}
