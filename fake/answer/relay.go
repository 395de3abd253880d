package answer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/kubesim/kubesim/sim/apiserver"
)

// Closing is a response body that ends its request when it is closed.
type Closing struct {
	io.ReadCloser
	End func()
}

// Close implements io.Closer.
func (c Closing) Close() error {
	err := c.ReadCloser.Close()
	c.End()
	return err
}

// relay copies a body to a response. It flushes each part immediately, because it may be an event of a watch.
func relay(w http.ResponseWriter, body io.ReadCloser) {
	defer body.Close()
	flusher := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		if _, failed := w.Write(buffer[:n]); failed != nil {
			return // the client has disconnected
		}
		switch err {
		case nil:
			_ = flusher.Flush() // not every writer supports it
		case io.EOF:
			return
		default:
			panic(http.ErrAbortHandler) // net/http then breaks the connection
		}
	}
}

// Connection is the body of a response with code 101, which is also writable.
type Connection struct {
	Closing
	io.Writer
}

// takeOver connects client and server until one of them closes the connection.
func (c Connection) takeOver(w http.ResponseWriter, a *apiserver.Answer) {
	defer c.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, fmt.Sprintf("request connection cannot be hijacked: %T", w), http.StatusServiceUnavailable)
		return
	}
	defer client.Close()
	head := &http.Response{StatusCode: a.Code, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header(a.Header)}
	if head.Write(client) != nil {
		return
	}
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(c, buffered) // any error just ends the connection
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(client, c)
		ended <- struct{}{}
	}()
	<-ended
}

// piped is the http.ResponseWriter of a connection that is upgraded in process, with a pipe instead of a socket. A response that is
// written without Hijack is an ordinary response.
type piped struct {
	*httptest.ResponseRecorder
	conn  net.Conn
	taken chan struct{} // closed by Hijack
}

// Hijack implements http.Hijacker.
func (p *piped) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	close(p.taken)
	return p.conn, bufio.NewReadWriter(bufio.NewReader(p.conn), bufio.NewWriter(p.conn)), nil
}

// switchProtocols returns the response of a handler that takes over the connection. Its Body is an io.ReadWriteCloser, as with
// net/http's Transport. The connection is closed when the request's context is done.
func switchProtocols(r *http.Request, method string, serve func(http.ResponseWriter, *http.Request)) (*http.Response, error) {
	client, server := net.Pipe()
	w := &piped{httptest.NewRecorder(), server, make(chan struct{})}
	in := r.Clone(r.Context())
	in.Method = method
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer server.Close()
		serve(w, in)
	}()
	select {
	case <-w.taken:
	case <-ended:
		select {
		case <-w.taken:
		default:
			res := w.Result()
			res.Request, res.ContentLength = r, int64(w.Body.Len())
			res.Body = io.NopCloser(bytes.NewReader(w.Body.Bytes()))
			return res, nil
		}
	}
	forget := context.AfterFunc(r.Context(), func() { client.Close() })
	buffered := bufio.NewReader(client)
	res, err := http.ReadResponse(buffered, r)
	if err != nil {
		forget()
		client.Close()
		return nil, err
	}
	res.Body = pipeEnd{readAhead{client, buffered}, forget}
	return res, nil
}

// pipeEnd is the client's end of an upgraded connection in process.
type pipeEnd struct {
	readAhead
	forget func() bool // releases the request's context
}

// Close implements io.Closer.
func (p pipeEnd) Close() error {
	p.forget()
	return p.Conn.Close()
}
