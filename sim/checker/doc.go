// Package checker checks the responses and events that clients have received from an API server against the log of its
// store.
//
//	the store's log   Commit 4001 ─ 4002 ─ 4003 ─ 4004 ─ 4005
//	                    │      │      │      │      │
//	a Call            list ─▶ [objects] at 4002          get ─▶ object at 4005        every request, with the time
//	a Stream                  ADDED 4003 ─ MODIFIED 4004 ─ BOOKMARK 4004 ─ …          of the request and the response
//	                    └──────────── History ───────────┘
//	                                 │ Index
//	                              Evidence ─▶ Ordered, Unique, Reliable, … ─▶ Violations
//
// Each check is a function with the name of the promise that it checks; Promises lists all promises with their
// descriptions. A violation contains the promise, the stream or call, and the revisions. The promises come from the API
// concepts ("Efficient detection of changes", "Resource versions") and are worded like etcd's guarantees for watches.
// Two additional promises are specific to kube-apiserver: initial events end exactly once, and a selector turns changes
// into ADDED and DELETED.
//
// A History consists of plain values. The simulator's History contains the log of the store. For a server whose store
// cannot be read, Rebuild reconstructs the log from watches that received all events.
package checker

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/selector"
)

// ID identifies an object of a cluster.
type ID struct{ Resource, Namespace, Name string }

// Key returns namespace/name, or the name if the object has no namespace. Lists are sorted by key.
func (id ID) Key() string {
	if id.Namespace == "" {
		return id.Name
	}
	return id.Namespace + "/" + id.Name
}

// String returns "resource namespace/name".
func (id ID) String() string { return id.Resource + " " + id.Key() }

// Object contains the fields of an object that the checks compare.
type Object struct {
	Namespace, Name, UID string
	Rev                  uint64 // metadata.resourceVersion
	Labels               map[string]string
	Terminating          bool   // it has a deletionTimestamp
	Digest               uint64 // a digest of everything except kind, apiVersion and resourceVersion
}

// key returns the key of the object's ID.
func (o *Object) key() string { return ID{Namespace: o.Namespace, Name: o.Name}.Key() }

// Commit is one revision of the store.
type Commit struct {
	ID
	Rev    uint64
	Object *Object // nil if the object was deleted
	Step   int64   // the step of the commit, on the scale of Call.Called; 0 if unknown
}

// Scope is the scope of a list or a watch.
type Scope struct {
	Resource  string
	Namespace string // all namespaces if empty
	Name      string // the name in a field selector; all names if empty
	Selector  string // a label selector
}

// Call is one request and its response.
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
	Based    uint64 // the resourceVersion that a write requires, or 0

	Called, Returned int64 // the steps of the request and of the response; Returned is 0 without a response
	Code             int
	Reason           string // the reason in the Status of an error
	Broken           bool   // the response did not arrive completely

	Rev     uint64    // the revision of the list or of the object in the response
	Objects []*Object // the items of the list, or the single object
	Next    string    // the continue token in the response, which may be a 410
}

// Done reports whether the call got a successful response.
func (c *Call) Done() bool { return c.Returned != 0 && !c.Broken && c.Code >= 200 && c.Code < 300 }

// Unknown reports whether a client cannot know if the server has executed the call: there is no response, it is
// incomplete, or it is a server error (5xx).
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
	Called    int64 // the step of the request
	Events    []Event
	Ended     bool // the server has ended it, or the client has stopped reading
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

// Event is a watch event that a client has received in a Stream.
type Event struct {
	Type       string
	Object     *Object // for ADDED, MODIFIED and DELETED
	Rev        uint64  // the revision of the object or bookmark
	InitialEnd bool    // a bookmark with the annotation k8s.io/initial-events-end
	Code       int     // the status code of an ERROR
	Step       int64   // the step at which it was received
}

func (e *Event) String() string {
	if e.Object != nil {
		return fmt.Sprintf("%s %s/%s at %d", e.Type, e.Object.Namespace, e.Object.Name, e.Rev)
	}
	return fmt.Sprintf("%s at %d", e.Type, e.Rev)
}

// History contains the log of a store, and the calls and streams of its clients.
type History struct {
	From    uint64   // the log begins after this revision
	Before  []Commit // the objects at that revision
	Commits []Commit // the log, in order
	Calls   []*Call
	Streams []*Stream

	// Unreadable contains the errors for responses and events that could not be parsed.
	Unreadable []string

	// Settled means that no events are pending: each stream that has not ended has delivered all events.
	Settled bool
	// Expiring are resources whose objects expire.
	Expiring []string
}

// End returns the newest revision of the log.
func (h *History) End() uint64 {
	if n := len(h.Commits); n > 0 {
		return h.Commits[n-1].Rev
	}
	return h.From
}

// Violation describes a broken promise.
type Violation struct {
	Promise string // the name of the promise
	Text    string // the description of the promise
	What    string // the violation: the stream or call, and the revisions
}

// Error implements error. It returns the violation in one line.
func (v Violation) Error() string { return v.Promise + ": " + v.Text + ": " + v.What }

// labels caches parsed label selectors.
type labels map[string]selector.Labels

func (m labels) of(text string) selector.Labels {
	s, ok := m[text]
	if !ok {
		s, _ = selector.ParseLabels(text) // the server rejects an invalid selector; here it matches all objects
		m[text] = s
	}
	return s
}
