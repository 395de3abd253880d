package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// patience is the maximum time that a request waits for its response.
const patience = 30 * time.Second

// network is the transport of a Target without a Transport.
var network http.RoundTripper = Network(false)

func (t Target) transport() http.RoundTripper { return cmp.Or(t.Transport, network) }

// Network returns a transport that uses HTTP/1.1, like the recordings, and does not decompress responses. If insecure
// is true, it accepts any certificate.
func Network(insecure bool) *http.Transport {
	return &http.Transport{
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: insecure},
		TLSNextProto:       map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression: true,
	}
}

// exchange is a response: the events of a watch, or a body.
type exchange struct {
	status int
	header http.Header
	body   []byte
	events *List // for a watch with status 200
	ended  bool  // the server ended the watch
}

// request is the request of a step, with all placeholders replaced.
type request struct {
	method, target string
	headers        []Header
	body           []byte
	watch          *Watch
}

// send sends the request and reads the response: the whole body, or the events of a watch.
func (r request) send(ctx context.Context, t Target) (exchange, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := r.build(ctx, t)
	if err != nil {
		return exchange{}, err
	}
	var out exchange
	var resp *http.Response
	t.during(patience, cancel, func() {
		if resp, err = t.transport().RoundTrip(req); err != nil {
			return
		}
		out.status, out.header = resp.StatusCode, resp.Header
		if r.watch == nil || resp.StatusCode != http.StatusOK {
			out.body, err = io.ReadAll(resp.Body)
		}
	})
	if err != nil {
		return exchange{}, err
	}
	defer resp.Body.Close()
	if r.watch != nil && resp.StatusCode == http.StatusOK {
		out.readWatch(t, resp.Body, cancel, *r.watch)
	}
	return out, out.unzip()
}

// build creates the HTTP request. It accepts JSON unless the step has another Accept header.
func (r request) build(ctx context.Context, t Target) (*http.Request, error) {
	u, err := requestURL(t.URL, r.target)
	if err != nil {
		return nil, err
	}
	req := (&http.Request{
		Method: r.method, URL: u, Host: u.Host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header.Set("User-Agent", "conform/v1.0")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	if t.Token != "" {
		req.Header.Set("Authorization", "Bearer "+t.Token)
	}
	for _, h := range r.headers {
		req.Header.Set(h.Name, h.Value)
	}
	if len(r.body) > 0 {
		req.ContentLength = int64(len(r.body))
		req.Body = io.NopCloser(bytes.NewReader(r.body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.body)), nil }
	}
	return req, nil
}

// requestURL returns a URL whose RequestURI is target, byte for byte. If target is not a valid path, such as "/a/%zz",
// it returns an opaque URL. A transport must therefore send URL.RequestURI() and not build a target from URL.Path.
func requestURL(base, target string) (*url.URL, error) {
	b, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	path, query, asked := strings.Cut(target, "?")
	u := &url.URL{Scheme: b.Scheme, Host: b.Host, RawQuery: query, ForceQuery: asked && query == "", RawPath: path}
	u.Path, err = url.PathUnescape(path)
	if err != nil || u.RequestURI() != target {
		u = &url.URL{Scheme: b.Scheme, Host: b.Host, Opaque: target}
	}
	return u, nil
}

// readWatch reads events, one JSON value per line, until it has enough events, the time is up, or the stream ends.
func (e *exchange) readWatch(t Target, body io.Reader, cancel func(), w Watch) {
	e.events = &List{Items: []any{}}
	var stopped atomic.Bool
	stop := func() {
		stopped.Store(true)
		cancel()
	}
	t.during(w.Within, stop, func() {
		plain, err := e.plain(body)
		if err != nil {
			return
		}
		r := bufio.NewReader(plain)
		for len(e.events.Items) < w.Events {
			line, err := r.ReadBytes('\n')
			if err != nil {
				e.ended = err == io.EOF && !stopped.Load()
				return
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			v, err := Decode(line)
			if err != nil {
				return
			}
			e.events.Items = append(e.events.Items, v)
		}
	})
}

// unzip replaces a compressed body with the decompressed one.
func (e *exchange) unzip() error {
	if len(e.body) == 0 {
		return nil
	}
	r, err := e.plain(bytes.NewReader(e.body))
	if err != nil {
		return err
	}
	e.body, err = io.ReadAll(r)
	return err
}

// plain returns a reader that decompresses the body if necessary.
func (e *exchange) plain(body io.Reader) (io.Reader, error) {
	if e.header.Get("Content-Encoding") != "gzip" {
		return body, nil
	}
	return gzip.NewReader(body)
}

// build returns the request of a step, with all placeholders replaced. It returns an error if a placeholder refers to an unknown
// value.
func (s Step) build(vs values) (request, error) {
	r := request{method: s.Method, watch: s.Watch}
	target, err := vs.subst(s.Target)
	if err != nil {
		return r, err
	}
	r.target = strings.ReplaceAll(target, " ", "%20")
	if s.Base64 {
		r.body, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s.Body), ""))
	} else {
		var text string
		text, err = vs.subst(s.Body)
		r.body = []byte(text)
	}
	if err != nil {
		return r, err
	}
	for _, h := range s.Headers {
		h.Value, err = vs.subst(h.Value)
		if err != nil {
			return r, err
		}
		r.headers = append(r.headers, h)
	}
	return r, nil
}
