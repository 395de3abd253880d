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
)

// The variables of the environment.
const (
	seedVariable   = "KUBESIM_SEED"
	traceVariable  = "KUBESIM_TRACE"
	faultsVariable = "KUBESIM_FAULTS"
)

// traceKept is how many records of the trace are kept to be read.
const traceKept = 10_000

// APIServer serves as kube-apiserver does until ctx ends. args are its flags, without the name of the program. It returns
// an error when they make no sense, or when it cannot serve.
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
	if len(s.idle) > 0 {
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): these flags have no effect: %s; kube-apiserver --help describes the others\n", strings.Join(s.idle, ", "))
	}
	for _, note := range s.notes {
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): --token-auth-file: %s\n", note)
	}
	return s.serve(ctx, stderr)
}

// serve starts the server over the data of etcd and serves.
func (s *servers) serve(ctx context.Context, stderr io.Writer) error {
	data, err := borrow(ctx, s.etcd)
	switch {
	case err == nil:
		defer data.Close()
		s.options.Data = data.Dir
	case errors.Is(err, errForeign):
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): etcd at %s: %v\n", s.etcd, err)
		data = &lent{}
	default:
		return err
	}
	srv, traced, err := s.start(stderr)
	if err != nil {
		return err
	}
	defer func() {
		srv.Close()
		<-traced
	}()
	l, err := srv.Listen(s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "kube-apiserver (kubesim): serving %s\n", l.URL())
	select {
	case <-ctx.Done():
		return srv.DataError()
	case <-data.Gone: // never, without one
	}
	fmt.Fprintf(stderr, "kube-apiserver (kubesim): etcd at %s is gone\n", s.etcd)
	srv.Replica(1).Cut()
	<-ctx.Done()
	return nil
}

// start makes the server and the parts that environment variables configure. traced is closed when the server has ended and its whole trace
// is written.
func (s *servers) start(stderr io.Writer) (srv *fake.Server, traced <-chan struct{}, err error) {
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%s=%s: want a number", seedVariable, text)
		}
		s.options.Seed = seed
	}
	var to []io.Writer
	if s.loud >= 3 {
		to = append(to, stderr)
	}
	if path := os.Getenv(traceVariable); path != "" {
		f, err := createNext(path)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", traceVariable, err)
		}
		to = append(to, f)
	}
	if len(to) > 0 {
		s.options.Trace = traceKept
	}
	if srv, err = fake.New(s.options); err != nil {
		return nil, nil, err
	}
	if traced, err = follow(srv, to); err != nil {
		srv.Close()
		return nil, nil, err
	}
	if path := os.Getenv(faultsVariable); path != "" {
		if err := addFaults(srv, path); err != nil {
			srv.Close()
			return nil, nil, fmt.Errorf("%s: %w", faultsVariable, err)
		}
	}
	return srv, traced, nil
}

// follow writes the trace as it grows, until the server is closed; written is closed then.
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
		_, _ = io.Copy(io.MultiWriter(to...), res.Body) // it ends with the server
	}()
	return done, nil
}

// createNext creates a file that was not there: path, or path.2, path.3 and so on. A suite starts many servers.
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

// addFaults adds the faults of a file.
func addFaults(srv *fake.Server, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := srv.Faults.AddText(string(text)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
