// Package actor is the clients of a scenario that act by themselves.
//
//	         events                    events
//	Informer ◀── reflector    Controller ◀── reflector, one for each resource     Pager ─▶ a page each step
//	                              └─ Rules ─▶ requests, one each step
//
// An actor acts in a World, which sends its requests and lets time pass; a scenario.World is one. Nothing here knows scenarios:
// the lines of rules are read by the World.
package actor

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// Actor is a client that acts by itself. As a condition.Reader it reads its cache.
type Actor interface {
	condition.Reader

	// Able returns why it cannot start now.
	Able() error
	// Start begins with nothing in memory.
	Start()
	// Crash drops its caches and queues.
	Crash()
	// Step takes the next step. It reports whether there was one.
	Step() bool
	// IsIdle reports whether settling a World leaves it alone, because it only works when it is stepped or works by itself.
	IsIdle() bool
	// IsAsleep reports whether it waits for time to pass before it tries again.
	IsAsleep() bool
	State() State
}

// State is the state of an informer, a pager or a controller.
type State struct {
	Name     string
	Kind     string // informer, pager or controller
	Resource string // of a controller: all resources that it watches
	State    string // a few words
	Synced   bool   // its caches have been filled
	RV       string // that its cache has
	Keys     []string
	Queue    []string // of a controller: the keys that it has yet to handle
}

// World is the environment of actors.
type World interface {
	// Say adds a line to the transcript.
	Say(format string, args ...any)
	// Now returns the cluster's time.
	Now() time.Time
	// After calls f when d has passed, unless stop is called before.
	After(d time.Duration, f func()) (stop func())
	// Random returns a generator for one purpose.
	Random(purpose string) *rand.Rand
	// Cause returns the frame that caused the current action.
	Cause() uint64
	// Following calls f with a frame as the cause of its actions.
	Following(frame uint64, f func())

	// Definition returns the definition that a word names on the replica that a client reaches, or on any if client is "".
	Definition(resource, client string) (*resource.Definition, error)
	// Scope returns the scope of a client's conditions: the store, and the time on the client's clock.
	Scope(client string) condition.Scope
	// Read returns a list, or the request for a watch.
	Read(Read) Request
	// Requests returns the requests of a line of rules, with default flags added. template fills in manifests.
	Requests(line, client, namespace string, template func(string) (string, error)) (Line, error)
}

// Read is a list, or the request for a watch, of a resource.
type Read struct {
	Client    string
	Resource  *resource.Definition
	Namespace string // empty for all
	Query     url.Values
	Watch     string // the name of the watch
	Phrase    string // its name in the transcript; if empty, method and path
	Sink      Sink   // of the watch
}

// Sink receives the events of a watch.
type Sink interface {
	Event(kind string, obj object.Object)
	// Closed is called at the end of the watch, after the last event.
	Closed(Watch)
}

// Watch is an open watch. Two values are equal if they are of the same watch.
type Watch interface {
	// Stop ends the watch from the client's side.
	Stop()
}

// Line is the requests of a line of rules.
type Line struct {
	Requests []Request
	Fails    bool // they must fail
	May      bool // they may fail
}

// Request is a request that has been made.
type Request interface {
	// Send sends it. done takes the answer.
	Send(done func(*Answer))
	// Forget drops the answer, because the client has crashed.
	Forget()
}

// Answer is the answer to a request.
type Answer struct {
	Code   int
	Body   object.Object // nil if it is not JSON
	Broken bool          // the connection broke before it had come whole
	Query  url.Values    // of its request
	Watch  Watch         // that it began; nil if there is none
}

// Key names an object within its kind.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// keyOf returns the key of an object.
func keyOf(obj object.Object) string { return Key(obj.Namespace(), obj.Name()) }

// Ref names an object for people and for frames: "configmaps default/a", "deployments.apps default/web".
func Ref(d *resource.Definition, namespace, name string) string {
	text := d.GroupResource().String()
	if namespace != "" && name != "" {
		return text + " " + namespace + "/" + name
	}
	return strings.TrimRight(text+" "+namespace+name, " ")
}

// ShortRef turns "configmaps default/a" into configmaps/a; other namespaces stay.
func ShortRef(ref string) string {
	resource, key, _ := strings.Cut(ref, " ")
	return resource + "/" + strings.TrimPrefix(key, "default/")
}

// Terminating returns the end of a line about an object that is being deleted, and otherwise "".
func Terminating(obj object.Object) string {
	if obj.DeletionTimestamp() != "" {
		return ", terminating"
	}
	return ""
}
