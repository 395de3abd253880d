//go:build page

package http

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
)

// Header holds the headers of a request or an answer, by canonical name.
type Header map[string][]string

// Get returns the first value of a header, "" if there is none.
func (h Header) Get(name string) string {
	if values := h[canonical(name)]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Values returns all values of a header.
func (h Header) Values(name string) []string { return h[canonical(name)] }

// Set puts one value in the place of all.
func (h Header) Set(name, value string) { h[canonical(name)] = []string{value} }

// Add adds a value.
func (h Header) Add(name, value string) {
	name = canonical(name)
	h[name] = append(h[name], value)
}

// Del removes a header.
func (h Header) Del(name string) { delete(h, canonical(name)) }

// Clone returns a copy.
func (h Header) Clone() Header {
	copied := maps.Clone(h)
	for name, values := range copied { // order does not matter
		copied[name] = slices.Clone(values)
	}
	return copied
}

// canonical returns a name with a capital at its beginning and behind each hyphen; a name with a byte that no header may
// have stays as it is.
func canonical(name string) string {
	out := []byte(name)
	for i, c := range out {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch begin := i == 0 || out[i-1] == '-'; {
		case letter && begin:
			out[i] = c &^ 0x20
		case letter:
			out[i] = c | 0x20
		case c >= '0' && c <= '9':
		case c <= ' ' || c >= 0x7f || slices.Contains([]byte(`"(),/:;<=>?@[\]{}`), c):
			return name
		}
	}
	return string(out)
}

// Request is a request to a webhook.
type Request struct {
	Method        string
	URL           *url.URL
	Header        Header
	Body          io.ReadCloser
	ContentLength int64
	RemoteAddr    string // always ""

	ctx context.Context
}

// NewRequest returns a request.
func NewRequest(method, address string, body io.Reader) (*Request, error) {
	return NewRequestWithContext(context.Background(), method, address, body)
}

// NewRequestWithContext returns a request that ends with ctx.
func NewRequestWithContext(ctx context.Context, method, address string, body io.Reader) (*Request, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	q := &Request{Method: method, URL: at, Header: Header{}, ctx: ctx}
	if body != nil {
		q.Body = io.NopCloser(body)
	}
	if sized, ok := body.(interface{ Len() int }); ok {
		q.ContentLength = int64(sized.Len())
	}
	return q, nil
}

// Context returns what ends the request.
func (q *Request) Context() context.Context {
	if q.ctx == nil {
		return context.Background()
	}
	return q.ctx
}

// Response is the answer of a webhook.
type Response struct {
	Status     string
	StatusCode int
	Header     Header
	Body       io.ReadCloser
}

// RoundTripper carries a request to a webhook.
type RoundTripper interface {
	RoundTrip(*Request) (*Response, error)
}

// Do carries a request. Nobody redirects it there.
func Do(transport RoundTripper, q *Request) (*Response, error) { return transport.RoundTrip(q) }

// ResponseWriter takes an answer.
type ResponseWriter interface {
	Header() Header
	Write([]byte) (int, error)
	WriteHeader(code int)
}

// Flusher sends what has been written so far.
type Flusher interface{ Flush() }

// ErrAbortHandler breaks a connection.
var ErrAbortHandler = errors.New("http: abort Handler")
