package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// discoveryTimeout is the time limit for an aggregated API server's response to a discovery request.
const discoveryTimeout = 5 * time.Second

// Forward implements sim.Aggregator (k8s.io/kube-aggregator, proxyHandler.ServeHTTP).
func (a *Aggregator) Forward(x *sim.APIService, q *apiserver.Request, user resource.User,
	w sim.Within) *apiserver.Answer {
	header := http.Header(q.Header)
	upgrade := upgrades(header)
	host, transport, err := a.upstream(x, upgrade != "")
	switch {
	case host == "":
		return nil
	case err != nil:
		return plainText(http.StatusInternalServerError, err.Error())
	}
	ctx, cancel := limited(q, w)
	hideUser(header, &a.options.RequestHeader)
	r, err := outgoing(ctx, q, location(host, q.Path, q.Query), user, upgrade)
	if err != nil {
		cancel()
		return plainText(http.StatusInternalServerError, err.Error())
	}
	res, err := transport.RoundTrip(r)
	if err != nil && errors.Is(context.Cause(ctx), errLimit) {
		cancel()
		return apiserver.TimedOut
	}
	switch {
	case err != nil && upgrade != "":
		cancel()
		return plainText(http.StatusServiceUnavailable, fmt.Sprintf("error dialing backend: %v", err))
	case err != nil:
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel()
		return plainText(http.StatusServiceUnavailable, fmt.Sprintf("error trying to reach service: %v", err))
	}
	got, refused := answered(res, upgrade != "")
	rw, connected := res.Body.(io.Writer)
	switch {
	case refused:
		res.Body.Close()
		cancel()
	case connected && res.StatusCode == http.StatusSwitchingProtocols:
		got.Stream = answer.Connection{Closing: answer.Closing{ReadCloser: res.Body, End: cancel}, Writer: rw}
	default:
		got.Stream = answer.Closing{ReadCloser: res.Body, End: cancel}
	}
	return got
}

// errLimit is the cause if a request exceeds its time limit.
var errLimit = errors.New("the request took too long")

// limited returns the context of a forwarded request. It is cancelled when the client's request ends, when the time limit of the
// request is exceeded and, for a discovery request, after discoveryTimeout.
func limited(q *apiserver.Request, w sim.Within) (context.Context, func()) {
	parent := q.Context
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancelCause(parent)
	limit, cause := q.Limit, errLimit
	if strings.Count(strings.Trim(q.Path, "/"), "/") == 2 && (limit == 0 || limit > discoveryTimeout) { // /apis/GROUP/VERSION
		limit, cause = discoveryTimeout, context.DeadlineExceeded
	}
	if limit == 0 {
		return ctx, func() { cancel(nil) }
	}
	timed, stop := w(limit)
	forget := context.AfterFunc(timed, func() { cancel(cause) })
	return ctx, func() {
		forget()
		stop()
		cancel(nil)
	}
}

