package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// The codes of gRPC that etcd uses.
const (
	unknown         = 2
	invalidArgument = 3
	notFound        = 5
	exhausted       = 8
	outOfRange      = 11
	unimplemented   = 12
	unavailable     = 14
)

// Error is the status of a call that failed.
type Error struct {
	Code int
	Text string
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Unavailable returns the error for a call that may succeed later.
func Unavailable(text string) error { return &Error{unavailable, text} }

// The errors of etcd (api/v3/v3rpc/rpctypes).
var (
	errEmptyKey     = &Error{invalidArgument, "etcdserver: key is not provided"}
	errKeyNotFound  = &Error{invalidArgument, "etcdserver: key not found"}
	errValueGiven   = &Error{invalidArgument, "etcdserver: value is provided"}
	errLeaseGiven   = &Error{invalidArgument, "etcdserver: lease is provided"}
	errDuplicateKey = &Error{invalidArgument, "etcdserver: duplicate key given in txn request"}
	errCompacted    = &Error{outOfRange, "etcdserver: mvcc: required revision has been compacted"}
	errFuture       = &Error{outOfRange, "etcdserver: mvcc: required revision is a future revision"}
	errNoLease      = &Error{notFound, "etcdserver: requested lease not found"}
	errLeaseExists  = &Error{9, "etcdserver: lease already exists"}
)

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
func (c *Call) Receive() ([]byte, error) { return receive(c.r.Body) }

// request returns the next message, parsed. It returns io.EOF after the last one.
func (c *Call) request() (message, error) {
	in, err := c.Receive()
	if err != nil {
		return message{}, err
	}
	return parse(in)
}

func receive(from io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, &Error{unimplemented, "kubesim's etcd does not accept compressed messages"}
	case n > messageMax:
		return nil, &Error{exhausted, fmt.Sprintf("received a message of %d bytes, more than %d", n, messageMax)}
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
		code, text = unknown, err.Error()
	}
	h := c.w.Header()
	h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
	if text != "" {
		h.Set(http.TrailerPrefix+"Grpc-Message", url.PathEscape(text))
	}
	_ = http.NewResponseController(c.w).Flush() // the client may have disconnected
}
