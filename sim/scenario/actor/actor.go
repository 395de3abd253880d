// Package actor implements the clients of a scenario that act on their own.
//
//	         events                    events
//	Informer ◀── reflector    Controller ◀── reflector, one per resource     Pager ─▶ one page per step
//	                              └─ Rules ─▶ requests, one per step
//
// An actor acts in a World, which sends its requests and advances the clock; scenario.World implements it. This package
// does not depend on package scenario: the World parses the lines of rules.
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

// Actor is a client that acts on its own. As a condition.Reader, it reads from its cache.
type Actor interface {
	condition.Reader

	// Able returns an error if the actor cannot start now, for example because its resource is not served.
	Able() error
	// Start starts the actor with empty state.
	Start()
	// Crash drops the actor's caches and queues.
	Crash()
	// Step performs the next step. It returns false if there is none.
	Step() bool
	// IsIdle reports whether settling a World skips the actor, because it acts only when stepped explicitly, or never
	// needs to be stepped.
	IsIdle() bool
	// IsAsleep reports whether the actor is waiting for time to pass before it retries.
	IsAsleep() bool
	State() State
}

// State is the state of an informer, a pager or a controller.
type State struct {
	Name     string
	Kind     string // informer, pager or controller
	Resource string // for a controller: all resources that it watches
	State    string // a short description
	Synced   bool   // its caches are filled
	RV       string // the resourceVersion of its cache
	Keys     []string
	Queue    []string // for a controller: the keys that are still to be handled
}

// World is the environment of actors.
type World interface {
	// Say adds a line to the transcript.
	Say(format string, args ...any)
	// Now returns the cluster's time.
	Now() time.Time
	// After calls f after d, unless stop is called first.
	After(d time.Duration, f func()) (stop func())
	// Random returns a random number generator for the given purpose.
	Random(purpose string) *rand.Rand
	// Cause returns the frame that caused the current action.
	Cause() uint64
	// Following calls f. The frame is the cause of everything that f does.
	Following(frame uint64, f func())

	// Definition returns the definition of the resource that a word names on the replica that serves the client, or on
	// any replica if client is "".
	Definition(resource, client string) (*resource.Definition, error)
	// Scope returns the scope of a client's conditions: the store, and the time on the client's clock.
	Scope(client string) condition.Scope
	// Read creates a list request or a watch request.
	Read(Read) Request
	// Requests returns the requests of a line of rules, with default flags added. template replaces placeholders in
	// manifests.
	Requests(line, client, namespace string, template func(string) (string, error)) (Line, error)
}

// Read describes a list or a watch of a resource.
type Read struct {
	Client    string
	Resource  *resource.Definition
	Namespace string // all namespaces if empty
	Query     url.Values
	Watch     string // the name of the watch
	Phrase    string // the description in the transcript; if empty, method and path
	Sink      Sink   // receives the events of the watch
}

// Sink receives the events of a watch.
type Sink interface {
	Event(kind string, obj object.Object)
	// Closed is called when the watch ends, after the last event.
	Closed(Watch)
}

// Watch is an open watch. Two values are equal if they refer to the same watch.
type Watch interface {
	// Stop ends the watch from the client's side.
	Stop()
}

// Line holds the requests of a line of rules.
type Line struct {
	Requests []Request
	Fails    bool // the requests must fail
	May      bool // the requests may fail
}

// Request is a request that has not been sent yet.
type Request interface {
	// Send sends the request and calls done with the response.
	Send(done func(*Answer))
	// Forget discards the response, because the client has crashed.
	Forget()
}

// Answer is the response to a request.
type Answer struct {
	Code   int
	Body   object.Object // nil if the response is not JSON
	Broken bool          // the connection broke before the whole response arrived
	Query  url.Values    // the query of the request
	Watch  Watch         // the watch that the request started, or nil
}

// Key returns NAMESPACE/NAME, or NAME if the object has no namespace.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// keyOf returns the key of an object.
func keyOf(obj object.Object) string { return Key(obj.Namespace(), obj.Name()) }

// Ref returns the name of an object as used in transcripts and frames: "configmaps default/a", "deployments.apps
// default/web".
func Ref(d *resource.Definition, namespace, name string) string {
	text := d.GroupResource().String()
	if namespace != "" && name != "" {
		return text + " " + namespace + "/" + name
	}
	return strings.TrimRight(text+" "+namespace+name, " ")
}

// ShortRef shortens "configmaps default/a" to "configmaps/a". It keeps namespaces other than default.
func ShortRef(ref string) string {
	resource, key, _ := strings.Cut(ref, " ")
	return resource + "/" + strings.TrimPrefix(key, "default/")
}

// Terminating returns ", terminating" if the object is being deleted, otherwise "".
func Terminating(obj object.Object) string {
	if obj.DeletionTimestamp() != "" {
		return ", terminating"
	}
	return ""
}
