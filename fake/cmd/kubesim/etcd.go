package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/sim/cbor"
)

// checkEtcd returns an error message if the network can reach the address of --etcd-listen, and "" otherwise. As in etcd without
// certificates, every client may read and write all data.
func (f *serveFlags) checkEtcd() string {
	host, _, err := net.SplitHostPort(f.etcdListen)
	if f.etcdListen == "" || err == nil && (isLoopback(host) || f.reach.anyone) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("--etcd-listen %q: %v", f.etcdListen, err)
	}
	return fmt.Sprintf("--etcd-listen %s: the network can reach it, and every client could read and write all data: use an address of this machine, "+
		"or --insecure-anyone if this is intended", f.etcdListen)
}

// serveEtcd serves the API of etcd at --etcd-listen. It returns the URL, and a function that ends it.
func (f *serveFlags) serveEtcd(srv *fake.Server) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", f.etcdListen)
	if err != nil {
		return "", nil, fmt.Errorf("--etcd-listen: %w", err)
	}
	service := etcd.New(etcd.NewObjects(srv.Storage(), etcd.DefaultPrefix, cbor.Codec{}), clock.System{})
	server := &http.Server{Handler: service, ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l) }() // until stop
	return "http://" + l.Addr().String(), func() { server.Close() }, nil
}
