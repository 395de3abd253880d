package watchcache

import (
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim/codec"
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
	// queueFrames and queueBytes limit the queue of a watch. If its client leaves more events than queueFrames and more bytes
	// than queueBytes unread, the watch is ended (channel sizes of kube-apiserver's cacher).
	queueFrames = 1000
	queueBytes  = 1 << 20
)

// Event is a commit that is being sent to the watches of a cache. The watches share its encoded frames. It is dropped
// afterwards: the history only keeps the stored form.
type Event struct {
	*mvcc.Event
	frames map[frameKey]codec.Text
	gone   *resource.Item
}

// frameKey identifies an encoded form of an event: watches with the same key get the same bytes.
type frameKey struct{ encoding, eventType string }

// Notice is an event before encoding: its type and its object.
type Notice struct {
	Type   string
	Item   *resource.Item // the object of ADDED, MODIFIED and DELETED
	Rev    uint64         // the revision of BOOKMARK
	Ended  bool           // for BOOKMARK: all initial events have been sent
	Status *status.Status // the error of ERROR

	Before *resource.Item // the previous state that the client has seen, for MODIFIED and DELETED
}

// Encoder encodes notices as frames of the stream.
type Encoder struct {
	// Key identifies the encoding. Events are encoded once per key. If it is empty, the frames of this watch are not shared.
	Key    string
	Encode func(Notice) codec.Text
}

// Watch is a client's watch on a cache. Frames wait in its queue until the connection takes them.
type Watch struct {
	prefix   string // prefix of the keys that it covers
	key      string // the only key that it covers, or "" if prefix is used
	selects  bool   // it only covers objects whose indexed field equals value
	value    string
	number   uint64 // the number of watches that joined the cache earlier
	def      *resource.Definition
	match    func(*resource.Item) bool
	decorate func(*resource.Item) *resource.Item
	encoder  Encoder

	after     uint64 // revisions up to this one are not sent: they are part of the initial state, or in the future
	bookmarks bool

	mu     sync.Mutex // guards writes to the fields down to broken, so that Take needs no other lock
	queue  []codec.Text
	size   int // total size of the frames in queue, in bytes
	ended  bool
	held   bool // frames are not sent to the client
	broken bool

	signal chan struct{}
	cache  *Cache

	stops   [timers]func() // functions that cancel the timers that have been set
	gate    Gate
	stalled bool
}

// Gate decides which frames a watch sends.
type Gate interface {
	// Pass is called before a frame is queued and reports whether it may be. If it returns false, the gate may Deliver the frame
	// later.
	Pass(w *Watch, n Notice, frame codec.Text) bool
	// Ended is called when the stream has ended. Frames may still be queued.
	Ended(w *Watch)
}

// Options configures a Watch.
type Options struct {
	Definition *resource.Definition
	Prefix     string                    // prefix of the keys; if empty, Key is used
	Key        string                    // the only key that the watch covers, if Prefix is empty
	Value      *string                   // the value that Match requires of Definition's indexed field; nil if Match requires none
	Match      func(*resource.Item) bool // if nil, everything matches
	Encoder    Encoder
	Bookmarks  bool // the client allows bookmarks
	Gate       Gate // if nil, every frame passes

	// Decorate returns the decorated form of an object. As in a read, the initial state and events from before the watch
	// contain this form. Later events contain the stored form, because the real server's cache forwards them without
	// decoration. If Decorate is nil, both forms are the same.
	Decorate func(*resource.Item) *resource.Item
}

// NewWatch returns a watch that is not yet connected to a cache. Call Fail, or SendState and Start, to begin it.
func NewWatch(o Options) *Watch {
	w := &Watch{prefix: o.Prefix, key: o.Key, def: o.Definition, match: o.Match, decorate: o.Decorate, encoder: o.Encoder,
		bookmarks: o.Bookmarks, gate: o.Gate, signal: make(chan struct{}, 1)}
	if o.Value != nil {
		w.selects, w.value = true, *o.Value
	}
	return w
}

// Ready returns a channel that is signalled when Take has new frames or the stream has ended.
func (w *Watch) Ready() <-chan struct{} { return w.signal }

// Take returns the waiting frames, and whether the stream ends after them. The caller need not hold a lock, so that thousands
// of connections do not wait for each other when they are notified of a commit.
func (w *Watch) Take() (frames []codec.Text, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held {
		return nil, false
	}
	frames, w.queue, w.size = w.queue, nil, 0
	return frames, w.ended
}

// End ends the stream after the frames that are already queued. If it has already ended, End does nothing.
func (w *Watch) End() {
	if w.ended {
		return
	}
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	if w.cache != nil {
		w.cache.watches.remove(w)
	}
	for _, stop := range w.stops {
		if stop != nil {
			stop()
		}
	}
	if w.gate != nil {
		w.gate.Ended(w)
	}
	w.wake()
}

// Ended reports whether the stream has ended. Frames may still be queued.
func (w *Watch) Ended() bool { return w.ended }

