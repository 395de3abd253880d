package scenario

import (
	"encoding/hex"
	"hash"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// Kind is the kind of a Frame.
type Kind string

// The kinds of frames.
const (
	HTTPRequest   Kind = "http.req"
	HTTPResponse  Kind = "http.res"
	StoreCommit   Kind = "store.commit"
	StoreCompact  Kind = "store.compact"
	CacheApply    Kind = "cache.apply"
	Reconciled    Kind = "reconcile"
	WatchEvent    Kind = "watch.event"
	WatchBookmark Kind = "watch.bookmark"
	WatchClose    Kind = "watch.close"
	ClockTick     Kind = "clock.tick"
	FaultHappened Kind = "fault"
	CheckPass     Kind = "check.pass"
	CheckFail     Kind = "check.fail"
)

// Frame is one thing that happened in a World.
//
//	client/alice  ▸ http.req 1                          ▸ http.res 4
//	store                └─▶ store.commit 2   rv 4005        │ cause 1
//	replica/1                   └─▶ cache.apply 3            │
//	watch/w                            └─▶ watch.event 5     │ cause 2
type Frame struct {
	N     uint64 // counted from 1, without gaps
	VT    int64  // the World's time in milliseconds since 1970
	RV    uint64 // the revision that it is about, or the store's newest one
	Lane  string // store, replica/N, watch/NAME, client/NAME, controller/NAME
	Kind  Kind
	Cause uint64 // the N of the frame that led to this one, or 0
	Op    int    // the number of the operation during which it happened, counted from 1; 0 before the first

	Ref     string // of http.*: the N of the http.req; of commits and events: "configmaps default/a"
	Text    string // for people, one line
	Verb    string // of commits and events: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; of requests: the method
	Code    int    // of http.res: the status; of an ERROR event, or a reconcile that failed: that of its Status
	Reason  string // of a Status
	Replica int    // counted from 1; 0 means none

	Exchange *Exchange // of http.req and http.res
	Object   []byte    // of an event: its bytes on the wire, shared by all readers
}

// Exchange is a request and its answer. Both are complete when Answered is set.
type Exchange struct {
	N       uint64 // of its http.req frame
	Client  string
	Replica int
	Method  string
	Path    string // with the query
	Header  wire.Header
	Body    []byte

	Answered  uint64 // N of its http.res frame; 0 while it waits
	Code      int
	Reason    string // of a Status
	ResHeader wire.Header
	ResBody   []byte // as it arrived; empty for a watch, whose events are frames
	Lost      int    // bytes that did not arrive: the connection broke
	Watch     string // the name of the watch that it began
}

// AppendJSON appends the frame as one JSON object without line breaks. Revisions are strings, because numbers in JavaScript are not
// exact. Zero values are omitted, except n, vt, rv, lane and kind. Headers and bodies are omitted, too.
func (f *Frame) AppendJSON(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"n":`...), f.N, 10)
	b = strconv.AppendInt(append(b, `,"vt":`...), f.VT, 10)
	b = strconv.AppendUint(append(b, `,"rv":"`...), f.RV, 10)
	b = object.AppendString(append(b, `","lane":`...), f.Lane)
	b = object.AppendString(append(b, `,"kind":`...), string(f.Kind))
	b = object.AppendCount(b, "cause", f.Cause)
	b = object.AppendCount(b, "op", uint64(f.Op))
	b = object.AppendMember(b, "ref", f.Ref)
	b = object.AppendMember(b, "text", f.Text)
	b = object.AppendMember(b, "verb", f.Verb)
	b = object.AppendCount(b, "code", uint64(f.Code))
	b = object.AppendMember(b, "reason", f.Reason)
	b = object.AppendCount(b, "replica", uint64(f.Replica))
	return append(b, '}')
}

// MarshalJSON returns the result of AppendJSON.
func (f Frame) MarshalJSON() ([]byte, error) { return f.AppendJSON(nil), nil }

// fingerprint is the hash of all frames, including the bytes that AppendJSON omits. The hash is not cryptographic: it does not protect
// against runs that were made to collide.
//
// It covers requests, commits and events. So that hashes in existing files stay valid, it skips the frames of reconciles, also in the
// numbering of the other frames, and counts frames in the lane of a controller as frames of the store.
type fingerprint struct {
	hash    hash.Hash
	line    []byte
	numbers []uint64 // number of each frame in the fingerprint, by N-1; 0 if it is skipped
	last    uint64
}

func newFingerprint() *fingerprint { return &fingerprint{hash: fnv.New128a()} }

func (p *fingerprint) add(frame *Frame) {
	if frame.Kind == Reconciled {
		p.numbers = append(p.numbers, 0)
		return
	}
	p.last++
	p.numbers = append(p.numbers, p.last)
	f := *frame
	f.N, f.Cause = p.last, p.number(f.Cause)
	if f.Exchange != nil {
		f.Ref = strconv.FormatUint(p.number(f.Exchange.N), 10)
	}
	if strings.HasPrefix(f.Lane, laneOf("")) {
		f.Lane = "store"
	}
	p.line = append(f.AppendJSON(p.line[:0]), '\n')
	switch x := f.Exchange; {
	case x == nil:
		p.line = append(p.line, f.Object...)
	case f.Kind == HTTPRequest:
		p.line = append(append(appendHeader(p.line, x.Header), x.Method...), x.Path...)
		p.line = append(p.line, x.Body...)
	default:
		p.line = append(appendHeader(p.line, x.ResHeader), x.ResBody...)
	}
	p.hash.Write(p.line)
}

// number returns the number of frame n in the fingerprint, or 0 if the frame is skipped or n is 0.
func (p *fingerprint) number(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return p.numbers[n-1]
}

func appendHeader(b []byte, header wire.Header) []byte {
	for _, name := range object.SortedKeys(header) {
		for _, value := range header[name] {
			b = append(append(append(append(b, name...), ':'), value...), '\n')
		}
	}
	return b
}

func (p *fingerprint) text() string { return hex.EncodeToString(p.hash.Sum(nil)) }
