package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake"
)

// pagePolicy is the Content-Security-Policy of the page. It allows WebAssembly and no resources from other origins.
const pagePolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; " +
	"img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages serves the files of a built page. A file may have compressed variants FILE.br and FILE.gz, for clients that accept them.
type pages struct{ files fs.FS }

// encodings are the compressed variants of a file, smallest first.
var encodings = []struct{ name, extension string }{{"br", ".br"}, {"gzip", ".gz"}}

// hashed matches names that contain a hash of the contents: core-0dd2fd71459f.wasm, index-Bx3kQ9aZ.js.
var hashed = regexp.MustCompile(`[-.][0-9A-Za-z_-]{8,}\.[a-z0-9]+$`)

// ServeHTTP serves GET and HEAD of a file. For a folder, it serves index.html.
func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are allowed", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if info, err := fs.Stat(p.files, cmp.Or(name, ".")); err == nil && info.IsDir() {
		name = path.Join(name, "index.html")
	}
	if strings.HasPrefix(path.Base(name), ".") {
		http.NotFound(w, r)
		return
	}
	data, encoding, err := p.read(name, r.Header.Get("Accept-Encoding"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if hashed.MatchString(path.Base(name)) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method == http.MethodGet {
		w.Write(data)
	}
}

// read returns a file in the smallest encoding that the client accepts.
func (p pages) read(name, accept string) (data []byte, encoding string, err error) {
	for _, e := range encodings {
		if !takes(accept, e.name) {
			continue
		}
		if data, err := fs.ReadFile(p.files, name+e.extension); err == nil {
			return data, e.name, nil
		}
	}
	data, err = fs.ReadFile(p.files, name)
	return data, "", err
}

// takes reports whether Accept-Encoding contains an encoding with a weight other than zero.
func takes(accept, encoding string) bool {
	for _, part := range strings.Split(accept, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight = strings.ReplaceAll(weight, " ", "")
		if strings.TrimSpace(name) == encoding && weight != "q=0" && !strings.HasPrefix(weight, "q=0.000") {
			return true
		}
	}
	return false
}

// contentType returns the media type of a file. It prefers contentTypes, because package mime depends on the machine.
func contentType(name string) string {
	extension := path.Ext(name)
	return cmp.Or(contentTypes[extension], mime.TypeByExtension(extension), "application/octet-stream")
}

var contentTypes = map[string]string{
	".wasm":        "application/wasm", // otherwise browsers do not compile it while it loads
	".js":          "text/javascript; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".json":        "application/json",
	".map":         "application/json",
	".webmanifest": "application/manifest+json",
	".svg":         "image/svg+xml",
	".bin":         "application/octet-stream",
}

// pageRecords is the number of trace records that are kept for a page that is opened later.
const pageRecords = 10_000

// attachedPage serves the page and forwards API requests to a listener, because a browser lets the page send requests only to its
// own origin. Requests are forwarded unchanged, and the listener decides which origins it accepts.
type attachedPage struct {
	page http.Handler
	api  http.Handler
}

// served matches the paths of an API server and of the control API.
var served = regexp.MustCompile(`^/(api|apis|openapi|sim|version|healthz|livez|readyz|metrics)(/|$)`)

// attach returns the handler that serves the page for the cluster behind a listener.
func attach(page http.Handler, to *fake.Listener) (attachedPage, error) {
	target, err := url.Parse(to.URL())
	if err != nil {
		return attachedPage{}, err
	}
	through := http.DefaultTransport.(*http.Transport).Clone()
	through.Proxy, through.DisableCompression = nil, true
	if ca := to.CA(); ca != nil {
		through.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		through.TLSClientConfig.RootCAs.AppendCertsFromPEM(ca)
	}
	return attachedPage{page, &httputil.ReverseProxy{Transport: through, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // the listener needs it to detect DNS rebinding
	}}}, nil
}

// ServeHTTP implements http.Handler. It redirects a request for / without a query to the page of the cluster.
func (a attachedPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case served.MatchString(r.URL.Path):
		a.api.ServeHTTP(w, r)
	case r.URL.Path == "/" && r.URL.RawQuery == "" && r.Method == http.MethodGet:
		http.Redirect(w, r, "/?attach", http.StatusFound)
	default:
		a.page.ServeHTTP(w, r)
	}
}

// servePage serves the page in a folder on a separate listener, because the path / of the API's listener belongs to the API. If
// there is a cluster and only this machine can reach the page, the page is attached to the cluster. Otherwise the page would open
// the API to clients that cannot reach it directly, or only with TLS. servePage returns the URL and a function that closes the
// listener. The URL of an attached page contains the token in its fragment, which browsers do not send to servers.
func servePage(folder, address string, to *fake.Listener, token string) (at string, stop func(), err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", nil, fmt.Errorf("--web: %w", err)
	}
	if _, err := fs.Stat(root.FS(), "index.html"); errors.Is(err, fs.ErrNotExist) {
		missing := fmt.Errorf("--web %s: there is no index.html; make web-dist builds the page into web/dist", folder)
		return "", nil, errors.Join(missing, root.Close())
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("--web-listen: %w", err), root.Close())
	}
	var h http.Handler = pages{root.FS()}
	fragment := ""
	if at, err := netip.ParseAddrPort(l.Addr().String()); to != nil && err == nil && at.Addr().IsLoopback() {
		if h, err = attach(h, to); err != nil {
			return "", nil, errors.Join(err, l.Close(), root.Close())
		}
		if token != "" {
			fragment = "#token=" + url.QueryEscape(token)
		}
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second}
	go s.Serve(l)
	return "http://" + l.Addr().String() + "/" + fragment, func() { s.Close(); root.Close() }, nil
}

// pageAddress returns the address for the page: --web-listen, or any port of the host of --listen.
func (f *serveFlags) pageAddress() string {
	if f.webListen != "" {
		return f.webListen
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, "0")
}
