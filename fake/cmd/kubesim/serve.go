package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/fake/signer"
	"github.com/kubesim/kubesim/sim/cbor"
)

// serve implements kubesim serve. It serves until ctx ends.
func (p program) serve(ctx context.Context, args []string) error {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	f.options.CBOR = cbor.Codec{}
	f.options.Progress = &workLines{out: p.stderr, clock: clock.System{}}
	setCollector()
	if err := f.complete(); err != nil {
		return err
	}
	closeSigner, err := signer.Configure(ctx, &f.options.ServiceAccounts)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer closeSigner()
	srv, err := f.start()
	if err != nil {
		return err
	}
	defer srv.Close()
	go new(burst).watch(ctx)
	srv.AdmitThrough(srv.Network())
	srv.ConvertThrough(srv.Network())
	if err := f.fill(srv, p.stderr); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	listeners, err := f.listenAll(srv)
	if err != nil {
		return err
	}
	if f.pace != nil {
		go f.pace.run(ctx)
	}
	l := listeners[0]
	token := ""
	if f.authenticates() {
		token = f.users.first()
	}
	if f.kubeconfig != "" {
		config, err := f.users.kubeconfig(srv, l, token)
		if err == nil {
			err = os.WriteFile(f.kubeconfig, config, 0o600)
		}
		if err != nil {
			return fmt.Errorf("serve: --kubeconfig: %w", err)
		}
	}
	beside, stop, err := f.serveBeside(srv, l, token)
	if err != nil {
		return err
	}
	defer stop()
	for _, l := range listeners {
		fmt.Fprintln(p.stdout, "serving", l.URL()) // everything is ready when this line is printed
	}
	for _, line := range beside {
		fmt.Fprintln(p.stdout, line)
	}
	fmt.Fprintln(p.stderr, "try:", f.try(l.URL(), token))
	for _, note := range f.users.notes {
		fmt.Fprintln(p.stderr, "note: --token-auth-file:", note)
	}
	f.noteAccess(p.stderr, l.URL())
	if torn := srv.DataTorn(); torn != "" {
		fmt.Fprintf(p.stderr, "note: --archive %s is damaged %s; the server continues from there, and keeps the damaged file as %[1]s.torn\n", f.options.Archive, torn)
	}
	return p.wait(ctx, srv)
}

// noteAccess prints notes about clients that have more rights than the flags suggest.
func (f *serveFlags) noteAccess(out io.Writer, url string) {
	if !f.authenticates() && f.identifies() {
		fmt.Fprintln(out, "note: --token and certificates have no effect without --auth rbac: all clients are cluster-admin")
	}
	if f.reach.anyone && f.openToAnyone() {
		fmt.Fprintln(out, "note: --insecure-anyone: every client that reaches", url, "is cluster-admin")
	}
}

// serveBeside serves the page and the API of etcd, if flags ask for them. It returns a line for each, and a function that ends both.
func (f *serveFlags) serveBeside(srv *fake.Server, l *fake.Listener, token string) (lines []string, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, end := range stops {
			end()
		}
	}
	add := func(name, url string, end func(), err error) error {
		if err == nil {
			lines, stops = append(lines, name+" "+url), append(stops, end)
			return nil
		}
		stop()
		return fmt.Errorf("serve: %w", err)
	}
	if f.web != "" {
		url, end, err := servePage(f.web, f.pageAddress(), l, token)
		if err := add("page", url, end, err); err != nil {
			return nil, nil, err
		}
	}
	if f.etcdListen != "" {
		url, end, err := f.serveEtcd(srv)
		if err := add("etcd", url, end, err); err != nil {
			return nil, nil, err
		}
	}
	return lines, stop, nil
}

// fill stores the objects that the flags name.
func (f *serveFlags) fill(srv *fake.Server, out io.Writer) error {
	if err := f.imports.into(srv, out); err != nil {
		return err
	}
	if err := srv.Load(f.loads...); err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	return nil
}

// lineEvery is the interval between the progress lines of workLines.
const lineEvery = 3 * time.Second

// workLines implements config.Progress. It prints a line every few seconds while controllers and nodes are continuously busy, for
// example while a large cluster is filled.
type workLines struct {
	out         io.Writer
	clock       clock.Clock
	began, last time.Time
	before      int // the last number of reconciles
}

// Reconciled implements config.Progress.
func (w *workLines) Reconciled(done, due int) {
	at := w.clock.Now()
	if done < w.before || w.before == 0 { // a new series of reconciles
		w.began, w.last = at, at
	}
	if w.before = done; at.Sub(w.last) >= lineEvery {
		w.last = at
		fmt.Fprintf(w.out, "working: %d reconciles in %s, %d are due\n", done, at.Sub(w.began).Round(time.Second), due)
	}
}

// start starts a new server with the completed options, or the server in the archive. It returns an error if anyone in the network could open the archive's
// server with publicly known credentials.
func (f *serveFlags) start() (*fake.Server, error) {
	srv, err := fake.New(f.options)
	if err != nil && f.options.Archive != "" {
		return nil, fmt.Errorf("serve: --archive: %s", strings.TrimPrefix(err.Error(), "kubesim: Options.Archive: "))
	}
	if err == nil && f.reach.private && srv.OpenToAnyone() {
		srv.Close()
		return nil, fmt.Errorf("serve: --listen %s: the network can reach it, and publicly known credentials open the server in --archive %s, "+
			"because it was saved for this machine only: add --insecure-anyone if this is intended", f.listen, f.options.Archive)
	}
	return srv, err
}

// wait waits until ctx ends. It prints a warning if the archive cannot keep up.
func (p program) wait(ctx context.Context, srv *fake.Server) error {
	lost := srv.DataLost()
	for {
		select {
		case <-ctx.Done():
			srv.Close()
			return srv.DataError()
		case <-lost:
			fmt.Fprintln(p.stderr, "error: --archive: writes from now on may be lost:", srv.DataError())
			lost = nil
		}
	}
}

// try returns an example command for the server. kubectl sends tokens only over TLS.
func (f *serveFlags) try(url, token string) string {
	switch {
	case f.kubeconfig != "" && (token == "" || f.overTLS()):
		return "kubectl --kubeconfig " + f.kubeconfig + " get namespaces"
	case token != "" && !f.overTLS():
		return `curl -H "Authorization: Bearer ` + token + `" ` + url + "/api/v1/namespaces   (kubectl sends tokens over TLS only: add --tls)"
	case f.overTLS():
		return "kubectl --server " + url + " --insecure-skip-tls-verify --token " + cmp.Or(token, listen.UnreadToken) + " get namespaces"
	}
	return "kubectl --server " + url + " get namespaces"
}
