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

// Frame is one event in a World: a request, a response, a commit, and so on.
//
//	client/alice  ▸ http.req 1                          ▸ http.res 4
//	store                └─▶ store.commit 2   rv 4005        │ cause 1
//	replica/1                   └─▶ cache.apply 3            │
//	watch/w                            └─▶ watch.event 5     │ cause 2
type Frame struct {
	N     uint64 // number of the frame, counted from 1 without gaps
	VT    int64  // the World's time, in milliseconds since 1970
	RV    uint64 // revision of the commit or event, or else the newest revision of the store
	Lane  string // store, replica/N, watch/NAME, client/NAME, controller/NAME
	Kind  Kind
	Cause uint64 // the N of the frame that caused this one, or 0
	Op    int    // the number of the operation during which the frame was added, counted from 1; 0 before the first

	Ref     string // for http.*: the N of the http.req; for commits and events: such as "configmaps default/a"
	Text    string // a description in one line
	Verb    string // for commits and events: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; for requests: the method
	Code    int    // the status code of an http.res, an ERROR event, or a failed reconcile
	Reason  string // the reason in a Status
	Replica int    // counted from 1; 0 means none

	Exchange *Exchange // set for http.req and http.res
	Object   []byte    // the encoded event, as sent; must not be changed
}

// Exchange is a request and its response. Both are complete when Answered is set.
type Exchange struct {
	N       uint64 // the N of the http.req frame
	Client  string
	Replica int
	Method  string
	Path    string // including the query
	Header  wire.Header
	Body    []byte

	Answered  uint64 // the N of the http.res frame; 0 while the request waits
	Code      int
	Reason    string // the reason in a Status
	ResHeader wire.Header
	ResBody   []byte // as received; empty for a watch, whose events are frames
	Lost      int    // the number of bytes that did not arrive because the connection broke
	Watch     string // the name of the watch that the request started
}

// AppendJSON appends the frame as one JSON object without line breaks. Revisions are strings, because JavaScript
// numbers are not exact. Zero values are omitted, except n, vt, rv, lane and kind. Headers and bodies are also omitted.
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

// fingerprint computes the hash of all frames, including the bytes that AppendJSON omits. The hash is not
// cryptographic: it does not protect against deliberate collisions.
//
// It covers requests, commits and events. It skips the frames of reconciles, also in the numbering of the other frames,
// and treats frames in a controller's lane as frames of the store: this keeps the hashes in existing files valid.
type fingerprint struct {
	hash    hash.Hash
	line    []byte
	numbers []uint64 // the number of each frame in the fingerprint, indexed by N-1; 0 if the frame is skipped
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
