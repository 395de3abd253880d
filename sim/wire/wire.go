// Package wire has the words of HTTP that requests and answers are made of: methods, codes, headers. Package net/http, which
// speaks it on sockets, is for those around the simulator: it weighs most of a megabyte in a page.
package wire

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
