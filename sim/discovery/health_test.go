package discovery

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/wire"
)

// checkedHost is a Host with health checks.
type checkedHost struct {
	StandaloneHost
	check func(name string) error
}

func checked(check func(name string) error) Host { return checkedHost{check: check} }

func (h checkedHost) Check(name string) error { return h.check(name) }

func TestHealth(t *testing.T) {
	d := documents(t)
	var broken string
	d.o.Host = checked(func(name string) error {
		if name == broken {
			return errors.New("connection refused")
		}
		return nil
	})
	for _, c := range []struct {
		broken, target string
		code           int
		body           string // or what it must contain, after "…"
	}{
		{"", "/healthz", 200, "ok"},
		{"", "/readyz/etcd-readiness", 200, "ok"},
		{"", "/livez?verbose", 200, "…[+]ping ok\n[+]log ok\n[+]loopback-serving-certificate ok\n[+]etcd ok\n[+]poststarthook/"},
		{"", "/livez?verbose", 200, "…\nlivez check passed\n"},
		{"", "/livez?exclude=etcd&verbose", 200, "…[+]etcd excluded: ok\n"},
		{"", "/livez?exclude=x&exclude=etcd&exclude=b&verbose", 200, "…\nwarn: some health checks cannot be excluded: no matches for \"b\",\"x\"\nlivez check passed\n"},
		{"etcd", "/readyz", 500, "…[-]etcd failed: reason withheld\n"},
		{"etcd", "/readyz", 500, "…\nreadyz check failed\n"},
		{"etcd", "/readyz?exclude=etcd", 200, "ok"},
		{"etcd", "/healthz/etcd", 500, "internal server error: connection refused\n"},
	} {
		is := is.New(t)
		broken = c.broken
		a := get(t, d, c.target)
		is.Equal(a.Code, c.code)
		if part, ok := strings.CutPrefix(c.body, "…"); ok {
			is.True(strings.Contains(string(a.Body), part)) // c.body
		} else {
			is.Equal(string(a.Body), c.body)
		}
	}
}

func TestHead(t *testing.T) {
	is := is.New(t)
	a, ok := documents(t).Serve(Request{Method: wire.MethodHead, Path: "/livez"})
	is.True(ok)
	is.Equal(a.Code, 200)
	is.Equal(string(a.Body), "ok") // for Content-Length
}

func TestRelease(t *testing.T) {
	is := is.New(t)
	is.Equal(Release("v1.36.3"), Version{"1", "36", "1", "36", "1", "35", "v1.36.3"})
	is.Equal(Release("dev"), Version{GitVersion: "dev"}) // no numbers to parse
}
