package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The well-known secrets of kubesim do not give access to a server that is reachable from the network: neither the default tokens
// nor the seed. The control API requires a token, too.
func TestReachedFromTheNetwork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--listen", "0.0.0.0:0", "--auth", "rbac")
	_, port, _ := strings.Cut(s.url, "]:")
	s.url = "http://127.0.0.1:" + port
	for token, want := range map[string]int{"admintoken": http.StatusUnauthorized, "alicetoken": http.StatusUnauthorized, "": http.StatusForbidden} {
		s.token = token
		for _, path := range []string{configMaps, "/sim/v1/snapshot"} {
			code, _ := s.do("GET", path, "")
			is.Equal(code, want)
		}
	}
	s.token = ""
	_, stderr := s.stop()
	drawn := regexp.MustCompile(`Bearer ([a-z2-7]{26})"`).FindStringSubmatch(stderr)
	is.True(drawn != nil) // the token is printed

	s = serving(t, "--listen", "0.0.0.0:0", "--auth", "rbac", "--token", "secret")
	_, port, _ = strings.Cut(s.url, "]:")
	s.url, s.token = "http://127.0.0.1:"+port, "secret"
	s.must("GET", configMaps, "")
	s.must("POST", "/sim/v1/compact", "")
	one := s.object("POST", configMaps, `{"metadata":{"generateName":"a-"}}`).Name()
	s = serving(t, "--listen", "0.0.0.0:0", "--auth", "rbac", "--token", "secret")
	_, port, _ = strings.Cut(s.url, "]:")
	s.url, s.token = "http://127.0.0.1:"+port, "secret"
	is.True(s.object("POST", configMaps, `{"metadata":{"generateName":"a-"}}`).Name() != one) // another seed

	s = serving(t, "--listen", "0.0.0.0:0", "--insecure-anyone") // if it is intended
	_, stderr = s.stop()
	is.True(strings.Contains(stderr, "note: --insecure-anyone: every client that reaches "+s.url+" is cluster-admin\n"))

	file := filepath.Join(t.TempDir(), "world")
	for _, args := range [][]string{{"--archive", file}, {"--listen", "0.0.0.0:0", "--auth", "rbac", "--archive", file + "2"}} {
		serving(t, args...).stop()
	}
	var stdout, stderr2 bytes.Buffer
	is.Equal(program{&stdout, &stderr2}.main(t.Context(), []string{"serve", "--listen", "0.0.0.0:0", "--auth", "rbac", "--archive", file}), 1)
	is.True(strings.Contains(stderr2.String(), "publicly known credentials open the server in --archive")) // the rights in the file count
	serving(t, "--listen", "0.0.0.0:0", "--auth", "rbac", "--archive", file+"2")
	is.True(isLoopback("localhost") && isLoopback("127.9.9.9") && isLoopback("::1"))
	is.True(!isLoopback("") && !isLoopback("::") && !isLoopback("192.0.2.1") && !isLoopback("nowhere.invalid"))
}

// The flags for origins and limits apply to the listener.
func TestReachFlags(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--cors-allowed-origins", `^https://a\.example$,^https://b\.example$`, "--max-watches", "1")
	for origin, want := range map[string]int{"https://a.example": 200, "https://b.example": 200, "https://c.example": 403} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/version", nil)
		is.NoErr(err)
		r.Header.Set("Origin", origin)
		res, err := s.client.Do(r)
		is.NoErr(err)
		is.Equal(res.StatusCode, want)
		is.NoErr(res.Body.Close())
	}
	res, err := s.client.Get(s.url + configMaps + "?watch=1")
	is.NoErr(err)
	defer res.Body.Close()
	code, _ := s.do("GET", configMaps+"?watch=1", "")
	is.Equal(code, http.StatusTooManyRequests)
}
