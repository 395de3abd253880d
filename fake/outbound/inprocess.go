package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/kubesim/kubesim/fake/answer"
)

// inProcess is an http.RoundTripper that calls a handler. The response is complete when the handler returns, or is streamed after
// the handler's first Flush:
//
//	RoundTrip ─ go ─▶ handler ─▶ reply ─┬─ returns: Response with the complete body
//	                                    └─ Flush:   Response whose Body is a pipe; Close ends the handler's context
type inProcess struct {
	handler http.Handler
	life    context.Context // of the server; RoundTrip stops waiting when it ends
}

var errEnded = errors.New("kubesim: the server is closed")

// RoundTrip implements http.RoundTripper. It waits for the handler, or until the request's context is done.
func (p inProcess) RoundTrip(q *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(q.Context())
	forget := context.AfterFunc(p.life, func() { cancel(errEnded) })
	end := func() { forget(); cancel(nil) }
	in := q.Clone(ctx)
	in.Host, in.RequestURI = q.URL.Host, q.URL.RequestURI()
	in.URL.Scheme, in.URL.Host = "", ""
	if in.UserAgent() == "" {
		in.Header.Del("User-Agent") // an empty value only means that none should be sent
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &reply{header: http.Header{}, begun: make(chan struct{})}
	w.reader, w.pipe = io.Pipe()
	context.AfterFunc(ctx, func() { w.reader.CloseWithError(context.Cause(ctx)) })
	go w.run(p.handler, in)
	select {
	case <-w.begun:
	case <-ctx.Done():
		err := context.Cause(ctx)
		end()
		return nil, err
	}
	if w.failed != nil {
		end()
		return nil, w.failed
	}
	res := &http.Response{Status: fmt.Sprint(w.code, " ", http.StatusText(w.code)), StatusCode: w.code, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, ContentLength: -1, Request: q}
	if w.whole {
		end()
		res.ContentLength, res.Body = int64(w.buffer.Len()), io.NopCloser(&w.buffer)
		return res, nil
	}
	res.Body = answer.Closing{ReadCloser: w.reader, End: end}
	return res, nil
}

// reply is the http.ResponseWriter of a handler in process. Until begun is closed, only the handler may access its fields.
type reply struct {
	header http.Header
	sent   http.Header // copy of header when the status code was written
	code   int         // 0 until the header is written
	buffer bytes.Buffer
	whole  bool // buffer contains the complete body
	failed error

	begun  chan struct{}
	begin  sync.Once
	reader *io.PipeReader
	pipe   *io.PipeWriter
}

// run calls the handler. As in package net/http, a panic fails only this request.
func (w *reply) run(h http.Handler, q *http.Request) {
	defer func() {
		if broken := recover(); broken != nil {
			err := fmt.Errorf("the handler panicked: %v", broken)
			w.begin.Do(func() {
				w.failed = err
				close(w.begun)
			})
			w.pipe.CloseWithError(err)
		}
	}()
	h.ServeHTTP(w, q)
	w.WriteHeader(http.StatusOK)
	w.begin.Do(func() {
		w.whole = true
		close(w.begun)
	})
	w.pipe.Close()
}

// Header implements http.ResponseWriter.
func (w *reply) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *reply) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (w *reply) Write(p []byte) (int, error) {
	if w.code == 0 && w.header.Get("Content-Type") == "" {
		w.header.Set("Content-Type", http.DetectContentType(p))
	}
	w.WriteHeader(http.StatusOK)
	select {
	case <-w.begun:
		return w.pipe.Write(p)
	default:
		return w.buffer.Write(p)
	}
}

// Flush implements http.Flusher. The first Flush starts streaming and sends the buffered output.
func (w *reply) Flush() {
	w.WriteHeader(http.StatusOK)
	first := false
	w.begin.Do(func() {
		first = true
		close(w.begun)
	})
	if first && w.buffer.Len() > 0 {
		_, _ = w.pipe.Write(w.buffer.Bytes()) // the next Write returns the error
	}
}
