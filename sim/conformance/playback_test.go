package conformance

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// playback is a server that responds to the n-th request of a case with the n-th recorded response, with labels
// replaced by values. A runner that agrees with all responses parses, sends, reduces and normalises like the recorder.
type playback struct {
	c  Case
	mu sync.Mutex
	ns string
	// seen contains the requests, as "METHOD target".
	seen []string
	next int // the index of the step to which the next request belongs
}

func (p *playback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	step, ok := p.stepFor(r, body)
	p.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusCreated)
		return
	}
	rec := p.c.Recorded(step.Name).(*Object)
	headers := rec.Get("headers").(*Object)
	for _, k := range headers.Keys {
		for v := range strings.SplitSeq(p.fill(headers.Members[k].(string)), " | ") {
			w.Header().Add(k, v)
		}
	}
	var status int
	fmt.Sscan(string(rec.Get("status").(Int)), &status)
	w.WriteHeader(status)
	if step.Watch == nil || status != http.StatusOK {
		p.write(w, p.body(rec.Get("body")))
		return
	}
	p.stream(w, r.Context(), rec.Get("body").(*Object))
}

// stepFor records a request and returns its step. It returns false for the runner's own requests.
func (p *playback) stepFor(r *http.Request, body []byte) (Step, bool) {
	if p.ns == "" && !p.c.NoNamespace {
		o, _ := Decode(body)
		p.ns = textAt(o, "metadata", "name")
		return Step{}, false
	}
	if strings.HasPrefix(r.RequestURI, "/sim/v1/") {
		p.next++
		return Step{}, false
	}
	if p.next >= len(p.c.Steps) {
		return Step{}, false
	}
	p.seen = append(p.seen, r.Method+" "+r.RequestURI)
	p.next++
	return p.c.Steps[p.next-1], true
}

// write writes a body, compressed if the recorded body was compressed.
func (p *playback) write(w http.ResponseWriter, body string) {
	if w.Header().Get("Content-Encoding") != "gzip" || body == "" {
		io.WriteString(w, body)
		return
	}
	z := gzip.NewWriter(w)
	defer z.Close()
	io.WriteString(z, body)
}

// stream writes recorded events. It ends if the recorded server ended the stream, otherwise when the client
// disconnects.
func (p *playback) stream(w http.ResponseWriter, ctx context.Context, body *Object) {
	for _, e := range body.Get("events").(*List).Items {
		p.write(w, p.body(e)+"\n")
	}
	w.(http.Flusher).Flush()
	if ended, _ := body.Get("ended").(bool); !ended {
		<-ctx.Done()
	}
}

// body returns the bytes of a recorded body.
func (p *playback) body(v any) string {
	text, ok := v.(string)
	if !ok {
		return p.fill(Encode(metadataFirst(v), false))
	}
	if names, ok := strings.CutPrefix(text, "<protobuf "); ok {
		apiVersion, kind, _ := strings.Cut(strings.TrimSuffix(names, ">"), " ")
		meta := fmt.Sprintf("\x0a%c%s\x12%c%s", len(apiVersion), apiVersion, len(kind), kind)
		return fmt.Sprintf("k8s\x00\x0a%c%s", len(meta), meta)
	}
	if text == "<binary>" {
		return "\x00\xff"
	}
	return p.fill(text)
}

// metadataFirst orders members like a server, so that labels are numbered in the same order.
func metadataFirst(v any) any {
	switch v := v.(type) {
	case *List:
		for i, x := range v.Items {
			v.Items[i] = metadataFirst(x)
		}
	case *Object:
		out := newObject()
		if v.Has("metadata") {
			out.Set("metadata", nil)
		}
		for _, k := range v.Keys {
			out.Set(k, metadataFirst(v.Members[k]))
		}
		return out
	}
	return v
}

var (
	uidLabel  = regexp.MustCompile(`<uid:(\d+)>`)
	nameLabel = regexp.MustCompile(`<name:([^*]*)\*:(\d+)>`)
	plain     = strings.NewReplacer("<time>", "2026-11-20T17:00:00Z", "<ip>", "10.0.0.1", "<age>", "5s", "<n>", "77")
	version   = regexp.MustCompile(`<(rv|listrv|continue):(\d+)>`)
)

// fill replaces labels by values.
func (p *playback) fill(s string) string {
	number := func(text string) (n int) {
		fmt.Sscan(text, &n)
		return n
	}
	s = uidLabel.ReplaceAllStringFunc(s, func(m string) string {
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", number(uidLabel.FindStringSubmatch(m)[1]))
	})
	s = nameLabel.ReplaceAllStringFunc(s, func(m string) string {
		parts := nameLabel.FindStringSubmatch(m)
		return fmt.Sprintf("%sx%04d", parts[1], number(parts[2]))
	})
	s = version.ReplaceAllStringFunc(s, func(m string) string {
		parts := version.FindStringSubmatch(m)
		switch n := number(parts[2]); parts[1] {
		case "rv":
			return fmt.Sprint(40000 + n)
		case "listrv":
			return fmt.Sprint(70000 + n)
		default:
			return fmt.Sprintf("eyJ2IjoibWV0YS5rOHMuaW8vdjEi%04d", n)
		}
	})
	return strings.ReplaceAll(plain.Replace(s), "<ns>", p.ns)
}

// inProcess is a transport that calls a handler without a socket and streams its output.
type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	read, write := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { write.CloseWithError(r.Context().Err()) })
	w := &pipeWriter{header: http.Header{}, body: write, ready: make(chan struct{})}
	go func() {
		t.handler.ServeHTTP(w, in)
		w.WriteHeader(http.StatusOK)
		write.Close()
		stop()
	}()
	<-w.ready
	return &http.Response{StatusCode: w.status, Header: w.header, Body: read, Request: r}, nil
}

type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	status int
	ready  chan struct{}
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) Flush() {}

func (w *pipeWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		close(w.ready)
	}
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
