package fake_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestConditions checks that OpenAPI documents can be requested conditionally and in ranges, over a socket and in
// process. The case negotiation/openapi-conditions contains a real server's responses.
func TestConditions(t *testing.T) {
	srv := fake.RunT(t, fake.Options{})
	l, err := srv.Listen(fake.ListenOptions{})
	is.New(t).NoErr(err)
	for carrier, way := range map[string]struct {
		transport http.RoundTripper
		url       string
	}{"in process": {srv.Transport(), srv.URL()}, "socket": {&http.Transport{DisableCompression: true}, l.URL()}} {
		t.Run(carrier, func(t *testing.T) {
			is := is.New(t)
			ask := func(method, path string, header ...string) (int, http.Header, string) {
				r, err := http.NewRequest(method, way.url+path, nil)
				is.NoErr(err)
				for i := 0; i < len(header); i += 2 {
					r.Header.Set(header[i], header[i+1])
				}
				res, err := way.transport.RoundTrip(r)
				is.NoErr(err)
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				is.NoErr(err)
				return res.StatusCode, res.Header, string(body)
			}
			const document = "/openapi/v3/apis/apps/v1"
			code, header, whole := ask("GET", document)
			is.Equal(code, http.StatusOK)
			is.True(strings.HasPrefix(whole, `{"`))
			code, _, body := ask("GET", document, "If-Modified-Since", header.Get("Last-Modified"))
			is.Equal(code, http.StatusNotModified)
			is.Equal(body, "")
			code, _, _ = ask("GET", document, "If-None-Match", `"x", `+header.Get("ETag"))
			is.Equal(code, http.StatusNotModified)
			code, _, _ = ask("GET", document, "If-Match", `"x"`)
			is.Equal(code, http.StatusPreconditionFailed)
			code, part, body := ask("GET", document, "Range", "bytes=1-4")
			is.Equal(code, http.StatusPartialContent)
			is.Equal(body, whole[1:5])
			is.True(strings.HasPrefix(part.Get("Content-Range"), "bytes 1-4/"))

			_, header, whole = ask("GET", "/openapi/v2")
			_, packed, body := ask("GET", "/openapi/v2", "Accept-Encoding", "gzip")
			is.Equal(packed.Get("Content-Encoding"), "gzip")
			z, err := gzip.NewReader(strings.NewReader(body))
			is.NoErr(err)
			plain, err := io.ReadAll(z)
			is.NoErr(err)
			is.Equal(string(plain), whole)
			_, head, body := ask("HEAD", "/openapi/v2", "Accept-Encoding", "gzip")
			is.Equal(body, "")
			is.Equal(head.Get("Content-Length"), header.Get("Content-Length"))
		})
	}
}
