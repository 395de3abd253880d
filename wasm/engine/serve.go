package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	faults "github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
	"github.com/kubesim/kubesim/sim/wire"
)

// backend is a cluster for a program that sends its own requests, such as a test. Unlike the world of a page it has no log, no
// frames and no undo, so it can run as long as the program does.
//
//	request {id, method, target, …} ─▶ apiserver.Start ─▶ exchange ─▶ {kind: "response", request: id, code, …}
//	advance, settle ─▶ clock                                 │         {kind: "data", request: id, body}    any number
//	cancel {request} ────────────────────────────────────────┘         {kind: "end", request: id}           once, last
//
// The response to a request that has to wait follows a later message, for example one that advances the clock.
type backend struct {
	cluster   *sim.Cluster
	clock     *clock.Manual
	exchanges []*exchange // exchanges that have not ended, oldest first
}

// exchange is a request and the state of its response.
type exchange struct {
	id     int64
	api    *apiserver.Server
	answer *apiserver.Answer // nil while the request waits
	sent   bool              // the head of the response was sent
	cancel context.CancelFunc
	gone   bool // the client no longer waits for the response
}

// calling contains the fields of a request that concern a backend.
type calling struct {
	Cluster json.RawMessage `json:"cluster"` // JSON of a config.Cluster
	Now     int64           `json:"now"`     // milliseconds since 1970; the default is clock.Epoch

	Method   string      `json:"method"`
	Target   string      `json:"target"` // path and query
	Headers  [][2]string `json:"headers"`
	Body     string      `json:"body"`
	Encoding string      `json:"encoding"` // encoding of Body: base64, or "" for text
	Request  int64       `json:"request"`  // ID of the request to cancel

	By     string `json:"by"`     // duration by which to advance the clock
	Faults string `json:"faults"` // faults to add, or "clear" or "release"
}

// onBackend returns a handler that calls do with the backend. It fails if there is none.
func onBackend(do func(*backend, *request) (fields, error)) func(*Engine, *request) (fields, error) {
	return func(e *Engine, q *request) (fields, error) {
		if e.backend == nil {
			return nil, failed("there is no server: send serve first")
		}
		return do(e.backend, q)
	}
}

