package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"github.com/kubesim/kubesim/clock"
	overhttp "github.com/kubesim/kubesim/fake/kubectl"
	"github.com/kubesim/kubesim/fake/record"
)

const proxyUsage = `kubesim proxy --to KUBECONFIG --record FILE [flags] forwards requests to a cluster, with the credentials in KUBECONFIG, and records
them with their answers and watch events. Data of Secrets and tokens are replaced. Only programs on this machine can connect. Flags:

  --context NAME      the context of KUBECONFIG (default: the current one)
  --listen ADDRESS    the address to listen on, on this machine (default 127.0.0.1:0)
  --kubeconfig FILE   writes a kubeconfig for the program to record
`

const replayRecordingUsage = `kubesim replay-recording FILE [flags] serves the answers and watch events of a recording, at the recorded times. When it is
interrupted, it prints the requests that differ from the recording; the exit code is 1 if there are any. Flags:

  --listen ADDRESS    the address to listen on, on this machine (default 127.0.0.1:0)
  --kubeconfig FILE   writes a kubeconfig for a program
`

const scenarioFromUsage = `kubesim scenario-from FILE [flags] prints a scenario that repeats a recording (kubesim proxy) or an audit log of level RequestResponse.
The server begins with the objects that the program read first, other clients make the changes that it observed later, and the program
sends its writes. Run the scenario with kubesim run. Flags:

  --client NAME   in an audit log, the program: the beginning of its User-Agent or user name. A client named others makes the changes of
                  all other clients (default: every client sends its own writes)
  --go FILE       writes a Go test that repeats the other clients' writes, and runs your program in place of the recorded one. The
                  necessary part of the recording is written to testdata beside the test
`

// scenarioFrom implements kubesim scenario-from.
func (p program) scenarioFrom(args []string) error {
	set := newFlags("scenario-from")
	client, file := set.String("client", "", ""), set.String("go", "", "")
	path, err := parseAround(set, scenarioFromUsage, "recording", args)
	if err != nil {
		return err
	}
	if *file != "" {
		entries, err := readStory(path, *client, true)
		if err != nil {
			return err
		}
		return p.writeTest(*file, entries)
	}
	text, err := scenarioOf(path, *client)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s", text)
	return nil
}

// scenarioOf returns the scenario of a recording, or of an audit log in which client is the recorded program.
func scenarioOf(path, client string) ([]byte, error) {
	entries, err := readStory(path, client, false)
	if err != nil {
		return nil, err
	}
	text, err := record.Scenario(entries)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return []byte(text), nil
}

// readStory reads the file of a recording, or of an audit log in which client is the recorded program.
func readStory(path, client string, forTest bool) ([]record.Entry, error) {
	entries, err := readRecording(path)
	switch {
	case !errors.Is(err, record.ErrAudit) && client != "":
		return nil, usagef("scenario-from: --client is for audit logs, and %s is none", path)
	case !errors.Is(err, record.ErrAudit):
		return entries, err
	case forTest && client == "":
		return nil, usagef("scenario-from: --go needs --client NAME for an audit log: the program that your test runs")
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if entries, err = record.ReadAudit(in, client); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entries, nil
}

// readRecording reads the file of a recording.
func readRecording(path string) ([]record.Entry, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	entries, err := record.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entries, nil
}

// front is a server on this machine for one program.
type front struct{ address, kubeconfig string }

// proxy implements kubesim proxy. It serves until ctx ends.
func (p program) proxy(ctx context.Context, args []string) error {
	var f front
	set := newFlags("proxy")
	to, in, file := set.String("to", "", ""), set.String("context", "", ""), set.String("record", "", "")
	set.StringVar(&f.address, "listen", "127.0.0.1:0", "")
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	rest, err := parseAll(set, proxyUsage, args)
	switch {
	case err != nil:
		return err
	case *to == "" || *file == "" || len(rest) > 0:
		return usagef("proxy: give --to KUBECONFIG and --record FILE, and no other arguments; see kubesim proxy --help")
	}
	target, err := overhttp.Load([]string{"--kubeconfig", *to, "--context", *in}, os.Getenv)
	if err != nil {
		return fmt.Errorf("proxy: --to: %w", err)
	}
	server, err := url.Parse(target.Config.Server)
	if err != nil {
		return fmt.Errorf("proxy: --to: %w", err)
	}
	out, err := os.OpenFile(*file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("proxy: --record: %w", err)
	}
	defer out.Close()
	recorder := record.To(out)
	err = p.serveFront(ctx, f, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			if target.Token != "" {
				r.Out.Header.Set("Authorization", "Bearer "+target.Token)
			}
		},
		Transport: recorder.Wrap(target.Transport()), FlushInterval: -1,
	})
	return errors.Join(err, recorder.Err())
}

// replayRecording implements kubesim replay-recording. It serves until ctx ends.
func (p program) replayRecording(ctx context.Context, args []string) error {
	var f front
	set := newFlags("replay-recording")
	set.StringVar(&f.address, "listen", "127.0.0.1:0", "")
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	path, err := parseAround(set, replayRecordingUsage, "recording", args)
	if err != nil {
		return err
	}
	entries, err := readRecording(path)
	if err != nil {
		return err
	}
	replay := record.NewReplay(entries, clock.System{})
	if err := p.serveFront(ctx, f, replay); err != nil {
		return err
	}
	differences := replay.Differences()
	for _, d := range differences {
		fmt.Fprintln(p.stderr, d)
	}
	if len(differences) > 0 {
		return exitCode(1)
	}
	fmt.Fprintln(p.stderr, "all requests were as in the recording")
	return nil
}

// serveFront serves a handler until ctx ends. It refuses requests that a web page may have sent.
func (p program) serveFront(ctx context.Context, f front, h http.Handler) error {
	if host, _, err := net.SplitHostPort(f.address); err != nil || !isLoopback(host) {
		return usagef("--listen %s: it must be an address of this machine with a port, such as 127.0.0.1:8001", f.address)
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return err
	}
	address := "http://" + l.Addr().String()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if f.kubeconfig != "" {
		config := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: proxy, cluster: {server: %q}}]\n"+
			"users: [{name: proxy, user: {}}]\ncontexts: [{name: proxy, context: {cluster: proxy, user: proxy}}]\ncurrent-context: proxy\n", address)
		if err := os.WriteFile(f.kubeconfig, []byte(config), 0o600); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != l.Addr().String() && r.Host != "localhost:"+port || r.Header.Get("Origin") != "" {
			http.Error(w, "only programs on this machine may connect", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})}
	fmt.Fprintln(p.stdout, "serving", address)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve returns its error
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
