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

// Closing is a body that ends its request when it is closed.
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

// relay sends a body on, each piece at once: it may be an event of a watch.
func relay(w http.ResponseWriter, body io.ReadCloser) {
	defer body.Close()
	flusher := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		if _, failed := w.Write(buffer[:n]); failed != nil {
			return // the client is gone
		}
		switch err {
		case nil:
			_ = flusher.Flush() // not every writer can
		case io.EOF:
			return
		default:
			panic(http.ErrAbortHandler) // package net/http then breaks the connection
		}
	}
}

// Connection is a body that can be written to: that of an answer with the code 101.
type Connection struct {
	Closing
	io.Writer
}

// takeOver gives the connection to client and server until one of them ends it.
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
		_, _ = io.Copy(c, buffered) // whatever ends it, it has ended
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(client, c)
		ended <- struct{}{}
	}()
	<-ended
}

// piped is the http.ResponseWriter of a connection that is upgraded in process, where a pipe takes the place of the socket. A response that
// is written without Hijack is an ordinary response.
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

// switchProtocols returns the answer of a handler that takes the connection over. Its Body is an io.ReadWriteCloser then, as
// that of net/http's Transport is. The end of the request's context closes the connection.
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
	forget func() bool // the request's context no longer matters
}

// Close implements io.Closer.
func (p pipeEnd) Close() error {
	p.forget()
	return p.Conn.Close()
}
