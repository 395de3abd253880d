// Package checker checks the answers and events that clients received from an API server against the log of its store.
//
//	the store's log   Commit 4001 ─ 4002 ─ 4003 ─ 4004 ─ 4005
//	                    │      │      │      │      │
//	a Call            list ─▶ [objects] at 4002          get ─▶ object at 4005        every request, with when it
//	a Stream                  ADDED 4003 ─ MODIFIED 4004 ─ BOOKMARK 4004 ─ …          was sent and answered
//	                    └──────────── History ───────────┘
//	                                 │ Index
//	                              Evidence ─▶ Ordered, Unique, Reliable, … ─▶ Violations
//
// Each check is a function named after the promise that it checks; Promises lists them with the promise in words. A
// violation names the promise, the stream or call and the revisions. The promises come from the API concepts
// ("Efficient detection of changes", "Resource versions"), in the words of etcd's guarantees for watches. Two more are
// kube-apiserver's own: initial events end exactly once, and a selector turns changes into ADDED and DELETED.
//
// A History consists of plain values. The simulator's History contains the store's own log. For a server whose store cannot be read,
// Rebuild makes the log from watches that received everything.
package checker

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/selector"
)

// ID names an object of a cluster.
type ID struct{ Resource, Namespace, Name string }

// Key returns namespace/name, or the name alone of an object without a namespace: lists are sorted by it.
func (id ID) Key() string {
	if id.Namespace == "" {
		return id.Name
	}
	return id.Namespace + "/" + id.Name
}

// String returns resource namespace/name.
func (id ID) String() string { return id.Resource + " " + id.Key() }

// Object is the part of an object that the checks compare.
type Object struct {
	Namespace, Name, UID string
	Rev                  uint64 // metadata.resourceVersion
	Labels               map[string]string
	Terminating          bool   // it has a deletionTimestamp
	Digest               uint64 // of everything except kind, apiVersion and resourceVersion
}

// key returns the key of the object's ID.
func (o *Object) key() string { return ID{Namespace: o.Namespace, Name: o.Name}.Key() }

// Commit is one revision of the store.
type Commit struct {
	ID
	Rev    uint64
	Object *Object // nil if it was deleted
	Step   int64   // when it happened, on the scale of Call.Called; 0 if unknown
}

// Scope is the scope of a list or a watch.
type Scope struct {
	Resource  string
	Namespace string // empty for all
	Name      string // of the one object that a field selector names; empty for all
	Selector  string // of labels
}

// Call is one request and its answer.
type Call struct {
	N      int
	Client string
	Verb   string // get, list, create, update, patch, delete, deletecollection
	ID            // of get and of writes
	Scope  Scope  // of list and deletecollection

	Version  string // the resourceVersion parameter of a read
	Match    string // resourceVersionMatch
	Limit    int
	Continue string
	Based    uint64 // resourceVersion that a write names as its precondition, 0 if there is none

	Called, Returned int64 // when it was sent and answered, in steps; Returned is 0 without an answer
	Code             int
	Reason           string // of an error's Status
	Broken           bool   // the answer did not arrive whole

	Rev     uint64    // of the list, or of the object in the answer
	Objects []*Object // of the list, or the one object
	Next    string    // continue token, of an answer or of a 410
}

// Done reports whether the call was answered and succeeded.
func (c *Call) Done() bool { return c.Returned != 0 && !c.Broken && c.Code >= 200 && c.Code < 300 }

// Unknown reports whether the answer does not show what the server did: there is no answer, it broke off, or it is a server
// error (5xx).
func (c *Call) Unknown() bool { return c.Returned == 0 || c.Broken || c.Code >= 500 }

// Write reports whether the call is a write.
func (c *Call) Write() bool { return c.Verb != "get" && c.Verb != "list" }

func (c *Call) String() string {
	if c.Name != "" {
		return fmt.Sprintf("call %d (%s: %s %s)", c.N, c.Client, c.Verb, c.ID)
	}
	return fmt.Sprintf("call %d (%s: %s %s rv=%q match=%q limit=%d)", c.N, c.Client, c.Verb, c.Scope.Resource, c.Version,
		c.Match, c.Limit)
}

// Stream is one watch.
type Stream struct {
	N         int
	Client    string
	Scope     Scope
	Version   string // the resourceVersion parameter
	Initial   bool   // initial events were requested, explicitly or by default
	Bookmarks bool
	Called    int64 // when it was asked for
	Events    []Event
	Ended     bool // the server has ended it, or the client stopped reading
}

func (s *Stream) String() string {
	return fmt.Sprintf("watch %d (%s: %s/%s %s rv=%q)", s.N, s.Client, s.Scope.Resource, s.Scope.Namespace,
		s.Scope.Selector, s.Version)
}

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Error    = "ERROR"
)

// Event is one event of a Stream.
type Event struct {
	Type       string
	Object     *Object // of ADDED, MODIFIED and DELETED
	Rev        uint64  // of the object or bookmark
	InitialEnd bool    // a bookmark with k8s.io/initial-events-end
	Code       int     // of an ERROR
	Step       int64   // when it was received
}

func (e *Event) String() string {
	if e.Object != nil {
		return fmt.Sprintf("%s %s/%s at %d", e.Type, e.Object.Namespace, e.Object.Name, e.Rev)
	}
	return fmt.Sprintf("%s at %d", e.Type, e.Rev)
}

// History is the log of a store together with the calls and streams of its clients.
type History struct {
	From    uint64   // the log begins after this revision
	Before  []Commit // the objects at that revision
	Commits []Commit // the log, in order
	Calls   []*Call
	Streams []*Stream

	// Unreadable lists the errors of answers and events that could not be parsed.
	Unreadable []string

	// Settled means that no events are pending: a stream that has not ended has delivered everything.
	Settled bool
	// Expiring are resources whose objects go away by themselves.
	Expiring []string
}

// End returns the newest revision of the log.
func (h *History) End() uint64 {
	if n := len(h.Commits); n > 0 {
		return h.Commits[n-1].Rev
	}
	return h.From
}

// Violation is a promise that was broken.
type Violation struct {
	Promise string // its name
	Text    string // the promise in words
	What    string // where it was broken: the stream or call, and the revisions
}

// Error returns all of it in one line.
func (v Violation) Error() string { return v.Promise + ": " + v.Text + ": " + v.What }

// labels parses label selectors, each once.
type labels map[string]selector.Labels

func (m labels) of(text string) selector.Labels {
	s, ok := m[text]
	if !ok {
		s, _ = selector.ParseLabels(text) // an invalid one is refused by the server, and matches everything here
		m[text] = s
	}
	return s
}
