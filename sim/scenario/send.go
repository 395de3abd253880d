package scenario

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/scenario/actor"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// patience is the maximum time that an operation waits for its response, on the World's clock.
const patience = 10 * time.Minute

// livelock is the maximum number of rounds of responses and events at one instant.
const livelock = 1 << 14

// call is one request, and its response once it has arrived.
type call struct {
	exchange  *Exchange
	client    *client
	path      string
	query     url.Values
	def       *resource.Definition // the definition of its resource, or nil if unknown
	output    string               // the output format of the response
	watchName string               // the name of the watch that it may start; if empty, the World chooses one

	answer *apiserver.Answer
	body   object.Object // the parsed response, or nil if it is not an object
	done   func(*call)   // handles the response; may be nil
	sink   actor.Sink    // receives the events of its watch; if nil, the transcript does
	own    bool          // sent by an operation, not by an actor
	may    bool          // the request may fail
	fails  bool          // the request must fail
	phrase string        // replaces method and path in the transcript
	gone   bool          // its client has crashed
	op     int           // the number of the operation that sent it
	about  about
	made   string      // the name of the object that it creates, if known
	atMost int         // the client's maximum number of watches including this one; 0 means no limit
	note   *callRecord // its entry in the recording, or nil

	silent  bool               // the transcript does not contain the request, because its sender prints the response
	talks   bool               // an exec request, whose Session stays open
	onFrame func(frame []byte) // receives the events of its watch; if nil, sink or the transcript does
}

// send sends a request. The response is handled later, by run or by the code that advances the clock.
func (w *World) send(c *call) {
	x := c.exchange
	w.used = true
	c.client.sent++
	c.op, c.about = w.op, aboutOf(c.path)
	if w.recording != nil {
		c.note = w.recording.sent(c)
	}
	w.add(Frame{Kind: HTTPRequest, Lane: "client/" + x.Client, Cause: w.because, Verb: x.Method, Replica: x.Replica,
		Exchange: x, Text: x.Method + " " + x.Path})
	server := w.cluster.Server(x.Replica)
	w.sending = c
	w.waiting = append(w.waiting, c)
	err := server.Start(&apiserver.Request{Method: x.Method, Path: c.path, Query: c.query, Header: x.Header.Clone(),
		Body: x.Body, Client: w.identity(x.Client)}, func(a *apiserver.Answer) {
		if !c.talks {
			a.Settle()
		}
		c.answer = a
		w.answered = append(w.answered, c)
	})
	if err != nil {
		c.answer = panicked(err)
		w.answered = append(w.answered, c)
	}
	w.observe()
}

// panicked returns the response that is recorded for a request whose handler panicked. A client of a real server would not get a
// response.
func panicked(err error) *apiserver.Answer {
	return &apiserver.Answer{Code: wire.StatusInternalServerError, Header: wire.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		Body: codec.TextOf([]byte(err.Error() + "\n"))}
}

// identity returns the user of a client. It returns nil if all requests are allowed.
func (w *World) identity(client string) *auth.Client {
	if w.options.Auth != auth.RBAC && !w.options.Whole {
		return nil
	}
	u := &auth.User{Name: client}
	if client == "admin" || w.options.Whole {
		u.Groups = []string{"system:masters"}
	}
	return &auth.Client{User: u}
}

// observe adds frames for the new records of the cluster's trace.
func (w *World) observe() {
	if w.options.Quiet {
		return
	}
	list, newest := w.cluster.TraceSince(w.seen)
	w.seen = newest
	for i := range list {
		w.record(&list[i])
	}
	w.reconciledBefore(math.MaxUint64)
	w.sending = nil
	if rev := w.cluster.Compacted(); rev > w.compact {
		w.compact = rev
		w.add(Frame{Kind: StoreCompact, Lane: "store", RV: rev, Text: fmt.Sprintf("revisions before %d are forgotten", rev)})
	}
}

