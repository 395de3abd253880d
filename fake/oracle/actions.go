package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/trace"
)

// actionsMax is the maximum number of requests recorded.
const actionsMax = 100_000

// Action is a request for a resource and its outcome.
type Action struct {
	At          time.Time // the time of the response
	Client      string    // the User-Agent
	User        string
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Resource    string // such as deployments.apps
	Subresource string
	Namespace   string
	Name        string // including generated names of created objects
	Code        int    // the HTTP status code of the response
	Message     string // the error message, if any
}

// Actions are requests, in the order of their responses.
type Actions []Action

// String returns the request as one line, such as create deployments.apps default/web 201.
func (a Action) String() string {
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	words := []string{a.Verb, resource, trace.Key(a.Namespace, a.Name), fmt.Sprint(a.Code)}
	line := strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
	if a.Message != "" {
		line += ": " + a.Message
	}
	return line
}

// String returns one line per request.
func (all Actions) String() string {
	var b strings.Builder
	for _, a := range all {
		b.WriteString(a.String() + "\n")
	}
	return b.String()
}

// Of returns the actions with one of the given verbs.
func (all Actions) Of(verbs ...string) (some Actions) {
	for _, a := range all {
		if slices.Contains(verbs, a.Verb) {
			some = append(some, a)
		}
	}
	return some
}

// Writes returns the write requests.
func (all Actions) Writes() Actions {
	return all.Of("create", "update", "patch", "delete", "deletecollection")
}

// recordedRequest is a recorded request. Most requests have the same shape as an earlier one.
type recordedRequest struct {
	at           int64 // in nanoseconds since 1970
	shape        unique.Handle[shape]
	code         int32
	key, message string
}

// shape contains the values that many requests of a client for a resource have in common.
type shape struct{ client, user, verb, resource, subresource, namespace string }

// take records a request.
func (w *Observer) take(at time.Time, r *observe.Reply) {
	if r.Resource == "" || len(w.actions) >= actionsMax {
		return
	}
	w.actions = append(w.actions, recordedRequest{at.UnixNano(), unique.Make(shape{r.UserAgent, r.User.Name, r.Verb, trace.What(r.Group, r.Resource, "", ""),
		r.Subresource, r.Namespace}), int32(r.Code), r.Key, r.Message})
}

// action converts the record to an Action.
func (t *recordedRequest) action() Action {
	s := t.shape.Value()
	namespace, name, ok := strings.Cut(t.key, "/")
	if !ok {
		if namespace, name = s.namespace, t.key; name == namespace {
			name = ""
		}
	}
	return Action{At: time.Unix(0, t.at).UTC(), Client: s.client, User: s.user, Verb: s.verb, Resource: s.resource,
		Subresource: s.subresource, Namespace: namespace, Name: name, Code: int(t.code), Message: t.message}
}

// Actions returns the requests of clients whose User-Agent begins with a prefix, like client-go's fake clientset. The
// result contains requests for resources, in the order of their responses. A server of RunT records all requests; any
// other Server starts recording at the first call to Actions, Never or another oracle. If there were more than a
// hundred thousand requests, the test fails.
//
//	is.Equal(srv.Actions("operator").Writes().String(), "create deployments.apps default/web 201\n")
func (o *Oracles) Actions(userAgent string) (some Actions) {
	w := o.observer.begun()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.actions) >= actionsMax && w.test != nil {
		Errorf(w.test)("kubesim: Actions: there were more than %d requests", actionsMax)
	}
	for i := range w.actions {
		if strings.HasPrefix(w.actions[i].shape.Value().client, userAgent) {
			some = append(some, w.actions[i].action())
		}
	}
	return some
}
