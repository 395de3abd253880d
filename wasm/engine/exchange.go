package engine

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/kubesim/kubesim/sim/schema"
)

// exchangeView is a request, its response and, if it is a watch, its events.
type exchangeView struct {
	N        uint64       `json:"n"`
	Answered uint64       `json:"answered,omitempty"`
	Client   string       `json:"client"`
	Replica  int          `json:"replica"`
	Watch    string       `json:"watch,omitempty"`
	Req      messageView  `json:"req"`
	Res      *messageView `json:"res"` // null while the request waits
	Events   []eventView  `json:"events,omitempty"`
}

// messageView is a request or a response.
type messageView struct {
	Method   string      `json:"method,omitempty"`
	Path     string      `json:"path,omitempty"`
	Code     int         `json:"code,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Lost     int         `json:"lost,omitempty"` // number of bytes that did not arrive
	Headers  [][2]string `json:"headers"`
	Body     string      `json:"body"`
	Encoding string      `json:"encoding,omitempty"` // base64 if Body is not text
	Fields   []wireField `json:"fields,omitempty"`   // decoded protobuf body
}

// eventView is one event of a watch.
type eventView struct {
	Frame uint64 `json:"frame"`
	Type  string `json:"type"`
	Rev   string `json:"rv"`
	Ref   string `json:"ref,omitempty"`
	Name  string `json:"name,omitempty"` // NAMESPACE/NAME of the object
	Text  string `json:"text"`
	Body  string `json:"body"`
}

// resultView is the result of an operation.
type resultView struct {
	Lines   []string      `json:"lines"`
	OK      bool          `json:"ok"`
	Text    string        `json:"text,omitempty"` // the failed expectation
	HTTP    *exchangeView `json:"http,omitempty"`
	Watch   string        `json:"watch,omitempty"`
	Waiting bool          `json:"waiting,omitempty"`
}

func (e *Engine) result(r *scenario.Result) resultView {
	v := resultView{Lines: append([]string{}, r.Lines...), OK: r.OK, Text: r.Failure, Watch: r.Watch, Waiting: r.Waiting}
	if r.HTTP != nil {
		v.HTTP = e.exchange(r.HTTP)
	}
	return v
}

func (e *Engine) exchange(x *scenario.Exchange) *exchangeView {
	kinds := e.server(max(x.Replica, 1)).Schema.Kind
	v := &exchangeView{N: x.N, Answered: x.Answered, Client: x.Client, Replica: x.Replica, Watch: x.Watch,
		Req: messageView{Method: x.Method, Path: x.Path}}
	v.Req.fill(x.Header, x.Body, kinds)
	if x.Answered != 0 {
		v.Res = &messageView{Code: x.Code, Reason: x.Reason, Lost: x.Lost}
		v.Res.fill(x.ResHeader, x.ResBody, kinds)
	}
	if x.Watch != "" {
		v.Events = e.events(x.Watch)
	}
	return v
}

// fill sets the headers and the body.
func (m *messageView) fill(header map[string][]string, body []byte, kinds func(schema.GVK) *schema.Type) {
	m.Headers = [][2]string{}
	for _, name := range object.SortedKeys(header) {
		for _, value := range header[name] {
			m.Headers = append(m.Headers, [2]string{name, value})
		}
	}
	if utf8.Valid(body) && strings.IndexByte(string(body), 0) < 0 {
		m.Body = string(body)
		return
	}
	m.Body, m.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
	m.Fields, _ = openWire(body, kinds)
}

// events returns the events of a watch.
func (e *Engine) events(watch string) []eventView {
	out := []eventView{}
	for _, f := range e.run.world.Frames(0) {
		if f.Lane == "watch/"+watch && (f.Kind == scenario.WatchEvent || f.Kind == scenario.WatchBookmark) {
			body := strings.ToValidUTF8(string(f.Object), "\uFFFD")
			_, name, _ := strings.Cut(f.Ref, " ")
			out = append(out, eventView{f.N, f.Verb, formatRev(f.RV), f.Ref, name, f.Text, body})
		}
	}
	return out
}
