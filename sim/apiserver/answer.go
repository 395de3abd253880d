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

// Answer is what a request comes to. When Watch is set the answer is a stream and Body is empty.
type Answer struct {
	Code   int
	Header wire.Header
	Body   codec.Text
	Lost   int // bytes at the end of Body that do not arrive: the connection breaks before them

	// Modified is since when the body is as it is. If it is set, the client may ask for the body under conditions and in ranges
	// (RFC 9110), which package fake looks at. Packed is then the body for clients that take gzip, nil for others.
	Modified time.Time
	Packed   []byte

	// Watch is the body where it never ends. Where the Header says Content-Encoding: gzip, what is sent at once is a codec.Member.
	Watch *watchcache.Watch

	// Stream is the body where it comes from another server, bit by bit; Body is empty then. With the code 101 it is the
	// connection, an io.ReadWriteCloser.
	Stream io.ReadCloser

	// Messages says that the client has asked for a WebSocket, on which a watch or a log is sent as messages: one for each
	// event, or pieces of the text. The code is 101 then.
	Messages bool

	// Session is what a container says, bit by bit; Body is empty then. With the code 101 the connection is given to it.
	Session *kubelet.Session
}

// Sent returns what arrives of the body.
func (a *Answer) Sent() codec.Text { return a.Body.First(a.Body.Len() - a.Lost) }

// Settle makes of a Session what it has said until now, and ends it: for a client that does not follow. The caller holds the
// lock.
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

// Drop ends what comes after the header of an answer that nobody reads. The caller holds the lock.
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

// negotiation is what the Accept header is read with.
func (c *call) negotiation() codec.Options {
	o := codec.Options{UserAgent: c.q.Header.Get("User-Agent"), NoBody: c.sendsBody() && !c.q.BodyExpected}
	if values, ok := c.q.Query["pretty"]; ok && len(values) > 0 {
		o.PrettyParam = &values[0]
	}
	if r := c.route; r != nil {
		o.Custom = r.def.Custom
		o.Transforms = true
		o.NoTable = r.sub != nil && r.sub.NoTable || r.sub == nil && !r.def.Custom && r.def.Hub.Strategy.Virtual
		o.List = r.verb == "list" && r.def.Allows("watch") || r.verb == "watch"
	}
	return o
}

func (c *call) sendsBody() bool {
	switch c.q.Method {
	case wire.MethodPost, wire.MethodPut, wire.MethodPatch:
		return true
	}
	return false
}

func (c *call) accept() string { return strings.Join(c.q.Header.Values("Accept"), ",") }

// negotiate decides on the format of the answer.
func (c *call) negotiate() (s *status.Status) {
	c.format, s = codec.Negotiate(c.accept(), c.negotiation())
	return s
}

// checkTable returns what is wrong with how a Table is asked for. What the request is about has been done by then
// (handlers.optionsForTransform).
func (c *call) checkTable() *status.Status {
	if c.format.As != "Table" {
		return nil
	}
	return codec.CheckInclude(c.q.Query.Get("includeObject"))
}

// fail answers with a Status that is an error. A request whose time is over fails with that, whatever else has gone wrong.
func (c *call) fail(s *status.Status) {
	if !c.endLate() {
		c.writeFailure(s)
	}
}

// writeFailure answers with a Status that is an error.
func (c *call) writeFailure(s *status.Status) {
	c.failed(s)
	c.retryAfter(s)
	c.format = codec.NegotiateError(c.accept(), c.negotiation())
	c.writeStatus(s.Code, s)
}

func (c *call) retryAfter(s *status.Status) {
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		c.header.Set("Retry-After", strconv.Itoa(s.Details.RetryAfterSeconds))
	}
}

func (c *call) writeStatus(code int, s *status.Status) {
	if c.format.Media == codec.Protobuf {
		c.write(code, codec.Text{c.s.statusProto(s)})
		return
	}
	c.write(code, codec.Text{s.JSON()}.In(c.format))
}

// text answers in plain text, as handlers do that know nothing of Status.
func (c *call) text(code int, body string) {
	c.header.Set("Content-Type", "text/plain; charset=utf-8")
	c.header.Set("X-Content-Type-Options", "nosniff")
	c.answer(code, codec.Text{[]byte(body)})
}

func (c *call) notFound() { c.text(wire.StatusNotFound, "404 page not found\n") }

// document answers with what discovery has.
func (c *call) document(a *discovery.Answer) {
	for name, values := range a.Header { // order does not matter
		c.header[name] = values
	}
	if a.Status != nil {
		c.fail(a.Status)
		return
	}
	if a.Negotiated {
		c.finish(a.Code, codec.Text{a.Body})
		return
	}
	if !a.Modified.IsZero() {
		c.addWarnings()
		c.reply(&Answer{Code: a.Code, Header: c.header, Body: codec.Text{a.Body}, Modified: a.Modified, Packed: a.Packed})
		return
	}
	c.answer(a.Code, codec.Text{a.Body})
}

// write answers with a body in the negotiated format.
func (c *call) write(code int, body codec.Text) {
	c.header.Set("Content-Type", c.format.ContentType)
	c.finish(code, body)
}

// finish answers with a negotiated body, compressed when the client takes that and it is long.
func (c *call) finish(code int, body codec.Text) {
	if compressed, ok := codec.Compress(body, c.q.Header.Get("Accept-Encoding")); ok {
		body = compressed
		c.compressed()
	}
	c.answer(code, body)
}

// compressed says so in the header.
func (c *call) compressed() {
	c.header.Set("Content-Encoding", "gzip")
	c.header.Add("Vary", "Accept-Encoding")
}

// headMax is the length of the longest body that net/http says in the answer of a HEAD, because it has it as a whole.
const headMax = 2048

// answer ends the call. The answer of a HEAD has no body.
func (c *call) answer(code int, body codec.Text) {
	c.addWarnings()
	if c.q.Method == wire.MethodHead {
		if n := body.Len(); n > 0 && n <= headMax {
			c.header.Set("Content-Length", strconv.Itoa(n))
		}
		body = nil
	}
	c.reply(&Answer{Code: code, Header: c.header, Body: body})
}

// reply gives an answer to the Hook, or to the client.
func (c *call) reply(a *Answer) {
	if c.answered { // at the deadline
		a.Drop()
		return
	}
	c.answered = true
	c.deadline.End()
	if c.hook != nil {
		c.hook.Answered(c.exchange, a)
		return
	}
	c.done(a)
}

const (
	warningsMax = 4096 // runes of all warnings together
	warningMax  = 256  // runes of one warning once there are too many
)

// addWarnings prints the warnings as headers: each text once, all cut short when together they are too long. Empty ones are
// left out.
func (c *call) addWarnings() {
	if len(c.warnings) == 0 {
		return
	}
	var texts []string
	total := 0
	seen := map[string]bool{}
	for _, text := range c.warnings {
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
		c.header.Add("Warning", "299 - "+quote(text))
	}
}

// quote prints a quoted-string of RFC 9110.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
