package dropin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	v3 "github.com/kubesim/kubesim/fake/etcd"
)

// etcd implements the program etcd for the API servers of this package.
type etcd struct {
	dir    string
	spaces *spaces
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
		fmt.Fprintf(stdout, "etcd Version: %s\n", v3.Version)
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
	e.spaces = newSpaces(e.dir)
	return e.serve(ctx, addresses, stderr)
}

// serve serves on all addresses until ctx ends.
func (e *etcd) serve(ctx context.Context, addresses []string, stderr io.Writer) error {
	server := &http.Server{Handler: e.handler(), ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // for gRPC
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
		fmt.Fprintf(w, `{"etcdserver":"%s","etcdcluster":"%s","storage":"3.6.0"}`, v3.Version, strings.Join(strings.SplitN(v3.Version, ".", 3)[:2], ".")+".0")
	})
	mux.HandleFunc("GET "+joinPath, e.spaces.join)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if v3.IsGRPC(r) {
			e.spaces.ServeHTTP(w, r)
			return
		}
		http.Error(w, "this is kubesim's etcd: it serves kubesim's kube-apiserver, and clients of etcd v3 over gRPC", http.StatusNotImplemented)
	})
	return mux
}

const etcdHelp = `etcd ` + v3.Version + ` simulated by kubesim. It stores the data of kubesim's kube-apiserver, which etcdctl and other clients
read and write as in etcd while a kube-apiserver runs. Other keys are kept in memory.

Usage:
  etcd [flags]

  --data-dir 'default.etcd'                       the directory for the data
  --listen-client-urls 'http://localhost:2379'    the addresses of the API of etcd v3, /health, /livez, /readyz and /version
  --unsafe-no-fsync 'false'                       has no effect

All other flags are accepted and ignored.
`
