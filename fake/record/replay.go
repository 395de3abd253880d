package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// Read reads a recording. It ignores an incomplete last line, because the recorded program may have been killed. It returns an
// error for any other line that is not an Entry, and if there are no entries.
func Read(from io.Reader) (all []Entry, err error) {
	lines := bufio.NewReader(from)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var e Entry
			if err := json.Unmarshal(line, &e); err == nil && e.ID > 0 {
				all = append(all, e)
			} else if isAudit(line) {
				return nil, ErrAudit
			} else if !last {
				return nil, fmt.Errorf("line %d: it is not an entry of a recording: %w", n, cause(err))
			}
		}
		if last {
			break
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the file contains no recording")
	}
	return all, nil
}

// Reduce returns the entries that a Story needs: all but requests about the API itself, its kinds and its health.
func Reduce(entries []Entry) (kept []Entry) {
	about := map[int]bool{}
	for _, e := range entries {
		if e.Request != nil {
			u, err := url.ParseRequestURI(e.Request.URL)
			about[e.ID] = err == nil && targetOf(u).resource != ""
		}
		if about[e.ID] {
			kept = append(kept, e)
		}
	}
	return kept
}

// cause returns err, or the reason for which an entry without an error is not one.
func cause(err error) error {
	if err == nil {
		return errors.New("its id is missing")
	}
	return err
}

// call is a recorded request with its response and its events. Times are relative to the first entry.
type call struct {
	request *Request
	answer  *Answer
	events  []timed
	end     *timed // nil if the recording ends before
	asked   bool
	sent    time.Duration // when the request was recorded
	due     time.Duration // the earliest time of the answer
}

// timed is an event of a watch, or the end of a watch or request, with the time at which it was recorded.
type timed struct {
	at     time.Duration
	text   string
	writes int // number of the client's writes before it
}

// grace is the maximum time for which an event waits for the client's writes that precede it in the recording.
const grace = 10 * time.Second

// action is the maximum time that a client is assumed to need between an answer and its next request.
const action = 100 * time.Millisecond

// Replay is a handler that serves a recording. Each request gets the recorded response to the next request with the same method,
// path and query, and each response and event comes at its recorded time after the first request, or later:
//
//	request ──▶ answer ── event ── event ──▶ next request
//	              └─ waits for ─┘            at most for events within 100 ms
//
// An answer waits for events that the client received before it acted on the answer, so that a client that is faster than the
// recorded one does not act on an older cache. An event waits up to ten seconds for the client's writes that precede it in the
// recording, which may be its cause.
type Replay struct {
	clock clock.Clock

	mu     sync.Mutex
	start  time.Time // of the first request; zero before
	calls  []*call
	writes []*call // the calls except reads
	byKey  map[string][]*call
	diffs  []string
	wrote  chan struct{} // closed by the next write
}

// NewReplay returns a handler for a recording, which replays the recorded times on c.
func NewReplay(entries []Entry, c clock.Clock) *Replay {
	r := &Replay{clock: c, byKey: map[string][]*call{}, wrote: make(chan struct{})}
	byID := map[int]*call{}
	for _, e := range entries {
		at := e.At.Sub(entries[0].At)
		x := byID[e.ID]
		switch {
		case e.Request != nil:
			x = &call{request: e.Request, sent: at}
			byID[e.ID] = x
			r.calls = append(r.calls, x)
			key := keyOf(e.Request.Method, e.Request.URL)
			r.byKey[key] = append(r.byKey[key], x)
			if e.Request.Method != http.MethodGet {
				r.writes = append(r.writes, x)
			}
		case x == nil: // its request was not recorded
		case e.Answer != nil:
			x.answer, x.due = e.Answer, at
		case e.Event != nil:
			x.events = append(x.events, timed{at, string(e.Event), len(r.writes)})
		default:
			x.end = &timed{at, e.End, 0}
		}
	}
	r.setDue()
	return r
}

// setDue delays the answers until after the events for which they wait.
func (r *Replay) setDue() {
	var requests, events []time.Duration // times, in order
	for _, x := range r.calls {
		requests = append(requests, x.sent)
		for _, e := range x.events {
			events = append(events, e.at)
		}
	}
	slices.Sort(requests) // concurrent ones may be recorded in another order
	slices.Sort(events)
	for _, x := range r.calls {
		end := x.due + action
		if next, _ := slices.BinarySearch(requests, x.due+1); next < len(requests) {
			end = min(end, requests[next])
		}
		if n, _ := slices.BinarySearch(events, end); n > 0 && events[n-1] > x.due {
			x.due = events[n-1] + time.Millisecond
		}
	}
}

