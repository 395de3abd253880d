// Package wire contains the HTTP methods, status codes and headers of requests and responses. It exists because package net/http,
// which the programs around the simulator use, would add most of a megabyte to a page.
package wire

import (
	"maps"
	"slices"
	"strings"
)

// The request methods (RFC 9110, RFC 5789).
const (
	MethodGet    = "GET"
	MethodHead   = "HEAD"
	MethodPost   = "POST"
	MethodPut    = "PUT"
	MethodPatch  = "PATCH"
	MethodDelete = "DELETE"
)

// The status codes (RFC 9110, RFC 6585).
const (
	StatusSwitchingProtocols = 101

	StatusOK                    = 200
	StatusCreated               = 201
	StatusAccepted              = 202
	StatusNoContent             = 204
	StatusMovedPermanently      = 301
	StatusNotModified           = 304
	StatusBadRequest            = 400
	StatusUnauthorized          = 401
	StatusForbidden             = 403
	StatusNotFound              = 404
	StatusMethodNotAllowed      = 405
	StatusNotAcceptable         = 406
	StatusConflict              = 409
	StatusGone                  = 410
	StatusRequestEntityTooLarge = 413
	StatusUnsupportedMediaType  = 415
	StatusUnprocessableEntity   = 422
	StatusTooManyRequests       = 429
	StatusInternalServerError   = 500
	StatusNotImplemented        = 501
	StatusServiceUnavailable    = 503
	StatusGatewayTimeout        = 504
)

// TimeFormat is the format of a UTC time in headers.
const TimeFormat = "Mon, 02 Jan 2006 15:04:05 GMT"

// Header contains the headers of a request or response by canonical name, such as Content-Type. It can be converted from and to the
// Header of package net/http.
type Header map[string][]string

// Get returns the first value of a header, or "".
func (h Header) Get(name string) string {
	if values := h[canonical(name)]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Values returns all values of a header.
func (h Header) Values(name string) []string { return h[canonical(name)] }

// Set sets a header to a single value.
func (h Header) Set(name, value string) { h[canonical(name)] = []string{value} }

// Add adds a value to a header.
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

// canonical returns the canonical form of a name, with a capital letter at the beginning and after each hyphen. If the name
// contains a byte that is not allowed in headers, it is returned unchanged.
func canonical(name string) string {
	if isCanonical(name) {
		return name
	}
	for i := range len(name) {
		if c := name[i]; !letter(c) && !mark(c) {
			return name
		}
	}
	out := make([]byte, len(name))
	for i := range out {
		out[i] = cased(name, i)
	}
	return string(out)
}

// isCanonical reports whether a name is in canonical form and consists of letters and hyphens, as nearly all names do.
func isCanonical(name string) bool {
	const capital = 'a' ^ 'A'
	bit := byte(capital) // inverse of the case bit that the next letter must have
	for i := range len(name) {
		switch c := name[i]; {
		case c == '-':
			bit = capital
		case c^bit-'a' < 26:
			bit = 0
		default:
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// mark reports whether c is allowed in a header name (RFC 9110, token) but is not a letter.
func mark(c byte) bool {
	return c > ' ' && c < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, rune(c))
}

// cased returns byte i of a name in the case that the canonical form requires.
func cased(name string, i int) byte {
	switch c := name[i]; {
	case !letter(c):
		return c
	case i == 0 || name[i-1] == '-':
		return c &^ 0x20
	default:
		return c | 0x20
	}
}
