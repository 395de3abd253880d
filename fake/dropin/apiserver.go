package dropin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/encryption"
	"github.com/kubesim/kubesim/fake/signer"
	"github.com/kubesim/kubesim/sim"
)

// traceKept is the number of trace records that are kept for reading.
const traceKept = 10_000

// APIServer serves like kube-apiserver until ctx ends. args are its flags, without the program name. It returns an error if the
// flags are invalid, or if it cannot serve.
func APIServer(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	help := parse(args, isBool)
	switch {
	case help.has("help") || help.has("h"):
		writeHelp(stdout)
		return nil
	case help.has("version"):
		fmt.Fprintln(stdout, "Kubernetes", release)
		return nil
	}
	s, err := read(args)
	if err != nil {
		return err
	}
	if err := s.readVariables(); err != nil {
		return err
	}
	if len(s.idle) > 0 {
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): these flags have no effect: %s\n", strings.Join(s.idle, ", "))
	}
	for _, note := range s.notes {
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): --token-auth-file: %s\n", note)
	}
	return s.serve(ctx, stderr)
}

// serve starts the server with etcd's data and serves until ctx ends.
func (s *servers) serve(ctx context.Context, stderr io.Writer) (err error) {
	closeSigner, err := signer.Configure(ctx, &s.options.ServiceAccounts)
	if err != nil {
		return err
	}
	defer closeSigner()
	if err := encryption.Configure(&s.options); err != nil {
		return err
	}
	data, err := join(ctx, s.etcd, s.prefix, s.self())
	switch {
	case err == nil:
		defer data.Close()
		s.options.Data, s.options.DataReadOnly, s.options.Standby = data.Dir, !data.Leads, !data.Leads
		s.options.Number, s.options.Peers = data.Server, data.Others
	case errors.Is(err, errForeign):
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): etcd at %s: %v\n", s.etcd, err)
		data = &membership{}
	default:
		return err
	}
	srv, traced, err := s.start(stderr)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.finish(srv))
		srv.Leave()
		srv.Close()
		<-traced
	}()
	values, _ := s.options.Encryption.Values.(*encryption.Values)
	if err := data.share(srv, values, stderr); err != nil {
		return err
	}
	l, err := srv.Listen(s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "kube-apiserver (kubesim): serving %s\n", l.URL())
	select {
	case <-ctx.Done():
		return srv.DataError()
	case <-data.gone: // never, if there is no data
	}
	fmt.Fprintf(stderr, "kube-apiserver (kubesim): etcd at %s has stopped\n", s.etcd)
	srv.Replica(1).Cut()
	<-ctx.Done()
	return nil
}

// self describes the API server to others over the same etcd.
func (s *servers) self() sim.Peer {
	return sim.Peer{Address: s.options.Advertise, EndpointReconciler: s.options.EndpointReconciler, Server: s.options.Replicas[0]}
}

// start starts the server, and its trace if a flag or an environment variable enables it. traced is closed when the server has
// ended and its whole trace is written.
func (s *servers) start(stderr io.Writer) (srv *fake.Server, traced <-chan struct{}, err error) {
	var to []io.Writer
	if s.loud >= 3 {
		to = append(to, stderr)
	}
	if s.trace != "" {
		f, err := createNext(s.trace)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", traceVariable, err)
		}
		to = append(to, f)
	}
	if len(to) > 0 || s.report != "" {
		s.options.Trace = traceKept
	}
	if srv, err = s.startObserved(stderr); err != nil {
		return nil, nil, err
	}
	if traced, err = follow(srv, to); err != nil {
		srv.Close()
		return nil, nil, err
	}
	if s.faults != "" {
		if err := addFaults(srv, s.faults); err != nil {
			srv.Close()
			return nil, nil, fmt.Errorf("%s: %w", faultsVariable, err)
		}
	}
	fmt.Fprint(stderr, s.swarmText())
	srv.Faults.Add(s.swarm...)
	return srv, traced, nil
}

// follow writes the trace to all writers as it grows. written is closed when the server has been closed and the trace is complete.
func follow(srv *fake.Server, to []io.Writer) (written <-chan struct{}, err error) {
	done := make(chan struct{})
	if len(to) == 0 {
		close(done)
		return done, nil
	}
	res, err := (&http.Client{Transport: srv.Transport()}).Get(srv.URL() + "/sim/v1/trace?follow=1")
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(done)
		defer res.Body.Close()
		_, _ = io.Copy(io.MultiWriter(to...), res.Body) // ends when the server is closed
	}()
	return done, nil
}

// createNext creates a new file: path or, if it exists, path.2, path.3 and so on. A suite starts many servers.
func createNext(path string) (*os.File, error) {
	name := path
	for n := 2; ; n++ {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return f, err
		}
		name = path + "." + strconv.Itoa(n)
	}
}

// addFaults adds the faults in a file, or the faults that value contains if it begins with "on ".
func addFaults(srv *fake.Server, value string) error {
	if strings.HasPrefix(value, "on ") {
		return srv.Faults.AddText(value)
	}
	text, err := os.ReadFile(value)
	if err != nil {
		return err
	}
	if err := srv.Faults.AddText(string(text)); err != nil {
		return fmt.Errorf("%s: %w", value, err)
	}
	return nil
}
