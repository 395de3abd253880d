package apiserver_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// notes is a Hook that records the calls to it and other steps of the request. At configured steps it returns an error.
type notes struct {
	told     []string
	refusing map[string]*status.Status
	watch    *watchcache.Watch // of the response
}

func (n *notes) note(what string) *status.Status {
	n.told = append(n.told, what)
	return n.refusing[what]
}

func (n *notes) Observe(e *apiserver.Exchange) apiserver.Observation {
	return observation{n, e}
}

// observation is the Observation of one request.
type observation struct {
	*notes
	e *apiserver.Exchange
}

func (n observation) Arrived() apiserver.Verdict {
	return apiserver.Verdict{Instead: n.note("arrived")}
}

func (n observation) Decided() *status.Status { return n.note("decided") }

func (n observation) Validated(object.Object, *resource.Item) *status.Status {
	return n.note("validated")
}

func (n observation) Watching(*watchcache.Watch) { n.note("watching") }

func (n observation) Pass(*watchcache.Watch, watchcache.Notice, codec.Text) bool { return true }

func (n observation) Answered(a *apiserver.Answer) apiserver.Verdict {
	what := "answered"
	if n.e.Failure != nil {
		what += " " + string(n.e.Failure.Reason)
	}
	n.note(what)
	n.watch = a.Watch
	return apiserver.Verdict{}
}

func (n observation) Sent(*apiserver.Answer) {}

func (n observation) Delay(time.Duration, func()) { n.note("delayed") }

// noted returns a trial whose server has notes as its Hook.
func noted(t *testing.T, q request) (*trial, *notes) {
	s, _ := newServer(t)
	x := trialOf(t, q, inProcess(t, s))
	n := &notes{refusing: map[string]*status.Status{}}
	s.Host = notedHost{s.Host, n}
	return x, n
}

// notedHost is a Host that returns notes as its Hook.
type notedHost struct {
	apiserver.Host
	n *notes
}

func (h notedHost) Hook() apiserver.Hook { return h.n }

func (h notedHost) Watching(*apiserver.Exchange, *watchcache.Watch) { h.n.note("server watches") }

func (h notedHost) Aggregated(path string) apiserver.Forward {
	if !strings.HasPrefix(path, "/apis/aggregated.example.com/") && path != "/apis/apps/v1" {
		return nil
	}
	return func(*apiserver.Request, resource.User) *apiserver.Answer {
		h.n.note("forwarded")
		return &apiserver.Answer{Code: wire.StatusOK, Header: wire.Header{}, Body: codec.TextOf([]byte("elsewhere"))}
	}
}

func (h notedHost) Peer(string, string, string) *apiserver.Server {
	h.n.note("peers")
	return nil
}

// change sets a field of the body that the stored object does not have.
func change(x *trial) { x.body["data"] = map[string]any{"k": "v"} }

