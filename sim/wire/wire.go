// Package wire has the words of HTTP that requests and answers are made of: methods, codes, headers. Package net/http, which
// speaks it on sockets, is for those around the simulator: it weighs most of a megabyte in a page.
package wire

import (
	"maps"
	"slices"
	"strings"
)

// The methods of requests (RFC 9110, RFC 5789).
const (
	MethodGet    = "GET"
	MethodHead   = "HEAD"
	MethodPost   = "POST"
	MethodPut    = "PUT"
	MethodPatch  = "PATCH"
	MethodDelete = "DELETE"
)

// The codes of answers (RFC 9110, RFC 6585).
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

// TimeFormat is how headers print a time in UTC.
const TimeFormat = "Mon, 02 Jan 2006 15:04:05 GMT"

// Header holds the headers of a request or an answer by canonical name: Content-Type. That of package net/http converts to
// it and back.
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

// isCanonical reports whether a name is one of letters and hyphens, as nearly all are, and as it is to be.
func isCanonical(name string) bool {
	const capital = 'a' ^ 'A'
	bit := byte(capital) // that the next letter has, turned round
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

// mark reports whether c is allowed in the name of a header (RFC 9110, token), besides letters.
func mark(c byte) bool {
	return c > ' ' && c < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, rune(c))
}

// cased returns a byte of a name as the canonical name has it.
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
