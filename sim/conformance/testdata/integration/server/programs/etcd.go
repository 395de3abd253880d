package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// RunEtcd starts etcd and returns its URL and a function that ends it and removes its data.
func RunEtcd(label string, flags ...string) (url string, stop func(), err error) {
	dir, err := os.MkdirTemp("", label)
	if err != nil {
		return "", nil, err
	}
	p, url, err := startEtcd(label, dir, flags)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return url, func() {
		p.stop()
		_ = os.RemoveAll(dir) // it is below the folder for temporary files
	}, nil
}

func startEtcd(label, dir string, flags []string) (*process, string, error) {
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	p, err := launch("etcd", label, append([]string{
		"--data-dir=" + filepath.Join(dir, "data"), "--listen-client-urls=" + url, "--advertise-client-urls=" + url,
		"--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync=true", "--log-level=warn", "--quota-backend-bytes=8589934592",
	}, flags...))
	if err != nil {
		return nil, "", err
	}
	if err := p.waitUntil(time.Minute, func() bool { return answers(http.DefaultClient, url+"/health", "") }); err != nil {
		p.stop()
		return nil, "", err
	}
	return p, url, nil
}

// IsSimulated reports whether the etcd at an URL is kubesim's: it keeps the data of one API server, below no prefix, and
// does not speak etcd's protocol.
func IsSimulated(url string) bool {
	if !strings.HasPrefix(url, "http://") {
		return false
	}
	if known, ok := simulated.Load(url); ok {
		return known.(bool)
	}
	res, err := http.Get(url + "/")
	if err != nil {
		return false // it may start later
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	is := err == nil && res.StatusCode == http.StatusNotImplemented && strings.Contains(string(text), "kubesim")
	simulated.Store(url, is)
	return is
}

var simulated sync.Map // of URLs

// private is an etcd of kubesim that has the data below one prefix of an etcd that all tests of a package share.
type private struct {
	dir     string
	process *process // nil while no API server runs over it
	url     string
	users   int
	server  *Server // the API server that runs over it
}

var privates = struct {
	sync.Mutex
	of map[string]*private // by URL and prefix
}{of: map[string]*private{}}

// borrow returns the etcd that an API server with a prefix is to use, and a function that gives it back. A real etcd is used
// by all. kubesim's lends its data to one API server: each prefix has an etcd of its own, which runs while an API server does.
func borrow(urls []string, prefix string) (servers []string, giveBack func(), err error) {
	if len(urls) != 1 || !IsSimulated(urls[0]) {
		return urls, func() {}, nil
	}
	privates.Lock()
	defer privates.Unlock()
	key := urls[0] + " " + strings.Trim(prefix, "/")
	e := privates.of[key]
	if e == nil {
		e = &private{}
		if e.dir, err = os.MkdirTemp("", "etcd"); err != nil {
			return nil, nil, err
		}
		privates.of[key] = e
	}
	if e.process == nil {
		if e.process, e.url, err = startEtcd("etcd", e.dir, nil); err != nil {
			return nil, nil, err
		}
	}
	e.users++
	return []string{e.url}, func() {
		privates.Lock()
		defer privates.Unlock()
		if e.users--; e.users == 0 {
			e.process.stop()
			e.process = nil
		}
	}, nil
}

// clear removes all data below a prefix. It returns false when an API server runs over it.
func clear(url, prefix string) (bool, error) {
	privates.Lock()
	defer privates.Unlock()
	key := url + " " + strings.Trim(prefix, "/")
	e := privates.of[key]
	switch {
	case e == nil:
		return true, nil
	case e.process != nil:
		return false, nil
	}
	delete(privates.of, key)
	return true, os.RemoveAll(e.dir)
}

// serves records the API server that runs over the etcd with a prefix.
func serves(urls []string, prefix string, s *Server) {
	if len(urls) != 1 {
		return
	}
	privates.Lock()
	defer privates.Unlock()
	if e := privates.of[urls[0]+" "+strings.Trim(prefix, "/")]; e != nil {
		e.server = s
	}
}

// serving returns the API server below whose prefix a key is, and the rest of the key.
func serving(url, key string) (*Server, string) {
	privates.Lock()
	defer privates.Unlock()
	for of, e := range privates.of {
		if rest, ok := strings.CutPrefix(strings.Trim(key, "/"), strings.TrimPrefix(of, url+" ")+"/"); ok && e.process != nil && e.server != nil {
			return e.server, rest
		}
	}
	return nil, ""
}

// EtcdDialOptions returns the options with which a client connects to the etcd at URLs. kubesim's etcd refuses all calls but two: the
// removal of the keys below a prefix before an API server is started over it, and the write of a webhook configuration in a version
// that is no longer served, which is created through the API server.
func EtcdDialOptions(urls []string) []grpc.DialOption {
	wait := grpc.WithBlock() //nolint:staticcheck // as upstream's tests do
	if len(urls) != 1 || !IsSimulated(urls[0]) {
		return []grpc.DialOption{wait}
	}
	intercept := func(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if remove, ok := request.(*etcdserverpb.DeleteRangeRequest); ok && len(remove.RangeEnd) > 0 {
			if done, err := clear(urls[0], string(remove.Key)); done || err != nil {
				return err
			}
		}
		if put, ok := request.(*etcdserverpb.PutRequest); ok {
			if s, key := serving(urls[0], string(put.Key)); s != nil && isWebhook(put.Value) {
				return s.createWebhook(ctx, key, put.Value)
			}
		}
		return call(ctx, method, request, answer, conn, options...)
	}
	return []grpc.DialOption{wait, grpc.WithChainUnaryInterceptor(intercept)}
}
