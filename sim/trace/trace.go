// Package trace records the requests, commits and events of a simulated cluster in order.
//
//	 n  t           site
//	41  00:00:12    request.arrived   op/v1  update pods default/a
//	42              request.decided    │                 cause 41
//	43              store.committed    │ rev 4017        cause 42   one revision
//	44              replica.applied    │ rev 4017        cause 43   a line per replica
//	45              watch.sent         │ MODIFIED        cause 43   a line per watch
//	46              request.answered  ◀┘ 200             cause 41
//
// A Trace keeps the newest records in a ring buffer and counts dropped ones. Records are plain values: keeping the end
// of a trace costs one copy per record and no allocation. With Options.Hash, it also computes two fingerprints of all
// records, including dropped ones: one of the records in order, and one of the outcome for each object, independent of
// the order (Semantic). The second is the same for equivalent runs of concurrent clients.
//
// A Log is a copy of a Trace. It can be printed as JSONL (file.go), as a timeline and as a sequence diagram.
package trace

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Site is the kind of a record.
type Site string

// The sites, in the order in which they occur for a write. Fault and Clock may occur anywhere.
const (
	RequestArrived  Site = "request.arrived"
	RequestDecided  Site = "request.decided"
	StoreCommitted  Site = "store.committed"
	ReplicaApplied  Site = "replica.applied"
	WatchSent       Site = "watch.sent"
	RequestAnswered Site = "request.answered"
	Fault           Site = "fault"
	Clock           Site = "clock"
)

// Record is one event in the cluster. Fields that do not apply to its site are empty.
type Record struct {
	N     uint64    `json:"n"` // counted from 1
	At    time.Time `json:"t"` // on the cluster's clock
	Site  Site      `json:"site"`
	Cause uint64    `json:"cause"` // the N of the record that caused this one, or 0

	Replica int    `json:"replica"` // counted from 1; 0 means none
	Client  string `json:"client"`  // the User-Agent of a request or watch
	User    string `json:"user"`
	Verb    string `json:"verb"`   // the verb of a request; ADDED, MODIFIED or DELETED for a commit, also BOOKMARK or ERROR for an event
	What    string `json:"what"`   // resource[.group][/subresource], or a path
	Key     string `json:"key"`    // namespace/name
	Rev     uint64 `json:"rv"`     // the revision of a commit, or of the object or bookmark in an event
	Code    int    `json:"code"`   // the HTTP status of a response
	Text    string `json:"text"`   // for a fault, its action; for the clock, the elapsed time; for a response, its error or its warnings
	Hint    string `json:"hint"`   // the missing rule or definition for a rejected request
	Spared  bool   `json:"spared"` // the request was sent by the test itself and is exempt from faults

	// Before and After are the stored bytes before and after a commit, or nil if there was no object. They are not part
	// of the JSON form.
	Before []byte `json:"-"`
	After  []byte `json:"-"`
}

// Options are options of a Trace.
type Options struct {
	// Keep is the number of records to keep. 0 means none.
	Keep int
	// Hash enables the fingerprints.
	Hash bool
}

// minClockRecord is the minimum advance of the clock that gets a separate record.
const minClockRecord = time.Second

// Trace records events. It is not safe for concurrent use; callers hold the cluster's lock.
type Trace struct {
	ring    []Record
	n       uint64 // the number of the newest record
	keep    int
	start   time.Time // the time of the first record
	last    time.Time
	hash    hash.Hash // nil if fingerprints are disabled
	line    []byte
	objects [2]uint64 // the sum of a hash of each commit, so that the order does not matter
	signals []chan struct{}
}

// New returns an empty Trace.
func New(o Options) *Trace {
	t := &Trace{keep: o.Keep}
	if o.Hash {
		t.hash = sha256.New()
	}
	return t
}

// Add appends a copy of r and returns its number. If at least one second has passed since the last record, it first
// adds a record for the clock.
func (t *Trace) Add(r *Record) uint64 {
	if moved := r.At.Sub(t.last); moved >= minClockRecord && t.n > 0 {
		t.add(&Record{At: r.At, Site: Clock, Text: "+" + moved.String()})
	}
	t.last = r.At
	return t.add(r)
}