// record adds a frame for a trace record, if its kind has one.
func (w *World) record(r *trace.Record) {
	f := Frame{Cause: w.causes[r.Cause], RV: r.Rev, Verb: r.Verb, Replica: r.Replica,
		Ref: strings.TrimRight(r.What+" "+r.Key, " ")}
	switch r.Site {
	case trace.RequestArrived:
		if w.sending != nil {
			w.causes[r.N] = w.sending.exchange.N
		}
		return
	case trace.StoreCommitted:
		w.reconciledBefore(r.Rev)
		f.Kind, f.Lane = StoreCommit, "store"
		f.Cause = cmp.Or(f.Cause, w.reconcileLog.writes(r))
		f.Text = fmt.Sprintf("%s %s, revision %d", r.Verb, f.Ref, r.Rev)
	case trace.ReplicaApplied:
		f.Kind, f.Lane = CacheApply, fmt.Sprintf("replica/%d", r.Replica)
		f.Text = fmt.Sprintf("replica %d knows revision %d", r.Replica, r.Rev)
	case trace.Fault:
		f.Kind, f.Lane, f.Text = FaultHappened, "store", r.Text
		if r.Replica > 0 {
			f.Lane = fmt.Sprintf("replica/%d", r.Replica)
		}
		w.say("fault: %s", r.Text)
	default:
		return
	}
	n := w.add(f)
	w.causes[r.N] = n
	if f.Kind == StoreCommit {
		w.commits[r.Rev] = n
		w.committed(r.Rev)
	}
}

// run handles responses, watch events, and functions that timers of clients have queued, until nothing is left. It does
// not advance the clock.
func (w *World) run() {
	for rounds := 0; rounds < livelock; rounds++ {
		w.observe()
		switch {
		case w.answers():
		case w.drain():
		case len(w.due) > 0:
			f := w.due[0]
			w.due = w.due[1:]
			w.following(0, f)
		default:
			return
		}
	}
	w.fail("the clients of this world never stop: each answer leads to one more request, and no time passes")
}

// answers handles the next response. It returns false if there is none.
func (w *World) answers() bool {
	if len(w.answered) == 0 {
		return false
	}
	c := w.answered[0]
	w.answered = w.answered[1:]
	w.answer(c)
	return true
}

// answer handles the response to a request.
func (w *World) answer(c *call) {
	w.waiting = slices.DeleteFunc(w.waiting, func(x *call) bool { return x == c })
	x, a := c.exchange, c.answer
	if w.options.Tap != nil {
		w.options.Tap.Answer(c.op, a)
	}
	x.Code, x.ResHeader, x.ResBody, x.Lost = a.Code, a.Header, a.Sent().Bytes(), a.Lost
	c.body = w.parseAnswer(x)
	if c.body.Kind() == "Status" {
		x.Reason = c.body.String("reason")
	}
	if a.Watch != nil && !c.gone {
		w.open(c)
	}
	rv := c.rememberAnswer()
	if c.note != nil {
		c.note.answered(w.op, c)
	}
	if !w.options.Quiet {
		x.Answered = w.add(Frame{Kind: HTTPResponse, Lane: "client/" + x.Client, Cause: x.N, Verb: x.Method, RV: rv,
			Replica: x.Replica, Code: x.Code, Reason: x.Reason, Exchange: x, Ref: fmt.Sprint(x.N), Text: headline(c)})
	}
	w.last = c
	switch {
	case c.gone && a.Watch != nil:
		w.end(x.Replica, a.Watch)
	case c.gone:
	default:
		w.report(c)
		if c.done != nil {
			w.following(x.Answered, func() { c.done(c) })
		}
	}
}

// following calls f. The frame is the cause of everything that f does.
func (w *World) following(frame uint64, f func()) {
	before := w.because
	w.because = frame
	f()
	w.because = before
}

// rememberAnswer adds the response to the client's memory and returns its revision, or 0 if it has none.
func (c *call) rememberAnswer() (rev uint64) {
	c.remember()
	token := c.body.String("metadata", "continue")
	if c.body.Kind() == "Status" {
		if token != "" {
			c.client.token = token // a 410 response can still contain a token to continue with
		}
		return 0
	}
	rv := c.body.ResourceVersion()
	if rv == "" {
		return 0
	}
	c.client.rv = rv
	if c.answer.Watch == nil && c.body["items"] != nil {
		c.client.token = token
	}
	rev, _ = strconv.ParseUint(rv, 10, 64)
	return rev
}