// serve starts a backend, which replaces the previous one.
func (e *Engine) serve(q *request) (fields, error) {
	var o config.Cluster
	if len(q.Cluster) > 0 {
		options := json.NewDecoder(bytes.NewReader(q.Cluster))
		options.DisallowUnknownFields()
		if err := options.Decode(&o); err != nil {
			return nil, failed("the options of the cluster: %s", strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	if o.WriteGap != 0 {
		return nil, failed("the options of the cluster: leave out WriteGap: a request would wait for time that only the next message lets pass")
	}
	var versions []string
	for _, r := range o.Replicas {
		versions = append(versions, r.Version)
	}
	if needs := needed(versions); needs != "" {
		return nil, notLoaded(needs)
	}
	start := clock.Epoch()
	if q.Now != 0 {
		start = time.UnixMilli(q.Now).UTC()
	}
	s := &backend{clock: clock.NewManual(start)}
	o.Clock = s.clock
	c, err := sim.New(o)
	if err != nil {
		return nil, err
	}
	s.cluster, e.backend = c, s
	out := about()
	out["time"] = s.time()
	return out, nil
}

// time returns the clock's time and the number of milliseconds until the next timer fires.
func (s *backend) time() fields {
	now := s.clock.Now()
	out := fields{"now": now.UnixMilli()}
	if next, ok := s.clock.Next(); ok {
		out["next"] = max(0, (next.Sub(now)+time.Millisecond-1)/time.Millisecond)
	}
	return out
}

// request sends a request to the API server to which its User-Agent is routed.
func (s *backend) request(q *request) (fields, error) {
	target, err := url.ParseRequestURI(q.Target)
	if err != nil {
		return nil, failed("the target of a request is a path, such as /api/v1/namespaces?limit=5: %v", err)
	}
	body := []byte(q.Body)
	if q.Encoding == "base64" {
		if body, err = base64.StdEncoding.DecodeString(q.Body); err != nil {
			return nil, failed("the body of the request is not base64: %v", err)
		}
	}
	header := wire.Header{}
	for _, h := range q.Headers {
		header.Add(h[0], h[1])
	}
	header.Del("Accept-Encoding") // responses are not compressed within the process
	ctx, cancel := context.WithCancel(context.Background())
	x := &exchange{id: q.ID, api: s.cluster.APIServerFor(header.Get("User-Agent")), cancel: cancel}
	sent := &apiserver.Request{Method: q.Method, Path: target.Path, Target: q.Target, Query: target.Query(), Header: header, Context: ctx}
	if q.Method != wire.MethodGet && q.Method != wire.MethodHead {
		sent.ReadBody(bytes.NewReader(body), int64(len(body)))
	}
	err = x.api.Start(sent, func(a *apiserver.Answer) {
		if x.gone {
			a.Drop()
			return
		}
		if a.Session != nil && a.Session.Upgrade {
			a.Settle()
		}
		x.answer = a
	})
	if err != nil {
		cancel()
		return nil, failed("the API server panicked, and the connection would be closed: %v", err)
	}
	s.exchanges = append(s.exchanges, x)
	return nil, nil
}

// cancel ends a request whose client no longer waits for the response or does not read the rest of it.
func (s *backend) cancel(q *request) (fields, error) {
	i := slices.IndexFunc(s.exchanges, func(x *exchange) bool { return x.id == q.Request })
	if i < 0 { // it has already ended
		return nil, nil
	}
	x := s.exchanges[i]
	s.exchanges = slices.Delete(s.exchanges, i, i+1)
	x.cancel()
	x.api.Lock.Lock()
	defer x.api.Lock.Unlock()
	if x.gone = true; x.answer != nil {
		x.answer.Drop()
	}
	return nil, nil
}

// advance moves the clock and fires the timers that become due, each at its own time and in order.
func (s *backend) advance(q *request) (fields, error) {
	d, err := time.ParseDuration(q.By)
	if err != nil || d < 0 {
		return nil, failed("the clock advances by a duration such as 1.5s, 5m or 2h, not %q", q.By)
	}
	until := s.clock.Now().Add(d)
	for next, ok := s.clock.Next(); ok && !next.After(until); next, ok = s.clock.Next() {
		s.clock.AdvanceTo(next)
		s.cluster.Revision() // runs the controllers that have become due
	}
	s.clock.AdvanceTo(until)
	s.cluster.Revision()
	return fields{"time": s.time()}, nil
}

// settle lets controllers run, and advances the clock, until no work remains.
func (s *backend) settle(*request) (fields, error) {
	if err := s.cluster.Settle(context.Background()); err != nil {
		return nil, err
	}
	return fields{"time": s.time()}, nil
}

// faults adds faults, or clears or releases all of them, and returns the current faults.
func (s *backend) faults(q *request) (fields, error) {
	switch q.Faults {
	case "":
	case "clear":
		s.cluster.ClearFaults()
	case "release":
		s.cluster.ReleaseFaults()
	default:
		plan, err := faults.Parse(q.Faults)
		if err == nil {
			err = s.cluster.AddFaults(plan...)
		}
		if err != nil {
			return nil, err
		}
	}
	return fields{"faults": s.cluster.Faults()}, nil
}

// applyTrouble applies a disturbance to the cluster, in the syntax of scenarios: compact, expire, hold CLIENT, release CLIENT,
// route CLIENT N, or one of trouble.Kinds, such as lag 1 pods.
func (s *backend) applyTrouble(q *request) (fields, error) {
	words := strings.Fields(q.Line)
	switch c := s.cluster; {
	case q.Line == "compact":
		c.Compact()
	case q.Line == "expire":
		c.Expire()
	case len(words) == 2 && words[0] == "hold":
		c.Hold(words[1])
	case len(words) == 2 && words[0] == "release":
		c.Release(words[1])
	case len(words) == 3 && words[0] == "route":
		n, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, failed("%s: %q is not the number of an API server", q.Line, words[2])
		}
		return nil, c.Route(words[1], n)
	default:
		return nil, s.trouble(words)
	}
	return nil, nil
}

// trouble applies one of trouble.Kinds to an API server or a controller. It returns an error if there is no such disturbance or API
// server.
func (s *backend) trouble(words []string) error {
	if len(words) == 0 || trouble.Find(words[0]) == nil {
		known := []string{"compact", "expire", "hold", "release", "route"}
		for _, k := range trouble.Kinds {
			known = append(known, k.Name)
		}
		return failed("%q cannot be done to the cluster; there are %s", strings.Join(words, " "), strings.Join(known, ", "))
	}
	t, err := trouble.Find(words[0]).Parse(words[1:])
	switch {
	case err != nil:
		return err
	case t.Replica == 0:
		s.cluster.Control(func(m *controller.Manager) { err = t.Control(m) })
		return err
	case s.cluster.Replica(t.Replica) == nil:
		return failed("there is no API server %d: the number of API servers is %d", t.Replica, s.cluster.Replicas())
	}
	return t.Do(s.cluster.Replica(t.Replica))
}

// deliver appends the messages that the client has not received, for all exchanges.
func (s *backend) deliver(out [][]byte) [][]byte {
	for more := true; more; {
		more = false
		for _, x := range slices.Clone(s.exchanges) {
			before := len(out)
			var ended bool
			if out, ended = x.deliver(out); ended {
				x.cancel()
				s.exchanges = slices.DeleteFunc(s.exchanges, func(y *exchange) bool { return x == y })
			}
			more = more || len(out) > before
		}
	}
	return out
}

// deliver appends the messages for new parts of a response. It reports whether the response is complete.
func (x *exchange) deliver(out [][]byte) (_ [][]byte, ended bool) {
	a := x.answer
	if a == nil {
		return out, false
	}
	if !x.sent {
		x.sent = true
		headers := [][2]string{}
		for name, values := range a.Header {
			for _, value := range values {
				headers = append(headers, [2]string{name, value})
			}
		}
		slices.SortStableFunc(headers, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
		out = append(out, x.message("response", fields{"code": a.Code, "headers": headers}))
		if body := a.Sent().Bytes(); len(body) > 0 {
			out = append(out, x.data(body))
		}
	}
	pieces, ended, broken := x.take()
	for _, piece := range pieces {
		out = append(out, x.data(piece))
	}
	if ended {
		out = append(out, x.message("end", fields{"broken": broken}))
	}
	return out, ended
}

// take returns the new parts of a streamed body, whether the response has ended, and whether the connection broke.
func (x *exchange) take() (pieces [][]byte, ended, broken bool) {
	a := x.answer
	x.api.Lock.Lock()
	defer x.api.Lock.Unlock()
	switch {
	case a.Watch != nil:
		frames, ended := a.Watch.Take()
		for _, frame := range frames {
			pieces = append(pieces, frame.Bytes())
		}
		return pieces, ended, ended && a.Watch.Broken() != nil
	case a.Session != nil:
		said, ended := a.Session.Take()
		for _, o := range said {
			pieces = append(pieces, o.Data)
		}
		return pieces, ended, false
	}
	return nil, true, a.Lost > 0
}

func (x *exchange) data(body []byte) []byte {
	if utf8.Valid(body) {
		return x.message("data", fields{"body": string(body)})
	}
	return x.message("data", fields{"body": base64.StdEncoding.EncodeToString(body), "encoding": "base64"})
}

func (x *exchange) message(kind string, more fields) []byte {
	more["v"], more["kind"], more["request"] = Version, kind, x.id
	b, err := json.Marshal(more)
	if err != nil {
		panic("engine: a message cannot be printed: " + err.Error())
	}
	return b
}
