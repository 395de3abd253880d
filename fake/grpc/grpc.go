// Package grpc implements the part of gRPC that kubesim needs, over net/http: unary calls and streams of servers, unary calls of clients,
// and messages of protobuf without generated code.
//
//	server   HTTP/2 request ─▶ Call ─ Receive ─▶ Message …  Send ─▶ Builder … ─ End ─▶ status in the trailer
//	client   Client.Call(method, Builder) ─ unix socket ─▶ HTTP/2 request ─▶ Message, or an Error
package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// The codes of errors (google.golang.org/grpc/codes).
const (
	Unknown            = 2
	InvalidArgument    = 3
	DeadlineExceeded   = 4
	NotFound           = 5
	ResourceExhausted  = 8
	FailedPrecondition = 9
	OutOfRange         = 11
	Unimplemented      = 12
	UnavailableCode    = 14
)

// Error is the status of a call that failed.
type Error struct {
	Code int
	Text string
}

// NewError returns an Error.
func NewError(code int, text string) *Error { return &Error{code, text} }

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Unavailable returns the error for a call that may succeed later.
func Unavailable(text string) error { return &Error{UnavailableCode, text} }

// messageMax is the maximum size of a message.
const messageMax = 64 << 20

// Call is one call of gRPC, whose messages are framed:
//
//	compressed 1 │ length 4 │ message of protobuf
//
// The status follows in the trailer.
type Call struct {
	w http.ResponseWriter
	r *http.Request
}

// NewCall returns the call that an HTTP request begins.
func NewCall(w http.ResponseWriter, r *http.Request) *Call {
	w.Header().Set("Content-Type", "application/grpc")
	return &Call{w, r}
}

// Receive returns the next message. It returns io.EOF after the last one.
func (c *Call) Receive() ([]byte, error) { return Receive(c.r.Body) }

// Receive returns the next message in a body. It returns io.EOF after the last one.
func Receive(from io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, &Error{Unimplemented, "kubesim does not accept compressed messages"}
	case n > messageMax:
		return nil, &Error{ResourceExhausted, fmt.Sprintf("received a message of %d bytes, more than %d", n, messageMax)}
	}
	message := make([]byte, n)
	_, err := io.ReadFull(from, message)
	return message, err
}

// Frame returns a message with its frame.
func Frame(message []byte) []byte {
	head := [5]byte{}
	binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
	return append(head[:], message...)
}

// Send sends a message.
func (c *Call) Send(message []byte) error {
	if _, err := c.w.Write(Frame(message)); err != nil {
		return err
	}
	return http.NewResponseController(c.w).Flush()
}

// End ends the call. err is an Error, nil, or io.EOF if the client has ended the call.
func (c *Call) End(err error) {
	code, text := 0, ""
	if failed := (*Error)(nil); errors.As(err, &failed) {
		code, text = failed.Code, failed.Text
	} else if err != nil && !errors.Is(err, io.EOF) {
		code, text = Unknown, err.Error()
	}
	h := c.w.Header()
	h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
	if text != "" {
		h.Set(http.TrailerPrefix+"Grpc-Message", url.PathEscape(text))
	}
	_ = http.NewResponseController(c.w).Flush() // the client may have disconnected
}
