package answer

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
)

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
