package meter_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestFormat checks that /metrics is in the text format of Prometheus: each family has its type before its first sample, and no family
// occurs twice.
func TestFormat(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Metrics: true})
	get := func(path string) string {
		res, err := (&http.Client{Transport: srv.Transport()}).Get(srv.URL() + path)
		is.NoErr(err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		is.NoErr(err)
		return string(text)
	}
	get("/api/v1/pods")
	types := map[string]string{}
	for line := range strings.Lines(get("/metrics")) {
		words := strings.Fields(line)
		if words[0] == "#" && words[1] == "TYPE" {
			is.Equal(len(words), 4)
			is.True(slices.Contains([]string{"counter", "gauge", "histogram", "summary"}, words[3]))
			is.Equal(types[words[2]], "") // it is the first line of the family
			types[words[2]] = words[3]
		} else if words[0] != "#" {
			name, _, _ := strings.Cut(words[0], "{")
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if family, ok := strings.CutSuffix(name, suffix); ok && types[family] == "histogram" {
					name = family
				}
			}
			is.True(types[name] != "") // the sample has a type
		}
	}
	is.Equal(types["apiserver_request_total"], "counter")
	is.Equal(types["apiserver_request_duration_seconds"], "histogram")
}
