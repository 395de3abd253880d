package bench

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// floor is a RoundTripper that does as little as possible: it responds to a write with the write's own body, and to a read with the
// bytes of kubesim's first response to it. Its time is therefore that of the client.
//
// A real response to a create is longer than the request, because of defaults and managed fields, and takes the client longer to
// decode. A floor with answers also responds to writes with the bytes of kubesim's first response.
type floor struct {
	server       http.RoundTripper
	knowsAnswers bool

	mu       sync.Mutex
	answers  map[string]*answer // by path and content type of the request
	watchers []*stream          // they receive each write as an event
}

// answer is a response of kubesim.
type answer struct {
	header http.Header
	body   []byte
}

func (f *floor) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet && !f.knowsAnswers:
		return f.echo(r)
	case r.Method != http.MethodGet:
		return f.canned(r)
	case query.Has("sendInitialEvents"):
		a, err := f.recorded(r, "watch-list", untilBookmark)
		if err != nil {
			return nil, err
		}
		s := newStream(r)
		s.frames <- a.body
		return respond(r, a.header, s), nil
	case query.Has("watch"):
		s := newStream(r)
		f.mu.Lock()
		f.watchers = append(f.watchers, s)
		f.mu.Unlock()
		return respond(r, http.Header{"Content-Type": {json}}, s), nil
	}
	a, err := f.recorded(r, "", io.ReadAll)
	if err != nil {
		return nil, err
	}
	return respond(r, a.header, io.NopCloser(bytes.NewReader(a.body))), nil
}

// echo responds with the request's body, and sends it to the watchers.
func (f *floor) echo(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	watchers := f.watchers
	f.mu.Unlock()
	if len(watchers) > 0 {
		frame := []byte(`{"type":"ADDED","object":` + string(body) + "}\n")
		for _, w := range watchers {
			w.frames <- frame
		}
	}
	contentType := r.Header.Get("Content-Type")
	if strings.HasPrefix(contentType, "application/apply-patch") {
		contentType = json
	}
	return respond(r, http.Header{"Content-Type": {contentType}}, io.NopCloser(bytes.NewReader(body))), nil
}

// canned reads the request's body, and responds with kubesim's first response to such a request.
func (f *floor) canned(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	a, err := f.recorded(r, r.Method, io.ReadAll)
	if err != nil {
		return nil, err
	}
	return respond(r, a.header, io.NopCloser(bytes.NewReader(a.body))), nil
}

// recorded returns kubesim's response to the first request with this path and form. Later requests get the same response.
func (f *floor) recorded(r *http.Request, form string, read func(io.Reader) ([]byte, error)) (*answer, error) {
	key := r.URL.Path + " " + form
	f.mu.Lock()
	defer f.mu.Unlock()
	if a := f.answers[key]; a != nil {
		return a, nil
	}
	response, err := f.server.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := read(response.Body)
	if err != nil {
		return nil, err
	}
	f.answers[key] = &answer{header: response.Header, body: body}
	return f.answers[key], nil
}

// untilBookmark reads a watch until all initial events have arrived.
func untilBookmark(r io.Reader) ([]byte, error) {
	var all []byte
	buffer := make([]byte, 1<<16)
	for !bytes.Contains(all, []byte(metav1.InitialEventsAnnotationKey)) || !bytes.HasSuffix(all, []byte("\n")) {
		n, err := r.Read(buffer)
		all = append(all, buffer[:n]...)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func respond(r *http.Request, header http.Header, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: -1, Request: r}
}

// stream is the body of a watch. It ends with the request's context.
type stream struct {
	request *http.Request
	frames  chan []byte
	rest    []byte // rest of a frame that was read partly
}

func newStream(r *http.Request) *stream { return &stream{request: r, frames: make(chan []byte, 1000)} }

func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.frames:
		case <-s.request.Context().Done():
			return 0, io.EOF
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close implements io.Closer. A client calls it to stop the watch.
func (s *stream) Close() error { return nil }
