package apiserver

import (
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// Answer is the answer to a request. If Watch is set the answer is a stream and Body is empty.
type Answer struct {
	Code   int
	Header wire.Header
	Body   codec.Text
	Lost   int // bytes at the end of Body that do not arrive: the connection breaks before them

	// Modified is the time of the last change of the body. If it is set, the client may send conditional and range requests (RFC
	// 9110), which package fake handles. Packed is then the body for clients that accept gzip, or nil if there is none.
	Modified time.Time
	Packed   []byte

	// Watch is the body of a watch, which never ends. If the Header has Content-Encoding: gzip, the part that is sent at once is a
	// codec.Member.
	Watch *watchcache.Watch

	// Stream is the body where it comes from another server, bit by bit; Body is empty then. With the code 101 it is the
	// connection, an io.ReadWriteCloser.
	Stream io.ReadCloser

	// Messages reports that the client requested a WebSocket, on which a watch or a log is sent as messages: one for each event, or
	// pieces of the text. The code is 101 then.
	Messages bool

	// Session is the output of a container as a stream; Body is empty then. With the code 101 it takes over the connection.
	Session *kubelet.Session
}

// Sent returns what arrives of the body.
func (a *Answer) Sent() codec.Text { return a.Body.First(a.Body.Len() - a.Lost) }

// Settle puts the output of a Session up to now into the Body, and ends the Session: for a client that does not follow. The caller
// holds the lock.
func (a *Answer) Settle() {
	if a.Session == nil {
		return
	}
	out, _ := a.Session.Take()
	for _, o := range out {
		a.Body = append(a.Body, o.Data)
	}
	a.Session.End()
	a.Session = nil
}

// Drop ends the body of an answer that is not read. The caller holds the lock.
func (a *Answer) Drop() {
	if a.Watch != nil {
		a.Watch.End()
	}
	if a.Stream != nil {
		_ = a.Stream.Close() // of one that is gone
	}
	if a.Session != nil {
		a.Session.End()
	}
}

// negotiation returns the options for parsing the Accept header.
func (e *Exchange) negotiation() codec.Options {
	o := codec.Options{UserAgent: e.UserAgent, NoBody: e.sendsBody() && !e.BodyExpected}
	if values, ok := e.Query["pretty"]; ok && len(values) > 0 {
		o.PrettyParam = &values[0]
	}
	if r := e.route; r != nil {
		o.Custom = r.def.Custom
		o.Transforms = true
		o.NoTable = r.sub != nil && r.sub.NoTable || r.sub == nil && !r.def.Custom && r.def.Hub.Strategy.Virtual
		o.List = r.verb == "list" && r.def.Allows("watch") || r.verb == "watch"
	}
	return o
}

func (e *Exchange) sendsBody() bool {
	switch e.Method {
	case wire.MethodPost, wire.MethodPut, wire.MethodPatch:
		return true
	}
	return false
}

func (e *Exchange) accept() string { return strings.Join(e.Header.Values("Accept"), ",") }

// negotiate decides on the format of the answer.
func (e *Exchange) negotiate() (s *status.Status) {
	e.format, s = codec.Negotiate(e.accept(), e.negotiation())
	return s
}

// checkTable returns the error of invalid parameters of a Table. The request has been carried out by then
// (handlers.optionsForTransform).
func (e *Exchange) checkTable() *status.Status {
	if e.format.As != "Table" {
		return nil
	}
	return codec.CheckInclude(e.Query.Get("includeObject"))
}

// fail answers with a Status that is an error. If the deadline of the request has passed, the answer is that error instead.
func (e *Exchange) fail(s *status.Status) {
	if !e.endLate() {
		e.writeFailure(s)
	}
}

// writeFailure answers with a Status that is an error.
func (e *Exchange) writeFailure(s *status.Status) {
	e.Failure = s
	e.retryAfter(s)
	e.format = codec.NegotiateError(e.accept(), e.negotiation())
	e.writeStatus(s.Code, s)
}

func (e *Exchange) retryAfter(s *status.Status) {
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		e.head.Set("Retry-After", strconv.Itoa(s.Details.RetryAfterSeconds))
	}
}

func (e *Exchange) writeStatus(code int, s *status.Status) {
	if e.format.Media == codec.Protobuf {
		e.write(code, codec.Text{e.s.statusProto(s)})
		return
	}
	e.write(code, codec.Text{s.JSON()}.In(e.format))
}

