package etcd

import (
	"errors"
	"strings"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// Store contains keys and their history. Revisions are those of etcd.
type Store interface {
	// Do calls f with exclusive access to the store. f must not keep its argument.
	Do(f func(Tx) error) error
	// Changed returns a channel that is closed after the next commit.
	Changed() <-chan struct{}
}

// Tx reads and writes a Store.
type Tx interface {
	// Rev returns the current revision, and Compacted the oldest one that can be read.
	Rev() uint64
	Compacted() uint64
	// Range returns the keys in a range at a revision (0 is the current one), sorted. The revision must not be compacted or in the
	// future.
	Range(r Range, rev uint64) ([]KV, error)
	// Events calls yield with the commits of keys in a range from a revision on, until yield returns false. The revision must not be
	// compacted.
	Events(r Range, from uint64, yield func(Event) bool) error
	// Put writes a key, and Delete removes one. Each is one commit.
	Put(key string, value []byte) error
	Delete(key string) error
	// Compact discards the history before a revision.
	Compact(rev uint64) error
}

// KV is a key with the value of one write.
type KV struct {
	Key         string
	Create, Mod uint64 // revisions
	Version     uint64 // see mvcc.KV
	Lease       int64

	value value
}

// value is the value of a key. It is encoded when it is read.
type value interface{ bytes() ([]byte, error) }

// Value returns the value. It encodes the object of an API server.
func (kv *KV) Value() ([]byte, error) { return kv.value.bytes() }

// newKV returns the KV of a write.
func newKV(key string, kv *mvcc.KV, v value) *KV {
	return &KV{Key: key, Create: kv.CreateRev, Mod: kv.ModRev, Version: max(kv.Version, 1), value: v}
}

// Event is one commit.
type Event struct {
	Rev       uint64
	Now, Prev *KV // nil for a delete, and for a create
}

// key returns the key of the commit.
func (e *Event) key() string {
	if e.Now == nil {
		return e.Prev.Key
	}
	return e.Now.Key
}

// Range is a range of keys, as etcd's requests have it:
//
//	key                  that key
//	key, end             all keys k with key <= k < end
//	key, "\x00"          all keys from key on
type Range struct{ Key, End string }

// contains reports whether a key is in the range.
func (r Range) contains(key string) bool {
	switch r.End {
	case "":
		return key == r.Key
	case "\x00":
		return key >= r.Key
	}
	return key >= r.Key && key < r.End
}

// Overlaps reports whether the range may contain keys that begin with a prefix.
func (r Range) Overlaps(prefix string) bool {
	if r.End == "" {
		return strings.HasPrefix(r.Key, prefix)
	}
	end := prefixEnd(prefix)
	return (end == "\x00" || r.Key < end) && (r.End == "\x00" || prefix < r.End)
}

// Covers reports whether the range contains all keys that begin with a prefix.
func (r Range) Covers(prefix string) bool {
	end := prefixEnd(prefix)
	return r.End != "" && r.Key <= prefix && (r.End == "\x00" || end != "\x00" && end <= r.End)
}

// prefixEnd returns the end of the range of the keys that begin with a prefix.
func prefixEnd(prefix string) string {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return string(end[:i+1])
		}
	}
	return "\x00"
}

// statusOf returns the status of gRPC for an error of a Tx.
func statusOf(err error) error {
	switch {
	case errors.Is(err, mvcc.ErrCompacted):
		return errCompacted
	case errors.Is(err, mvcc.ErrFutureRevision):
		return errFuture
	}
	return err
}

// eventsFrom calls yield with the commits from a revision on, until yield returns false. It returns mvcc.ErrCompacted if the revision is
// compacted.
func eventsFrom(s *mvcc.Store, from uint64, yield func(*mvcc.Event) bool) error {
	if from < s.Compacted() {
		return mvcc.ErrCompacted
	}
	return s.Events(from-1, yield)
}
