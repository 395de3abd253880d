package dropin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// dataPath is the path of the request with which an API server locks etcd's folder for itself. The lock ends with the response.
const dataPath = "/kubesim/data"

// etcdVersion is the version of etcd for Kubernetes 1.36.
const etcdVersion = "3.6.8"

// etcd replaces an etcd whose only client is the API server of this package.
type etcd struct {
	dir string

	mu   sync.Mutex
	lent bool
}

// Etcd serves, until ctx is done, the part of etcd that is needed by programs that start it for an API server. Only the flags
// --data-dir and --listen-client-urls have an effect. Etcd returns an error if it cannot create the directory or listen on an
// address.
func Etcd(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := parse(args, func(name string) (yes, known bool) { return name == "help" || name == "h" || name == "version", false })
	switch {
	case s.has("help") || s.has("h"):
		fmt.Fprint(stdout, etcdHelp)
		return nil
	case s.has("version"):
		fmt.Fprintf(stdout, "etcd Version: %s\n", etcdVersion)
		return nil
	}
	e := &etcd{dir: "default.etcd"}
	if s.has("data-dir") {
		e.dir = s.last("data-dir")
	}
	var err error
	if e.dir, err = filepath.Abs(e.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	addresses := s.list("listen-client-urls")
	if len(addresses) == 0 {
		addresses = []string{"http://localhost:2379"}
	}
	return e.serve(ctx, addresses, stderr)
}

// serve serves on all addresses until ctx ends.
func (e *etcd) serve(ctx context.Context, addresses []string, stderr io.Writer) error {
	server := &http.Server{Handler: e.handler(), ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // for gRPC clients, which otherwise wait for a server that supports it
	defer server.Close()
	ended := make(chan error, len(addresses))
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			return fmt.Errorf("--listen-client-urls: %w", err)
		}
		if u.Scheme != "http" {
			return fmt.Errorf("--listen-client-urls: %s: kubesim's etcd supports only http, for an API server on the same machine", address)
		}
		l, err := net.Listen("tcp", u.Host)
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "etcd (kubesim): serving %s, data in %s\n", address, e.dir)
		go func() { ended <- server.Serve(l) }()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// handler returns the handler for HTTP requests to etcd.
func (e *etcd) handler() http.Handler {
	mux := http.NewServeMux()
	health := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"health":"true","reason":""}`) }
	for _, path := range []string{"/health", "/livez", "/readyz"} {
		mux.HandleFunc("GET "+path, health)
	}
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"etcdserver":"%s","etcdcluster":"%s","storage":"3.6.0"}`, etcdVersion, strings.Join(strings.SplitN(etcdVersion, ".", 3)[:2], ".")+".0")
	})
	mux.HandleFunc("GET "+dataPath, e.lend)
	mux.HandleFunc("/", refuse)
	return mux
}

// refuse responds with an error to any other request. A gRPC client gets a gRPC status.
func refuse(w http.ResponseWriter, r *http.Request) {
	const refusal = "this is kubesim's etcd, which only serves kubesim's kube-apiserver"
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		http.Error(w, refusal, http.StatusNotImplemented)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Status", "12") // Unimplemented
	h.Set("Grpc-Message", refusal)
}

// loan is the response at dataPath, as JSON.
type loan struct {
	Dir string `json:"dir"`
}

// lend handles a request for dataPath: it locks the folder for the client until the client disconnects. If another client has locked the
// folder, it responds with 409.
func (e *etcd) lend(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	free := !e.lent
	e.lent = true
	e.mu.Unlock()
	if !free {
		http.Error(w, "another API server has the data", http.StatusConflict)
		return
	}
	defer func() {
		e.mu.Lock()
		e.lent = false
		e.mu.Unlock()
	}()
	if json.NewEncoder(w).Encode(loan{e.dir}) == nil && http.NewResponseController(w).Flush() == nil {
		<-r.Context().Done()
	}
}

// lent is a folder that etcd has locked for this API server until Close. Gone is closed when that etcd ends.
type lent struct {
	Dir  string
	Gone <-chan struct{}

	body io.Closer
}

func (l *lent) Close() error { return l.body.Close() }

var errForeign = errors.New("it is not kubesim's etcd: data is kept in memory only")

const (
	borrowPatience = 20 * time.Second // for an etcd that is starting, and for a previous API server that is ending
	borrowPoll     = 5 * time.Millisecond
)

// borrow locks the folder of the etcd at a URL. It waits up to borrowPatience for an etcd that is starting, or for another API server that
// is ending. If the server is not kubesim's etcd, the error is errForeign.
func borrow(ctx context.Context, etcd string) (*lent, error) {
	ctx, cancel := context.WithTimeout(ctx, borrowPatience)
	defer cancel()
	for {
		l, err := borrowOnce(etcd)
		if err == nil || errors.Is(err, errForeign) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("etcd at %s: %w", etcd, err)
		case <-time.After(borrowPoll):
		}
	}
}

func borrowOnce(etcd string) (*lent, error) {
	res, err := (&http.Client{Transport: &http.Transport{}}).Get(strings.TrimSuffix(etcd, "/") + dataPath)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		if res.StatusCode == http.StatusConflict {
			return nil, errors.New("another API server has the data")
		}
		return nil, errForeign
	}
	d := json.NewDecoder(res.Body)
	var l loan
	if err := d.Decode(&l); err != nil {
		res.Body.Close()
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, res.Body) // until the response ends for any reason
	}()
	return &lent{Dir: l.Dir, Gone: gone, body: res.Body}, nil
}

const etcdHelp = `etcd ` + etcdVersion + ` simulated by kubesim. It stores the data of kubesim's kube-apiserver.

Usage:
  etcd [flags]

  --data-dir 'default.etcd'                       the directory for the data
  --listen-client-urls 'http://localhost:2379'    the addresses of /health, /livez, /readyz and /version
  --unsafe-no-fsync 'false'                       has no effect

All other flags are accepted and ignored.
`
