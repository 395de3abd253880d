package fake_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestNilBytesOutliveTheServer checks that a null in a Secret's data is read as "", but is stored differently from "".
// That is also true for a server that continues from a file.
func TestNilBytesOutliveTheServer(t *testing.T) {
	for name, options := range map[string]fake.Options{"data": {Data: t.TempDir()}, "archive": {Archive: t.TempDir() + "/a.kubesim"}} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			const secrets, body = "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"a","annotations":{"say":"\"null\""}},"data":{"x":VALUE}}`
			put := func(c client, value string) string {
				return c.must("PUT", secrets+"/a", strings.Replace(body, "VALUE", value, 1)).ResourceVersion()
			}
			srv, err := fake.New(options)
			is.NoErr(err)
			client{t, srv}.must("POST", secrets, strings.Replace(body, "VALUE", "null", 1))
			srv.Close()

			srv, err = fake.New(options)
			is.NoErr(err)
			defer srv.Close()
			c := client{t, srv}
			read := c.must("GET", secrets+"/a", "")
			is.Equal(read.Map("data"), map[string]any{"x": ""})
			is.Equal(read.Annotations(), map[string]string{"say": `"null"`})
			first := put(c, `""`)
			is.True(first != read.ResourceVersion()) // something was written
			is.Equal(put(c, `""`), first)            // nothing was written
			is.True(put(c, "null") != first)
		})
	}
}
