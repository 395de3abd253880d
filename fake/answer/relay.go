package answer

import (
	"fmt"
	"io"
	"net/http"

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