// plainText returns a plain-text response in the format of http.Error.
func plainText(code int, text string) *apiserver.Answer {
	body := text + "\n"
	if strings.HasPrefix(text, "error trying to reach service") { // written by the transport, not by the handler
		body = text
	}
	return &apiserver.Answer{Code: code, Body: codec.TextOf([]byte(body)), Header: wire.Header{
		"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}}}
}

// hopByHop are the headers that apply only to a single connection (RFC 9110, Connection).
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade"}

// removeHops removes all hop-by-hop headers, including the headers that the Connection header lists.
func removeHops(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(textproto.TrimString(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

// upgrades returns the protocol to which a client wants to upgrade, or "".
func upgrades(h http.Header) string {
	for _, list := range h["Connection"] {
		if strings.Contains(strings.ToLower(list), "upgrade") {
			return h.Get("Upgrade")
		}
	}
	return ""
}

// outgoing creates the request to an aggregated API server. It removes the user's credentials and adds the headers that identify
// the user.
func outgoing(ctx context.Context, q *apiserver.Request, at *url.URL, user resource.User, upgrade string) (*http.Request, error) {
	var body io.Reader = http.NoBody
	switch {
	case q.Rest != nil:
		body = io.MultiReader(bytes.NewReader(q.Body), q.Rest)
	case len(q.Body) > 0:
		body = bytes.NewReader(q.Body)
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, at.String(), body)
	if err != nil {
		return nil, err
	}
	if length, err := strconv.ParseInt(q.Header.Get("Content-Length"), 10, 64); q.Rest != nil && err == nil {
		r.ContentLength = length
	}
	r.Header = http.Header(q.Header)
	removeHops(r.Header)
	r.Header.Del("Authorization")
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			delete(r.Header, name)
		}
	}
	if _, named := r.Header["User-Agent"]; !named {
		r.Header["User-Agent"] = []string{""} // do not send Go's default
	}
	if host, _, err := net.SplitHostPort(q.From); err == nil {
		r.Header.Set("X-Forwarded-For", strings.Join(append(slices.Clone(r.Header["X-Forwarded-For"]), host), ", "))
	}
	if upgrade != "" {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", upgrade)
	} else {
		r.Header.Set("X-Forwarded-Host", at.Host)
		r.Header.Set("X-Forwarded-Proto", at.Scheme)
		r.Header.Set("X-Forwarded-Uri", at.Path)
	}
	setUser(r.Header, user)
	return r, nil
}

// hideUser removes the headers by which proxies identify a user: the configured ones and the usual ones.
func hideUser(h http.Header, o *auth.RequestHeader) {
	for _, name := range slices.Concat([]string{"X-Remote-User", "X-Remote-Group", "X-Remote-Uid"}, o.UsernameHeaders, o.GroupHeaders, o.UIDHeaders) {
		h.Del(name)
	}
	for _, prefix := range append([]string{"X-Remote-Extra-"}, o.ExtraHeaderPrefixes...) {
		for name := range h {
			if strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)) {
				delete(h, name)
			}
		}
	}
}

// setUser sets the headers that identify the user of a request (client-go, transport.SetAuthProxyHeaders).
func setUser(h http.Header, user resource.User) {
	h.Set("X-Remote-User", user.Name)
	if user.UID != "" {
		h.Set("X-Remote-Uid", user.UID)
	}
	for _, group := range user.Groups {
		h.Add("X-Remote-Group", group)
	}
	for key, values := range user.Extra { // order does not matter
		for _, value := range values {
			h.Add("X-Remote-Extra-"+escapedKey(key), value)
		}
	}
}

// escapedKey percent-encodes the key of an extra value for use in a header name.
func escapedKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		if c == '%' || !strings.ContainsRune("!#$&'*+-.^_`|~", rune(c)) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// answered converts the response of an aggregated API server. If the response is a redirect or a failed upgrade, it returns an
// error response instead, and refused is true.
func answered(res *http.Response, upgrade bool) (a *apiserver.Answer, refused bool) {
	a = &apiserver.Answer{Code: res.StatusCode, Header: wire.Header(res.Header)}
	switch code := res.StatusCode; {
	case code == http.StatusSwitchingProtocols:
		return a, false
	case upgrade && code < 400:
		return plainText(http.StatusServiceUnavailable, fmt.Sprintf("invalid upgrade response: status code %d", code)), true
	case code >= 300 && code <= 399 && res.Header.Get("Location") != "":
		const refusal = "the backend attempted to redirect this request, which is not permitted"
		return &apiserver.Answer{Code: http.StatusBadGateway, Body: codec.TextOf([]byte(refusal)),
			Header: wire.Header{"Content-Type": {"text/plain; charset=utf-8"}}}, true
	}
	removeHops(res.Header)
	for _, name := range []string{"Credentials", "Headers", "Methods", "Origin"} {
		a.Header.Del("Access-Control-Allow-" + name)
	}
	a.Header.Del("Date") // it is set when the response is written
	return a, false
}