// text answers in plain text, as handlers do that do not use Status objects.
func (e *Exchange) text(code int, body string) {
	e.head.Set("Content-Type", "text/plain; charset=utf-8")
	e.head.Set("X-Content-Type-Options", "nosniff")
	e.answer(code, codec.Text{[]byte(body)})
}

func (e *Exchange) notFound() { e.text(wire.StatusNotFound, "404 page not found\n") }

// document answers with what discovery has.
func (e *Exchange) document(a *discovery.Answer) {
	for name, values := range a.Header { // order does not matter
		e.head[name] = values
	}
	if a.Status != nil {
		e.fail(a.Status)
		return
	}
	if a.Negotiated {
		e.finish(a.Code, codec.Text{a.Body})
		return
	}
	if !a.Modified.IsZero() {
		e.addWarnings()
		e.reply(&Answer{Code: a.Code, Header: e.head, Body: codec.Text{a.Body}, Modified: a.Modified, Packed: a.Packed})
		return
	}
	e.answer(a.Code, codec.Text{a.Body})
}

// write answers with a body in the negotiated format.
func (e *Exchange) write(code int, body codec.Text) {
	e.head.Set("Content-Type", e.format.ContentType)
	e.finish(code, body)
}

// finish answers with a negotiated body, compressed when the client takes that and it is long.
func (e *Exchange) finish(code int, body codec.Text) {
	if compressed, ok := codec.Compress(body, e.Header.Get("Accept-Encoding")); ok {
		body = compressed
		e.setCompressedHeaders()
	}
	e.answer(code, body)
}

// setCompressedHeaders sets the headers of a compressed body.
func (e *Exchange) setCompressedHeaders() {
	e.head.Set("Content-Encoding", "gzip")
	e.head.Add("Vary", "Accept-Encoding")
}

// headMax is the length of the longest body whose Content-Length net/http sets in the answer of a HEAD, because it buffers that
// much.
const headMax = 2048

// answer ends the exchange. The answer of a HEAD has no body.
func (e *Exchange) answer(code int, body codec.Text) {
	e.addWarnings()
	if e.Method == wire.MethodHead {
		if n := body.Len(); n > 0 && n <= headMax {
			e.head.Set("Content-Length", strconv.Itoa(n))
		}
		body = nil
	}
	e.reply(&Answer{Code: code, Header: e.head, Body: body})
}

// reply gives an answer to the client.
func (e *Exchange) reply(a *Answer) {
	if e.answered { // at the deadline
		a.Drop()
		return
	}
	e.answered = true
	e.deadline.End()
	if e.Observation == nil {
		e.done(a)
		return
	}
	e.replyObserved(a)
}

// replyObserved replies with the answer as the Observation changes it.
func (e *Exchange) replyObserved(a *Answer) {
	v := e.Observation.Answered(a)
	if v.Instead != nil {
		if a.Stream != nil {
			_ = a.Stream.Close() // of an answer that no client reads
		}
		a = e.refusal(v.Instead)
	}
	e.delay(v.Wait, func() {
		e.Observation.Sent(a)
		e.done(a)
	})
}

// delay calls f, after d if that is more than 0.
func (e *Exchange) delay(d time.Duration, f func()) {
	if d > 0 {
		e.Observation.Delay(d, f)
		return
	}
	f()
}

const (
	warningsMax = 4096 // runes of all warnings together
	warningMax  = 256  // runes of one warning once there are too many
)

// addWarnings prints the warnings as headers: each text once, all cut short when together they are too long. Empty ones are
// left out.
func (e *Exchange) addWarnings() {
	if len(e.warnings) == 0 {
		return
	}
	var texts []string
	total := 0
	seen := map[string]bool{}
	for _, text := range e.warnings {
		if text == "" || seen[text] || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
			continue
		}
		seen[text] = true
		texts = append(texts, text)
		total += utf8.RuneCountInString(text)
	}
	short := total > warningsMax
	total = 0
	for _, text := range texts {
		if short {
			if total >= warningsMax {
				break
			}
			if runes := []rune(text); len(runes) > warningMax {
				text = string(runes[:warningMax])
			}
			total += utf8.RuneCountInString(text)
		}
		e.head.Add("Warning", "299 - "+quote(text))
	}
}

// quote prints a quoted-string of RFC 9110.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
