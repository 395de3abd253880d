//go:build !page

package http

import "net/http"

// The types of net/http.
type (
	Header         = http.Header
	Request        = http.Request
	Response       = http.Response
	RoundTripper   = http.RoundTripper
	ResponseWriter = http.ResponseWriter
	Flusher        = http.Flusher
)

// ErrAbortHandler is net/http's.
var ErrAbortHandler = http.ErrAbortHandler

// The functions of net/http.
var (
	NewRequest            = http.NewRequest
	NewRequestWithContext = http.NewRequestWithContext
)

// Do carries a request and follows redirects, as a Client of net/http does.
func Do(transport RoundTripper, q *Request) (*Response, error) {
	return (&http.Client{Transport: transport}).Do(q)
}
