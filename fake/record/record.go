// Package record writes the requests of a client, with their responses and watch events, to a file, and serves them again.
//
//	client ─▶ Recorder.Wrap ─▶ its transport ─▶ API server
//	               │ redact: no data of Secrets, no tokens
//	               ▼
//	   a line of JSON per Entry ─ Read ─▶ Entries ─ NewReplay ─▶ http.Handler: the same responses, events at the same times
//
// It is for rest.Config.WrapTransport of client-go, which it does not import:
//
//	config.WrapTransport = record.To(file).Wrap
//
// Protobuf is recorded as JSON: a request that accepts protobuf is changed to accept JSON, and a protobuf body is converted.
package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// Entry is a line of a recording. ID is the number of the request, from 1. Besides At and ID, exactly one field is set.
type Entry struct {
	At      time.Time       `json:"at"`
	ID      int             `json:"id"`
	Request *Request        `json:"request,omitempty"`
	Answer  *Answer         `json:"answer,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"` // of a watch
	End     string          `json:"end,omitempty"`   // of a watch, or the error instead of a response
}

// Request is a request of the client.
type Request struct {
	Method string            `json:"method"`
	URL    string            `json:"url"` // path and query
	Header map[string]string `json:"header,omitempty"`
	Body   Body              `json:"body,omitzero"`
	Other  bool              `json:"other,omitempty"` // another client than the recorded program has sent it (ReadAudit)
}

// Answer is the response to a request. The events of a watch are separate Entries with the same ID.
type Answer struct {
	Code   int               `json:"code"`
	Header map[string]string `json:"header,omitempty"`
	Body   Body              `json:"body,omitzero"`
}

// Body is the body of a request or response. At most one field is set; an empty body sets none.
type Body struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
	// Omitted is the reason why the body is not recorded.
	Omitted string `json:"omitted,omitempty"`
}

// kept are the headers that are recorded. Authorization is not one of them.
var kept = []string{"Accept", "Content-Type", "User-Agent", "Impersonate-User", "Impersonate-Group", "Warning", "Retry-After"}

// Recorder writes a recording.
type Recorder struct {
	mu     sync.Mutex
	out    io.Writer
	err    error // of the first write that failed
	n      int   // number of requests
	redact *redactor
}

// To returns a Recorder that writes to w. Several transports may share it.
func To(w io.Writer) *Recorder {
	return &Recorder{out: w, redact: newRedactor()}
}

// Wrap returns a transport that records the requests of one client to w: see Recorder.Wrap. Use To if several clients share a
// recording, or to check for errors.
func Wrap(transport http.RoundTripper, w io.Writer) http.RoundTripper { return To(w).Wrap(transport) }

// Wrap returns a transport that sends requests through another one and records them.
func (r *Recorder) Wrap(transport http.RoundTripper) http.RoundTripper {
	return &recorded{r, transport}
}

// Err returns the error of the first write that failed, or nil. After an error, nothing is written any more.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// write writes an entry with the current time. If it is the entry of a request, it gets the next ID. write returns the entry's ID.
func (r *Recorder) write(e Entry) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Request != nil {
		r.n++
		e.ID = r.n
	}
	e.At = clock.System{}.Now().UTC()
	line, err := json.Marshal(e)
	if err == nil && r.err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if r.err == nil {
		r.err = err
	}
	return e.ID
}

// recorded is a transport whose requests are recorded.
type recorded struct {
	*Recorder
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *recorded) RoundTrip(q *http.Request) (*http.Response, error) {
	at := targetOf(q.URL)
	var body []byte
	if q.Body != nil {
		var err error
		body, err = io.ReadAll(q.Body)
		if err = errors.Join(err, q.Body.Close()); err != nil {
			return nil, err
		}
	}
	sent := q.Clone(q.Context())
	if sent.Body != nil {
		sent.Body = io.NopCloser(bytes.NewReader(body))
	}
	asksForJSON(sent.Header)
	id := t.write(Entry{Request: &Request{Method: q.Method, URL: q.URL.RequestURI(), Header: headers(sent.Header),
		Body: t.redact.body(body, q.Header.Get("Content-Type"), at)}})
	a, err := t.next.RoundTrip(sent)
	if err != nil {
		t.write(Entry{ID: id, End: err.Error()})
		return nil, err
	}
	answer := &Answer{Code: a.StatusCode, Header: headers(a.Header)}
	switch {
	case at.streams || a.StatusCode == http.StatusSwitchingProtocols:
		answer.Body.Omitted = "a stream"
		t.write(Entry{ID: id, Answer: answer})
	case at.watch && a.StatusCode == http.StatusOK:
		t.write(Entry{ID: id, Answer: answer})
		a.Body = &watchBody{ReadCloser: a.Body, to: t, id: id, at: at}
	default:
		data, err := io.ReadAll(a.Body)
		if err = errors.Join(err, a.Body.Close()); err != nil {
			t.write(Entry{ID: id, End: err.Error()})
			return nil, err
		}
		answer.Body = t.redact.body(data, a.Header.Get("Content-Type"), at)
		if answer.Body.JSON != nil && !strings.Contains(answer.Header["Content-Type"], "json") {
			answer.Header["Content-Type"] = "application/json" // it was converted
		}
		t.write(Entry{ID: id, Answer: answer})
		a.Body = io.NopCloser(bytes.NewReader(data))
	}
	return a, nil
}

// asksForJSON removes protobuf and CBOR from the Accept header, because they cannot be recorded, and adds JSON if neither remains.
func asksForJSON(h http.Header) {
	accept := h.Get("Accept")
	if !strings.Contains(accept, "protobuf") && !strings.Contains(accept, "cbor") {
		return
	}
	types := slices.DeleteFunc(strings.Split(accept, ","), func(one string) bool {
		return strings.Contains(one, "protobuf") || strings.Contains(one, "cbor")
	})
	if !slices.ContainsFunc(types, func(one string) bool { return strings.Contains(one, "json") }) {
		types = append(types, "application/json")
	}
	h.Set("Accept", strings.Join(types, ","))
}

// headers returns the headers that are recorded.
func headers(h http.Header) map[string]string {
	out := map[string]string{}
	for _, name := range kept {
		if values := h.Values(name); len(values) > 0 {
			out[name] = strings.Join(values, ", ")
		}
	}
	return out
}

// watchBody is the body of a watch, whose events are recorded when the client reads them.
type watchBody struct {
	io.ReadCloser
	to   *recorded
	id   int
	at   target
	line []byte // the beginning of the next event
	once sync.Once
}

// Read implements io.Reader.
func (b *watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.line = append(b.line, p[:n]...)
	for {
		event, rest, ok := bytes.Cut(b.line, []byte("\n"))
		if !ok {
			break
		}
		b.line = rest
		if recorded := b.to.redact.body(event, "application/json", b.at); recorded.JSON != nil {
			b.to.write(Entry{ID: b.id, Event: recorded.JSON})
		}
	}
	if err != nil {
		b.end(err.Error())
	}
	return n, err
}

// Close implements io.Closer.
func (b *watchBody) Close() error {
	b.end(closedByClient)
	return b.ReadCloser.Close()
}

// closedByClient is the end of a watch that the client has closed.
const closedByClient = "closed by the client"

// end records the end of the watch, once.
func (b *watchBody) end(why string) {
	if why == context.Canceled.Error() { // the client has cancelled the request, and closes the watch next
		why = closedByClient
	}
	b.once.Do(func() { b.to.write(Entry{ID: b.id, End: why}) })
}
