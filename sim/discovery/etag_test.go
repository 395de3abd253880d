package discovery

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

func sha(b []byte) string { return fmt.Sprintf("%X", sha512.Sum512(b)) }

func TestAggregatedETag(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	a := get(t, d, "/apis", "Accept", aggregatedType)
	is.Equal(a.Header.Get("ETag"), `"`+sha(bytes.TrimSuffix(a.Body, []byte("\n")))+`"`) // of the document
	is.Equal(a.Header.Get("Vary"), "Accept")
	is.Equal(a.Header.Get("Cache-Control"), "public")
	is.Equal(a.Header.Get("Content-Type"), aggregatedType)
	again := get(t, d, "/apis", "Accept", aggregatedType, "If-None-Match", a.Header.Get("ETag"))
	is.Equal(again.Code, wire.StatusNotModified)                        // the client has it
	is.Equal(len(again.Body), 0)                                        // nothing is sent
	is.Equal(again.Header.Get("ETag"), a.Header.Get("ETag"))            // but the tag
	is.Equal(get(t, d, "/apis").Header.Get("ETag"), "")                 // the legacy document has none
	d.o.Table.Add(custom("example.com", "v1", "widgets", "Widget"))     // another resource
	is.Equal(get(t, d, "/apis", "Accept", aggregatedType).Body, a.Body) // is not seen
	d.Changed()
	is.True(get(t, d, "/apis", "Accept", aggregatedType).Header.Get("ETag") != a.Header.Get("ETag")) // until Changed
}

func TestOpenAPIHashes(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	index := body(t, get(t, d, "/openapi/v3")).Map("paths")
	is.Equal(len(index), 47) // as a default server has
	for _, key := range object.SortedKeys(index) {
		link := index[key].(map[string]any)["serverRelativeURL"].(string)
		a := get(t, d, link)
		_, want, _ := strings.Cut(link, "?hash=")
		is.Equal(sha(a.Body), want)                                  // the hash is the document's
		is.Equal(a.Header.Get("ETag"), `"`+want+`"`)                 // and its tag
		is.Equal(a.Header.Get("Cache-Control"), "public, immutable") // it may be kept
		is.True(!a.Modified.IsZero())                                // conditional requests are allowed
	}
	old := get(t, d, "/openapi/v3/apis/apps/v1?hash=OLD")
	is.Equal(old.Code, wire.StatusMovedPermanently) // to the right one
	is.Equal(old.Header.Get("Location"), index["apis/apps/v1"].(map[string]any)["serverRelativeURL"])
	is.Equal(get(t, d, "/openapi/v3/api/v1").Header.Get("Cache-Control"), "") // without a hash it may change
	is.Equal(get(t, d, "/openapi/v3/api/v1", "Accept", "application/yaml").Code, wire.StatusNotAcceptable)

	a := get(t, d, "/openapi/v2")
	is.Equal(a.Header.Get("ETag"), `"`+sha(a.Body)+`"`)
	proto := get(t, d, "/openapi/v2", "Accept", oldProtoV2, "Accept-Encoding", "gzip")
	is.Equal(proto.Header.Get("ETag"), a.Header.Get("ETag")) // of the JSON form
	is.Equal(proto.Header.Get("Content-Type"), protoV2)      // the new name
	z, err := gzip.NewReader(bytes.NewReader(proto.Packed))
	is.NoErr(err)
	plain, err := io.ReadAll(z)
	is.NoErr(err)
	is.Equal(plain, proto.Body)                                                // the same document
	for _, other := range []string{"", "*", "gzip;q=0", "*;q=0.5, identity"} { // do not accept gzip
		is.Equal(len(get(t, d, "/openapi/v2", "Accept-Encoding", other).Packed), 0)
	}
}

// TestSameBytes checks that two servers with the same table return the same bytes.
func TestSameBytes(t *testing.T) {
	is := is.New(t)
	a, b := documents(t), documents(t)
	for _, path := range []string{"/apis", "/api/v1", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1"} {
		is.Equal(get(t, a, path).Body, get(t, b, path).Body) // independent of earlier requests
	}
}

func TestAcceptable(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct{ accept, want string }{
		{"", "a/json"},
		{"*/*", "a/json"},
		{"a/*", "a/json"},
		{"b/*", ""},
		{"a/yaml", ""},
		{"a/yaml, a/proto", "a/proto"},
		{"a/json;q=0.1,a/proto;q=0.9", "a/proto"},
		{"a/json;as=Table", "a/json"},
	} {
		is.Equal(acceptable(c.accept, "a/json", "a/proto"), c.want) // c.accept
	}
	for accept, want := range map[string]bool{"": false, "gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "*": true, "identity": false} { // order does not matter
		is.Equal(acceptsGzip(accept, true), want)
	}
}
