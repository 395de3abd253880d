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
		return nil, errors.New("there is no recording in it")
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
}

// timed is an event of a watch, or the end of a watch or request, with the time at which it was recorded.
type timed struct {
	at     time.Duration
	text   string
	writes int // number of the client's writes before it
}

// grace is the maximum time for which an event waits for the client's writes that precede it in the recording.
const grace = 10 * time.Second

// Replay is a handler that serves a recording. Each request gets the recorded response to the next request with the same method,
// path and query. The events of a watch are sent at the recorded times after the first request, but wait up to ten seconds for the
// client's writes that precede them in the recording, which may be their cause.
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
			x = &call{request: e.Request}
			byID[e.ID] = x
			r.calls = append(r.calls, x)
			key := keyOf(e.Request.Method, e.Request.URL)
			r.byKey[key] = append(r.byKey[key], x)
			if e.Request.Method != http.MethodGet {
				r.writes = append(r.writes, x)
			}
		case x == nil: // its request was not recorded
		case e.Answer != nil:
			x.answer = e.Answer
		case e.Event != nil:
			x.events = append(x.events, timed{at, string(e.Event), len(r.writes)})
		default:
			x.end = &timed{at, e.End, 0}
		}
	}
	return r
}

// keyOf returns the parts of a request by which its recorded response is found. It omits timeoutSeconds, which client-go draws at
// random.
func keyOf(method, uri string) string {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return method + " " + uri
	}
	q := u.Query()
	q.Del("timeoutSeconds")
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

// times matches times in bodies, which differ between runs.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

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
		targetOf(q.URL).resource != "secrets" && times.ReplaceAllString(string(was), "") != times.ReplaceAllString(string(is), "") {
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
	r.mu.Lock()
	due := e.at - r.clock.Now().Sub(r.start)
	r.mu.Unlock()
	if due > 0 && !r.sleep(q, due, nil) {
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