func (t *Trace) add(r *Record) uint64 {
	if t.n == 0 {
		t.start = r.At
	}
	t.n++
	r.N = t.n
	switch {
	case t.keep == 0:
	case len(t.ring) < t.keep:
		t.ring = append(t.ring, *r)
	default:
		t.ring[(t.n-1)%uint64(t.keep)] = *r
	}
	if t.hash != nil {
		t.line = r.AppendJSON(t.line[:0])
		t.hash.Write(append(t.line, '\n'))
		if r.Site == StoreCommitted {
			t.count(r)
		}
	}
	for _, c := range t.signals {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	return t.n
}

// count adds the hash of a commit to t.objects. As it adds, the order of the commits does not matter.
func (t *Trace) count(r *Record) {
	h := sha256.Sum256([]byte(r.Verb + " " + r.What + " " + r.Key))
	t.objects[0] += binary.LittleEndian.Uint64(h[:])
	t.objects[1] += binary.LittleEndian.Uint64(h[8:])
}

// Reset clears all state except the followers.
func (t *Trace) Reset() {
	*t = Trace{keep: t.keep, hash: t.hash, signals: t.signals}
	if t.hash != nil {
		t.hash.Reset()
	}
}

// Len returns the number of records, including dropped ones.
func (t *Trace) Len() uint64 { return t.n }

// Hash returns the fingerprint of all records, or "" if fingerprints are disabled.
func (t *Trace) Hash() string {
	if t.hash == nil {
		return ""
	}
	return hex.EncodeToString(t.hash.Sum(nil))
}

// Since returns the kept records after number n, oldest first.
func (t *Trace) Since(n uint64) []Record {
	first := t.n - uint64(len(t.ring)) // the number before the oldest kept record
	out := make([]Record, 0, t.n-min(max(n, first), t.n))
	for i := max(n, first); i < t.n; i++ {
		out = append(out, t.ring[i%uint64(t.keep)])
	}
	return out
}

// Follow returns a channel that receives a value when there are new records, until stop is called.
func (t *Trace) Follow() (more <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	t.signals = append(t.signals, c)
	return c, func() {
		t.signals = slices.DeleteFunc(slices.Clone(t.signals), func(x chan struct{}) bool { return x == c })
	}
}

// Log returns a copy of the kept records.
func (t *Trace) Log() *Log {
	records := t.Since(0)
	l := &Log{Header: Header{Dropped: t.n - uint64(len(records)), Hash: t.Hash()}, Records: records}
	if l.Dropped > 0 {
		l.Start = t.start
	}
	return l
}

// Log is a copy of a Trace, with the data needed to repeat the run.
type Log struct {
	Header
	// Decisions are the decisions about faults, each in the JSON form that package fault parses.
	Decisions [][]byte
	Records   []Record // oldest first
}

// State is the complete state of a Trace except its followers.
type State struct {
	N       uint64    // the number of the newest record
	Start   time.Time // the time of the first record
	Last    time.Time
	Hash    []byte    // the state of the hash of all records, if there is one
	Objects [2]uint64 // the sum of all commits
	Records []Record  `json:"-"` // the kept records, oldest first
}

// State returns a copy of the Trace's state.
func (t *Trace) State() State {
	s := State{N: t.n, Start: t.start, Last: t.last, Objects: t.objects, Records: t.Since(0)}
	if t.hash != nil {
		s.Hash, _ = t.hash.(encoding.BinaryMarshaler).MarshalBinary() // this cannot fail for SHA-256
	}
	return s
}

// Load returns a Trace that continues from s. It returns an error if s is inconsistent with o.
func Load(o Options, s State) (*Trace, error) {
	t := New(o)
	t.n, t.start, t.last, t.objects = s.N, s.Start, s.Last, s.Objects
	if want := min(s.N, uint64(max(o.Keep, 0))); uint64(len(s.Records)) != want {
		return nil, fmt.Errorf("trace: %d records were saved of %d, of which %d are kept", len(s.Records), s.N, want)
	}
	t.ring = make([]Record, len(s.Records))
	for i, r := range s.Records {
		if r.N != s.N-uint64(len(s.Records))+uint64(i)+1 {
			return nil, fmt.Errorf("trace: record %d is where another one belongs", r.N)
		}
		t.ring[(r.N-1)%uint64(t.keep)] = r
	}
	if t.hash == nil {
		return t, nil
	}
	if err := t.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Hash); err != nil {
		return nil, errors.Join(errors.New("trace: the hash cannot go on"), err)
	}
	return t, nil
}

// Semantic returns a fingerprint of the outcome: how often each object was created, changed and deleted, and the
// objects that exist at the end. each must yield those objects, sorted by key. If fingerprints are disabled, the result is "".
//
// The fingerprint omits fields that differ between two runs with the same outcome: uids, revisions, creation times and managed
// fields. It includes generated names and other times in objects.
func (t *Trace) Semantic(each func(yield func(key string, obj object.Object) bool)) string {
	if t.hash == nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %x\n", t.objects[0], t.objects[1])
	each(func(key string, obj object.Object) bool {
		dropVolatile(obj)
		fmt.Fprintf(h, "%s %s\n", key, object.JSON(obj))
		return true
	})
	return hex.EncodeToString(h.Sum(nil))
}

// dropVolatile removes the fields of obj that depend on the time and the order of writes.
func dropVolatile(obj object.Object) {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, name)
	}
	owners, _ := meta["ownerReferences"].([]any)
	for _, owner := range owners {
		if m, ok := owner.(map[string]any); ok {
			delete(m, "uid")
		}
	}
}
