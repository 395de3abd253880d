package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/scenario"
)

// recorder is the http.RoundTripper of a client-go client. It records requests and responses in a Remote's history without changing
// them.
type recorder struct {
	of     *Remote
	client string
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c recorder) RoundTrip(in *http.Request) (*http.Response, error) {
	var body []byte
	if in.Body != nil {
		var err error
		if body, err = io.ReadAll(in.Body); err != nil {
			return nil, err
		}
		in.Body.Close()
		in.Body = io.NopCloser(bytes.NewReader(body))
	}
	call, stream := scenario.Entry(in.Method, in.URL.Path, in.URL.Query(), body)
	switch {
	case stream != nil && slices.Contains(remoteResources, stream.Scope.Resource):
		stream.Client = c.client
		return c.watch(in, stream)
	case call == nil || !slices.Contains(remoteResources, cmp.Or(call.Resource, call.Scope.Resource)):
		return c.next.RoundTrip(in)
	}
	call.Client = c.client
	return c.call(in, call)
}

// call sends a request, and records it and its response.
func (c recorder) call(in *http.Request, call *checker.Call) (*http.Response, error) {
	c.of.mu.Lock()
	c.of.history.Calls = append(c.of.history.Calls, call)
	call.N = len(c.of.history.Calls)
	c.of.mu.Unlock()
	called := c.of.step.Add(1)
	c.of.noted(func() { call.Called = called })
	res, err := c.next.RoundTrip(in)
	if err != nil {
		return nil, err // the outcome is unknown
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	c.of.noted(func() {
		call.Returned = c.of.step.Add(1)
		if err != nil {
			call.Code, call.Broken = res.StatusCode, true
			return
		}
		c.of.unreadable(call.ReadAnswer(res.StatusCode, body))
	})
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	return res, nil
}

// noted calls f with the lock held, so that f may change the history.
func (r *Remote) noted(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// unreadable records the error for a response that could not be decoded.
func (r *Remote) unreadable(err error) {
	if err != nil {
		r.history.Unreadable = append(r.history.Unreadable, err.Error())
	}
}

// failing is the end of a body. Reading it returns the error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// watch opens a watch, and records it and its events.
func (c recorder) watch(in *http.Request, s *checker.Stream) (*http.Response, error) {
	s.Called = c.of.step.Add(1)
	res, err := c.next.RoundTrip(in)
	if err != nil || res.StatusCode != http.StatusOK {
		return res, err
	}
	c.of.noted(func() {
		c.of.history.Streams = append(c.of.history.Streams, s)
		s.N = len(c.of.history.Streams)
	})
	res.Body = &frames{ReadCloser: res.Body, of: c.of, stream: s}
	return res, nil
}

// frames is the body of a watch. It records each line before it returns the last byte of the line.
type frames struct {
	io.ReadCloser
	of     *Remote
	stream *checker.Stream
	line   []byte
}

// Read implements io.Reader.
func (f *frames) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	f.line = append(f.line, p[:n]...)
	for {
		i := bytes.IndexByte(f.line, '\n')
		if i < 0 {
			break
		}
		f.of.noted(func() { f.of.unreadable(f.stream.ReadEvent(f.line[:i], f.of.step.Add(1))) })
		f.line = f.line[i+1:]
	}
	if err != nil && !errors.Is(err, io.ErrNoProgress) {
		f.end()
	}
	return n, err
}

// Close implements io.Closer.
func (f *frames) Close() error {
	f.end()
	return f.ReadCloser.Close()
}

func (f *frames) end() { f.of.noted(func() { f.stream.Ended = true }) }