// watching reports whether the call requests a watch.
func (c *call) watching() bool { return c.query.Get("watch") != "" }

// parseAnswer returns the object in a response, or nil if there is none.
func (w *World) parseAnswer(x *Exchange) object.Object {
	switch media := x.ResHeader.Get("Content-Type"); {
	case strings.HasPrefix(media, "application/yaml"):
		data, _ := codec.YAMLToJSON(x.ResBody)
		return w.read(data)
	case strings.HasPrefix(media, "application/json"):
		return w.read(x.ResBody)
	}
	return nil
}

// read parses a JSON object, or returns nil if text is not one. The result must not be changed: a quiet World parses
// the same text only once, because three out of four events also arrive on other watches, and most responses to writes
// equal the committed object.
func (w *World) read(text []byte) object.Object {
	text = bytes.TrimRight(text, "\n")
	if obj, ok := w.texts[string(text)]; ok {
		return obj
	}
	obj, err := object.Parse(text)
	if err != nil {
		return nil
	}
	if w.options.Quiet {
		w.texts[string(text)] = obj
	}
	return obj
}

// report checks the result of a request against ! and ?, and prints the response to the transcript.
func (w *World) report(c *call) {
	failed := c.answer.Code >= 400
	if !w.options.Quiet && !c.silent {
		w.printAnswer(c)
	}
	switch {
	case w.options.Lenient:
	case c.fails && !failed:
		w.fail("%s %s was answered with %d; because of the ! it should have failed", c.exchange.Method,
			shortPath(c.exchange.Path), c.answer.Code)
	case c.own && failed && !c.fails && !c.may && w.options.Strict:
		w.fail("%s %s has failed; put a ! before it if it should", c.exchange.Method, shortPath(c.exchange.Path))
	}
}

// request runs an operation that sends requests. It sends each request after the response to the previous one.
func (w *World) request(op *Op) error {
	list, err := w.requests(op, nil)
	if err != nil {
		return err
	}
	for _, c := range list {
		c.own, c.fails, c.may = true, op.Fails, op.May
		c = w.insist(c, op)
		w.current.HTTP, w.current.Watch = c.exchange, c.exchange.Watch
		w.current.requests++
		if w.current.Waiting = c.answer == nil; w.current.Waiting {
			w.say("%s %s %s waits", c.exchange.Client, c.exchange.Method, shortPath(c.exchange.Path))
			continue
		}
		if c.answer.Code >= 400 && !op.Fails && len(list) > 1 {
			break
		}
	}
	return nil
}

// insist sends a request and waits for its response, unless the operation is asynchronous. In a lenient World, where
// faults may reject the request, it retries after a second, as a person would, and returns the last attempt.
func (w *World) insist(c *call, op *Op) *call {
	const tries = 20
	for n := 1; ; n++ {
		w.send(c)
		w.makeRoom(c)
		w.run()
		if op.Async {
			return c
		}
		w.await(c)
		if !w.options.Lenient || op.Fails || n == tries || c.answer == nil || !isTransientError(c) {
			return c
		}
		w.moveTo(w.clock.Now().Add(time.Second))
		x := c.exchange
		again := *c
		again.exchange = &Exchange{Client: x.Client, Replica: x.Replica, Method: x.Method, Path: x.Path, Header: x.Header,
			Body: x.Body}
		again.answer, again.body = nil, nil
		c = &again
	}
}

// isTransientError reports whether the response is an error that a retry may avoid.
func isTransientError(c *call) bool {
	return slices.Contains([]int{429, 500, 503, 504}, c.answer.Code) || c.exchange.Lost > 0 || c.exchange.Reason == "Conflict"
}

// await advances the clock until c has a response, but not by more than patience.
func (w *World) await(c *call) {
	until := w.clock.Now().Add(patience)
	for c.answer == nil && w.moveOn(until) {
	}
}

// end ends watch x from the client's side, which was opened on the given replica.
func (w *World) end(replica int, x *watchcache.Watch) {
	lock := w.cluster.Server(replica).Lock
	lock.Lock()
	defer lock.Unlock()
	x.End()
}
