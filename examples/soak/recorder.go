package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/object"
)

// recorder is the http.RoundTripper of a client of client-go. It records requests and responses in a Remote's history, and leaves both
// unchanged.
type recorder struct {
	of     *Remote
	client string
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c recorder) RoundTrip(in *http.Request) (*http.Response, error) {
	id, ok := named(in.URL.Path)
	if !ok {
		return c.next.RoundTrip(in)
	}
	if in.URL.Query().Get("watch") != "" {
		return c.watch(in, id)
	}
	call := &checker.Call{Client: c.client, ID: id}
	if err := read(call, in); err != nil {
		return nil, err
	}
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

// noted changes the history.
func (r *Remote) noted(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// unreadable records a response that the server should not have sent.
func (r *Remote) unreadable(err error) {
	if err != nil {
		r.history.Unreadable = append(r.history.Unreadable, err.Error())
	}
}

// failing is the end of a body.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// named returns what the path of a request names, of the resources of a Remote.
func named(path string) (id checker.ID, ok bool) {
	for _, r := range remoteResources {
		plural, group, _ := strings.Cut(r, ".")
		prefix := "/api/v1/"
		if group != "" {
			prefix = "/apis/" + group + "/v1/"
		}
		rest, found := strings.CutPrefix(path, prefix)
		if !found {
			continue
		}
		words := strings.Split(rest, "/")
		if id = (checker.ID{Resource: r}); len(words) > 2 && words[0] == "namespaces" {
			id.Namespace, words = words[1], words[2:]
		}
		if words[0] == plural && len(words) <= 2 {
			id.Name = strings.Join(words[1:], "")
			return id, true
		}
	}
	return id, false
}

// verbs are those of requests that name an object.
var verbs = map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

// read fills in what a request asks for.
func read(call *checker.Call, in *http.Request) error {
	q := in.URL.Query()
	call.Verb, call.Version, call.Match, call.Continue = verbs[in.Method], q.Get("resourceVersion"), q.Get("resourceVersionMatch"), q.Get("continue")
	call.Limit, _ = strconv.Atoi(q.Get("limit"))
	var obj object.Object
	if in.Body != nil {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return err
		}
		in.Body.Close()
		in.Body = io.NopCloser(bytes.NewReader(body))
		obj, _ = object.Parse(body) // a body that is no JSON object names nothing
	}
	switch {
	case in.Method == http.MethodPost:
		call.Name = obj.Name()
	case in.Method == http.MethodDelete:
		obj = object.Object(obj.Map("preconditions"))
		call.Based, _ = strconv.ParseUint(obj.String("resourceVersion"), 10, 64)
	case in.Method != http.MethodGet:
		call.Based, _ = strconv.ParseUint(obj.ResourceVersion(), 10, 64)
	case call.Name == "":
		call.Verb, call.Scope = "list", scopeOf(call.ID, q)
		call.ID = checker.ID{}
	}
	return nil
}

func scopeOf(id checker.ID, q url.Values) checker.Scope {
	name, _ := strings.CutPrefix(q.Get("fieldSelector"), "metadata.name=")
	return checker.Scope{Resource: id.Resource, Namespace: id.Namespace, Name: name, Selector: q.Get("labelSelector")}
}

// watch notes a watch and its events.
func (c recorder) watch(in *http.Request, id checker.ID) (*http.Response, error) {
	q := in.URL.Query()
	s := &checker.Stream{Client: c.client, Scope: scopeOf(id, q), Version: q.Get("resourceVersion"), Bookmarks: q.Get("allowWatchBookmarks") == "true"}
	s.Initial = q.Get("sendInitialEvents") == "true" || !q.Has("sendInitialEvents") && (s.Version == "" || s.Version == "0")
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

// frames is the body of a watch: each line is noted before its last byte is handed on.
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
