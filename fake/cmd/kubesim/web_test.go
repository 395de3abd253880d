package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// builtPage is a page in the form that make web-dist creates.
var builtPage = fstest.MapFS{
	"index.html":                       {Data: []byte("<!doctype html>")},
	"engine/core-0dd2fd71459f.wasm":    {Data: []byte("raw")},
	"engine/core-0dd2fd71459f.wasm.br": {Data: []byte("br")},
	"engine/core-0dd2fd71459f.wasm.gz": {Data: []byte("gz")},
	".secret":                          {Data: []byte("no")},
}

func getPage(method, path, accept string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Accept-Encoding", accept)
	w := httptest.NewRecorder()
	pages{builtPage}.ServeHTTP(w, r)
	return w.Result()
}

func TestPages(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const engine = "/engine/core-0dd2fd71459f.wasm"
	for accept, want := range map[string]string{ // order does not matter: each is requested
		"gzip, deflate, br": "br", "gzip;q=1.0, br;q=0": "gz", "": "raw", "identity": "raw",
	} {
		res := getPage("GET", engine, accept)
		body, err := io.ReadAll(res.Body)
		is.NoErr(err)
		is.Equal(string(body), want) // the smallest encoding that the client accepts
		is.Equal(res.Header.Get("Content-Type"), "application/wasm")
		is.True(strings.Contains(res.Header.Get("Cache-Control"), "immutable")) // its name has a hash
	}
	res := getPage("GET", "/", "br")
	is.Equal(res.StatusCode, http.StatusOK) // index.html
	is.Equal(res.Header.Get("Cache-Control"), "no-cache")
	is.True(strings.Contains(res.Header.Get("Content-Security-Policy"), "'wasm-unsafe-eval'"))
	is.Equal(getPage("GET", "/.secret", "").StatusCode, http.StatusNotFound)
	is.Equal(getPage("GET", "/../web.go", "").StatusCode, http.StatusNotFound)
	is.Equal(getPage("GET", "/missing.js", "").StatusCode, http.StatusNotFound)
	is.Equal(getPage("POST", "/", "").StatusCode, http.StatusMethodNotAllowed)
	is.Equal(getPage("HEAD", "/", "").ContentLength, int64(len("<!doctype html>")))
}

// TestServeWeb checks that the page has its own listener, whose address is in the line after "serving".
func TestServeWeb(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	folder := t.TempDir()
	stdout, w := io.Pipe()
	var stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	is.Equal(program{w, &stderr}.main(ctx, []string{"serve", "--web", folder}), 1)
	is.True(strings.Contains(stderr.String(), "make web-dist")) // how to fix it
	is.NoErr(os.WriteFile(filepath.Join(folder, "index.html"), []byte("hello"), 0o644))
	done := make(chan int, 1)
	go func() { done <- program{w, &stderr}.main(ctx, []string{"serve", "--web", folder}) }()
	lines := bufio.NewScanner(stdout)
	is.True(lines.Scan() && strings.HasPrefix(lines.Text(), "serving http://"))
	is.True(lines.Scan())
	url, ok := strings.CutPrefix(lines.Text(), "page ")
	is.True(ok)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	is.NoErr(err)
	body, err := io.ReadAll(res.Body)
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	is.Equal(string(body), "hello")
	is.Equal(res.Request.URL.RawQuery, "attach") // the page of this cluster
	ask := func(path string, change func(*http.Request)) *http.Response {
		r, err := http.NewRequest("GET", url+path, nil)
		is.NoErr(err)
		change(r)
		res, err := client.Do(r)
		is.NoErr(err)
		is.NoErr(res.Body.Close())
		return res
	}
	is.Equal(ask("api/v1/namespaces", func(*http.Request) {}).StatusCode, 200)
	is.Equal(ask("sim/v1/trace", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }).StatusCode, 200)
	is.Equal(ask("api/v1/namespaces", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }).StatusCode, 403) // another site's page
	is.Equal(ask("sim/v1/snapshot", func(r *http.Request) { r.Host = "evil.example" }).StatusCode, 403)                        // DNS rebinding
	cancel()
	is.Equal(<-done, 0)
	_, err = client.Get(url)
	is.True(err != nil) // it ends with the server
}

// A page that is reachable from the network does not forward requests to the API.
func TestServeWebAbroad(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	folder := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(folder, "index.html"), []byte("hello"), 0o644))
	srv := fake.RunT(t)
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	for address, want := range map[string]int{"127.0.0.1:0": 200, "0.0.0.0:0": 404} { // order does not matter
		url, stop, err := servePage(folder, address, l, "a b")
		is.NoErr(err)
		url, token, _ := strings.Cut(url, "#")
		is.Equal(token, map[int]string{200: "token=a+b", 404: ""}[want]) // only for an attached page
		_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
		is.NoErr(err)
		res, err := http.Get("http://127.0.0.1:" + port + "/version")
		is.NoErr(err)
		is.NoErr(res.Body.Close())
		is.Equal(res.StatusCode, want)
		stop()
	}
}