// TestWhoIsTold checks the steps and the calls to the Hook, in order, for various requests.
func TestWhoIsTold(t *testing.T) {
	t.Parallel()
	const custom = "/apis/example.com/v1/namespaces/NAMESPACE/widgets"
	for _, c := range []struct {
		q    request
		fail func(*trial)
		want string
	}{
		{request{"GET", "configmaps/a", ""}, nil, "arrived, decided, answered"},
		{request{"GET", "configmaps/a", ""}, missing.fail, "arrived, decided, answered NotFound"},
		{request{"GET", "configmaps/a", ""}, accept.fail, "arrived, decided, answered NotAcceptable"},
		{request{"PUT", "configmaps/a", "application/json"}, change, "arrived, decided, validated, answered"},
		{request{"PUT", "configmaps/a", "application/json"}, func(*trial) {}, "arrived, decided, answered"}, // changes nothing
		{request{"PUT", "configmaps/a", "application/json"}, invalid.fail, "arrived, decided, answered Invalid"},
		{request{"WATCH", "configmaps", ""}, nil, "arrived, decided, server watches, watching, answered"},
		{request{"GET", "configmaps/a", ""}, arrival[0].fail, "arrived, answered Unauthorized"},
		{request{"GET", "configmaps/a", ""}, arrival[2].fail, "arrived, answered Forbidden"},
		{request{"GET", "configmaps/a", ""}, arrival[3].fail, "arrived, peers, answered NotFound"},
		{request{"GET", "/apis/example.com/v1/things", ""}, nil, "arrived, peers, answered"}, // a 404 in plain text
		{request{"GET", "//apis/example.com/v1/things", ""}, nil, "arrived, answered"},       // also a 404 in plain text
		{request{"GET", "/apis/batch/v1", ""}, nil, "arrived, answered"},
		{request{"GET", "/apis/apps/v1", ""}, nil, "arrived, decided, forwarded, answered"}, // the Hook decides before discovery is forwarded
		{request{"GET", "/apis/aggregated.example.com/v1/things", ""}, arrival[2].fail, "arrived, answered Forbidden"},
		{request{"GET", custom + "/a", ""}, nil, "arrived, decided, answered"},
		{request{"GET", custom + "/b", ""}, nil, "arrived, decided, answered NotFound"},
		{request{"GET", "pods/a/log", ""}, nil, "arrived, answered NotFound"}, // the Hook does not decide on streams
	} {
		x, n := noted(t, c.q)
		if c.fail != nil {
			c.fail(x)
		}
		x.send(x)
		if got := strings.Join(n.told, ", "); got != c.want {
			t.Errorf("%s %s: %s, want %s", x.method, x.path, got, c.want)
		}
	}
}

// A Hook rejects requests at its place in the order: after authentication and authorization, and before the body is decoded. It
// gets the error of a failed request.
func TestHookRefusesInOrder(t *testing.T) {
	t.Parallel()
	refuses := func(where string) (*trial, *notes) {
		x, n := noted(t, request{"PUT", "configmaps/a", "application/json"})
		change(x)
		n.refusing[where] = status.TooManyRequests(status.Overloaded, 1)
		return x, n
	}
	begun, read := append([]step{timeout}, arrival...), []step{accept, readable, invalid}
	for _, c := range []struct {
		where         string
		before, after []step
	}{
		{"arrived", begun[:3], slices.Concat(begun[3:], read)},
		{"decided", begun, read},
		{"validated", slices.Concat(begun, read), nil},
	} {
		for _, s := range c.before {
			is := is.New(t)
			x, _ := refuses(c.where)
			s.fail(x)
			is.Equal(x.send(x).code, s.code) // the step precedes the Hook
		}
		for _, s := range append(c.after, step{fail: func(*trial) {}}) {
			is := is.New(t)
			x, n := refuses(c.where)
			s.fail(x)
			a := x.send(x)
			is.Equal(a.code, 429)
			is.Equal(n.told[len(n.told)-1], "answered TooManyRequests")
			is.Equal(a.header.Get("Retry-After"), "1")
		}
	}
}

// If a Hook declares the revision of a watch too old, the watch starts and ends with an error event in the encoding that its client
// requested.
func TestHookEndsWatch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	x, n := noted(t, request{"WATCH", "configmaps", ""})
	n.refusing["decided"] = status.Expired("too old")
	x.header.Set("Accept", "application/vnd.kubernetes.protobuf;stream=watch")
	a := x.send(x)
	is.Equal(a.code, 200)
	is.Equal(a.header.Get("Content-Type"), "application/vnd.kubernetes.protobuf;stream=watch")
	is.Equal(n.told, []string{"arrived", "decided", "answered Expired"})
	frames, ended := n.watch.Take()
	is.True(ended)
	is.True(bytes.HasPrefix(frames[0].Bytes()[4:], []byte("\n\x05ERROR"))) // after the four bytes of the frame's length
}