// keyOf returns the parts of a request by which its recorded response is found. It omits the duration of a watch, which
// client-go draws at random: timeoutSeconds, and timeout, which typed clients send in addition.
func keyOf(method, uri string) string {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return method + " " + uri
	}
	q := u.Query()
	q.Del("timeoutSeconds")
	q.Del("timeout")
	return method + " " + u.Path + "?" + q.Encode()
}

// next returns the recorded call for a request, or nil if there is none. A GET that is repeated more often than in the recording
// gets the last response again.
func (r *Replay) next(key string) *call {
	list := r.byKey[key]
	for _, x := range list {
		if !x.asked {
			x.asked = true
			return x
		}
	}
	if len(list) > 0 && strings.HasPrefix(key, "GET ") {
		return list[len(list)-1]
	}
	return nil
}

// stamps matches the parts of a body that depend on the time of a run: times, and the end of the name of an event, which is the time
// in nanoseconds (record.EventRecorder of client-go).
var stamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|\.[0-9a-f]{15,16}"`)

// ServeHTTP implements http.Handler.
func (r *Replay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the client has gone
	}
	key := keyOf(q.Method, q.URL.RequestURI())
	r.mu.Lock()
	if r.start.IsZero() {
		r.start = r.clock.Now()
	}
	x := r.next(key)
	if x == nil {
		r.diffs = append(r.diffs, "not in the recording: "+key)
	} else if was, is := x.request.Body.JSON, (&redactor{}).body(body, q.Header.Get("Content-Type"), target{}).JSON; was != nil &&
		targetOf(q.URL).resource != "secrets" && stamps.ReplaceAllString(string(was), "") != stamps.ReplaceAllString(string(is), "") {
		r.diffs = append(r.diffs, fmt.Sprintf("another body: %s\n    recorded: %s\n    now:      %s", key, was, is))
	}
	if q.Method != http.MethodGet {
		close(r.wrote)
		r.wrote = make(chan struct{})
	}
	r.mu.Unlock()
	switch {
	case x == nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","code":404,"message":%q}`,
			"the recording has no request "+key)
	case x.answer == nil:
		panic(http.ErrAbortHandler) // no response was recorded
	case !r.waitUntil(q, x.due):
		return
	default:
		r.answer(w, q, x)
	}
}

// answer writes a recorded response, and the events of a watch at their times.
func (r *Replay) answer(w http.ResponseWriter, q *http.Request, x *call) {
	for name, value := range x.answer.Header { // order does not matter
		w.Header().Set(name, value)
	}
	w.WriteHeader(x.answer.Code)
	if x.answer.Body.JSON != nil {
		_, _ = w.Write(x.answer.Body.JSON) // the client may have gone
	} else {
		_, _ = io.WriteString(w, x.answer.Body.Text)
	}
	if !targetOf(q.URL).watch || x.answer.Code != http.StatusOK {
		return
	}
	flush := http.NewResponseController(w)
	for _, e := range x.events {
		if flush.Flush() != nil || !r.wait(q, e) {
			return
		}
		_, _ = io.WriteString(w, e.text+"\n")
	}
	if flush.Flush() == nil && x.end != nil && x.end.text != closedByClient {
		r.wait(q, *x.end)
	} else {
		<-q.Context().Done()
	}
}

// wait waits until an event is due, and then up to grace for the client's writes that precede it. It returns false if the client
// has disconnected.
func (r *Replay) wait(q *http.Request, e timed) bool {
	if !r.waitUntil(q, e.at) {
		return false
	}
	for patience := r.clock.Now().Add(grace); ; {
		r.mu.Lock()
		missing, wrote := slices.ContainsFunc(r.writes[:e.writes], func(x *call) bool { return !x.asked }), r.wrote
		r.mu.Unlock()
		left := patience.Sub(r.clock.Now())
		if !missing || left <= 0 {
			return q.Context().Err() == nil
		}
		if !r.sleep(q, left, wrote) {
			return false
		}
	}
}

// waitUntil waits until a time after the first request. It returns false if the client has disconnected.
func (r *Replay) waitUntil(q *http.Request, at time.Duration) bool {
	r.mu.Lock()
	left := at - r.clock.Now().Sub(r.start)
	r.mu.Unlock()
	return left <= 0 || r.sleep(q, left, nil)
}

// sleep waits for d, or until a channel is closed. It returns false if the client disconnects first.
func (r *Replay) sleep(q *http.Request, d time.Duration, until <-chan struct{}) bool {
	t := r.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
	case <-until:
	case <-q.Context().Done():
		return false
	}
	return true
}

// Differences returns the requests that are not in the recording or have another body, followed by the recorded requests that were
// not sent.
func (r *Replay) Differences() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := append([]string(nil), r.diffs...)
	for _, x := range r.calls {
		if !x.asked {
			all = append(all, "did not come: "+keyOf(x.request.Method, x.request.URL))
		}
	}
	return all
}
