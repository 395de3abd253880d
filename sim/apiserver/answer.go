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

// Answer is the response to a request. If Watch is set, the response is a stream and Body is empty.
type Answer struct {
	Code   int
	Header wire.Header
	Body   codec.Text
	Lost   int // number of bytes at the end of Body that do not arrive because the connection breaks

	// Modified is the time of the last change of the body. If it is set, the client may send conditional and range requests (RFC
	// 9110), which package fake handles. Packed is then the body for clients that accept gzip, or nil if there is none.
	Modified time.Time
	Packed   []byte

	// Watch is the body of a watch. If the Header has Content-Encoding: gzip, the part that is sent at once is a codec.Member.
	Watch *watchcache.Watch

	// Stream is the body if another server streams it; Body is then empty. If the code is 101, Stream is the connection and also an
	// io.Writer.
	Stream io.ReadCloser

	// Messages reports that the client requested a WebSocket, on which a watch is sent with one message for each event, and a log in
	// pieces. The code is then 101.
	Messages bool

	// Session is the output of a container as a stream; Body is then empty. If the code is 101, the Session takes over the
	// connection.
	Session *kubelet.Session
}

// Sent returns the part of the body that arrives.
func (a *Answer) Sent() codec.Text { return a.Body.First(a.Body.Len() - a.Lost) }

// Settle appends the Session's output so far to the Body and ends the Session. It is for clients that do not read a stream. The
// caller holds the lock.
func (a *Answer) Settle() {
	if a.Session == nil {
		return
	}
	out, _ := a.Session.Take()
	for _, o := range out {
		a.Body = append(a.Body, codec.PieceOf(o.Data))
	}
	a.Session.End()
	a.Session = nil
}

// Drop ends the stream, session or watch of a response that is not read. The caller holds the lock.
func (a *Answer) Drop() {
	if a.Watch != nil {
		a.Watch.End()
	}
	if a.Stream != nil {
		_ = a.Stream.Close() // it is not read any more
	}
	if a.Session != nil {
		a.Session.End()
	}
}

// negotiation returns the options for parsing the request's Accept header.
func (e *Exchange) negotiation() codec.Options {
	o := codec.Options{UserAgent: e.UserAgent}
	if values, ok := e.Query["pretty"]; ok && len(values) > 0 {
		o.PrettyParam = &values[0]
	}
	if r := e.route; r != nil {
		o.CBOR, o.Schema = e.s.Decoder.CBOR, e.s.Schema
		o.Custom = r.def.Custom
		o.Transforms = true
		o.NoTable = r.sub != nil && r.sub.NoTable || r.sub == nil && (r.def.Connect != nil || !r.def.Custom && r.def.Hub.Strategy.Virtual)
		o.List = r.verb == "list" && r.def.Allows("watch") || r.verb == "watch"
	}
	return o
}

func (e *Exchange) accept() string { return strings.Join(e.Header.Values("Accept"), ",") }

// negotiate determines the format of the response. It returns an error if the server supports no format that the client accepts.
func (e *Exchange) negotiate() (s *status.Status) {
	e.format, s = codec.Negotiate(e.accept(), e.negotiation())
	return s
}

// checkTable returns the error for invalid parameters of a Table, or nil. It is called when the request has already been executed
// (handlers.optionsForTransform).
func (e *Exchange) checkTable() *status.Status {
	if e.format.As != "Table" {
		return nil
	}
	return codec.CheckInclude(e.Query.Get("includeObject"))
}

// fail responds with s. If the deadline of the request has passed, it responds with the error for that instead.
func (e *Exchange) fail(s *status.Status) {
	if !e.endLate() {
		e.writeFailure(s)
	}
}

// writeFailure responds with the error s in the negotiated format.
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
	e.auditStatus(s)
	if e.format.Media == codec.Protobuf {
		e.write(code, codec.TextOf(e.s.statusProto(s)))
		return
	}
	e.write(code, codec.TextOf(s.JSON()))
}

// text responds in plain text, for handlers that do not use Status objects.
func (e *Exchange) text(code int, body string) {
	e.head.Set("Content-Type", "text/plain; charset=utf-8")
	e.head.Set("X-Content-Type-Options", "nosniff")
	e.answer(code, codec.TextOf([]byte(body)))
}

func (e *Exchange) notFound() { e.text(wire.StatusNotFound, "404 page not found\n") }

// document responds with a document of package discovery.
func (e *Exchange) document(a *discovery.Answer) {
	for name, values := range a.Header { // order does not matter
		e.head[name] = values
	}
	if a.Status != nil {
		e.fail(a.Status)
		return
	}
	if a.Negotiated {
		e.finish(a.Code, codec.TextOf(a.Body))
		return
	}
	if !a.Modified.IsZero() {
		e.addWarnings()
		e.reply(&Answer{Code: a.Code, Header: e.head, Body: codec.TextOf(a.Body), Modified: a.Modified, Packed: a.Packed})
		return
	}
	e.answer(a.Code, codec.TextOf(a.Body))
}

// write responds with a body in the negotiated format. The body is the message if that is protobuf, and otherwise compact JSON. If it
// cannot be converted, the response is the error, whose code replaces that of a success (responsewriters.SerializeObject).
func (e *Exchange) write(code int, body codec.Text) {
	body, failed := body.In(e.format)
	if failed != nil && code < wire.StatusBadRequest {
		code = failed.Code
	}
	e.head.Set("Content-Type", e.format.ContentType)
	e.finish(code, body)
}

// finish responds with a negotiated body. It compresses a long body if the client accepts that.
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

// headMax is the maximum length of a body whose Content-Length net/http sets in the response to a HEAD, because it buffers that
// much.
const headMax = 2048

// answer sends the response and so ends the exchange. The response to a HEAD has no body.
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

// reply passes a response to the client. If the request already has one, reply drops the new one.
func (e *Exchange) reply(a *Answer) {
	if e.answered { // the deadline passed and 504 was sent
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

// replyObserved calls the Observation, which may replace or delay the response, and then passes the response to the client.
func (e *Exchange) replyObserved(a *Answer) {
	v := e.Observation.Answered(a)
	if v.Instead != nil {
		if a.Stream != nil {
			_ = a.Stream.Close() // no client reads it
		}
		a = e.refusal(v.Instead)
	}
	e.delay(v.Wait, func() {
		e.Observation.Sent(a)
		e.done(a)
	})
}

// delay calls f at once or, if d is positive, after d.
func (e *Exchange) delay(d time.Duration, f func()) {
	if d > 0 {
		e.Observation.Delay(d, f)
		return
	}
	f()
}

const (
	warningsMax = 4096 // maximum length of all warnings together, in runes
	warningMax  = 256  // length to which each warning is truncated if all are too long, in runes
)

// addWarnings adds the warnings as headers, without duplicates and empty ones. If they are longer than warningsMax in total, it
// truncates them.
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

// quote returns text as a quoted-string (RFC 9110).
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