// Fail sends s as the only event of the stream and ends it.
func (w *Watch) Fail(s *status.Status) {
	n := Notice{Type: Error, Status: s}
	w.offer(n, w.encoder.Encode(n))
	w.End()
}

// Bookmark sends a bookmark if the client allows them. A bookmark states that all events up to the cache's revision have been sent.
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

// Stall keeps the stream open but silent, like a broken connection that neither side has noticed. Afterwards no frames are sent,
// and only End ends the stream.
func (w *Watch) Stall() { w.stalled = true }

// offer sends frame, the encoded form of n, if the gate lets it pass. If frame is nil because n cannot be encoded in this stream,
// offer ends the stream.
func (w *Watch) offer(n Notice, frame codec.Text) {
	if frame == nil {
		w.End()
		return
	}
	if w.passes(n, frame) {
		w.Deliver(frame)
	}
}

// passes asks the gate whether a frame may be sent now. Without a gate, every frame may.
func (w *Watch) passes(n Notice, frame codec.Text) bool {
	return w.gate == nil || w.gate.Pass(w, n, frame)
}

// Deliver appends a frame to the queue without asking the gate. If the queue is full, it ends the stream.
func (w *Watch) Deliver(frame codec.Text) {
	if w.ended || w.stalled {
		return
	}
	if !w.put(frame) {
		w.End() // the client is too slow; as on the real server, the stream ends without an ERROR event
		return
	}
	w.wake()
}

// put appends a frame to the queue. It returns false if the queue is full.
func (w *Watch) put(frame codec.Text) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := frame.Len()
	if len(w.queue) >= queueFrames && w.size+size > queueBytes {
		return false
	}
	w.queue = append(w.queue, frame)
	w.size += size
	return true
}

// begin appends a frame of the initial state to the queue. The limits of the queue do not apply to the initial state.
func (w *Watch) begin(frame codec.Text) {
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

// item returns the item of a KV. It returns nil if kv is nil or the watch does not match the object.
func (w *Watch) item(kv *mvcc.KV) *resource.Item {
	if kv != nil {
		if it := resource.ItemOf(w.def, kv); w.match == nil || w.match(it) {
			return it
		}
	}
	return nil
}

// SendState sends an ADDED event for each matching object in the state of a cache, in key order. Events that are part of this
// state are not sent again later.
func (w *Watch) SendState(c *Cache) {
	if w.ended { // it may have ended while it waited for the cache
		return
	}
	view := c.View().Made()
	switch {
	case w.key != "":
		if kv := view.Get(w.key); kv != nil {
			w.sendState(kv)
		}
	case w.selects:
		c.Select(w.def, w.value, w.prefix, w.sendState)
	default:
		view.Range(w.prefix, "", w.sendState)
	}
	w.after = view.Rev()
	w.wake()
}

// sendState sends an object of the initial state if the watch matches it. It returns false if the stream has ended or stalled, so
// that no more objects need to be sent.
func (w *Watch) sendState(kv *mvcc.KV) bool {
	if it := w.item(kv); it != nil {
		n := Notice{Type: Added, Item: w.asRead(it)}
		switch frame := w.encoder.Encode(n); {
		case frame == nil: // the object cannot be encoded: see offer
			w.End()
		case w.passes(n, frame):
			w.begin(frame)
		}
	}
	return !w.ended && !w.stalled
}

// Start connects w to c, and sends the events of the revisions greater than after: those in the ring at once, and later ones as they
// occur. If the ring no longer has all of them, the watch fails with 410 Expired.
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

// join adds the watch to the cache. It will be notified of the commits with revisions greater than after.
func (w *Watch) join(c *Cache, after uint64) {
	w.after, w.cache, w.number = after, c, c.watches.joined
	c.watches.add(w)
}

// EndAll ends all watches of the cache.
func (c *Cache) EndAll() {
	for _, w := range c.watches.all() {
		w.End()
	}
}

// Join connects w to c as Start does, but reads past events from log instead of the ring, up to the cache's position. It is for
// resources whose history is that of the store.
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

// notify sends e if the watch covers its key and matches its object. An object that starts to match the selectors is sent as ADDED.
// One that stops matching is sent as DELETED, with its last matching state. past reports that e occurred before the watch.
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

// asRead returns the item in the form that a read returns (Options.Decorate).
func (w *Watch) asRead(it *resource.Item) *resource.Item {
	if w.decorate == nil {
		return it
	}
	return w.decorate(it)
}

func (w *Watch) frame(e *Event, n Notice) codec.Text {
	if w.encoder.Key == "" {
		return w.encoder.Encode(n)
	}
	key := frameKey{w.encoder.Key, n.Type}
	frame, ok := e.frames[key]
	if !ok {
		frame = w.encoder.Encode(n)
		if e.frames == nil {
			e.frames = map[frameKey]codec.Text{}
		}
		e.frames[key] = frame
	}
	return frame
}
