package meter_test

import (
	"bytes"
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

// TestDeprecated checks that /metrics and the audit log name the release in which a deprecated API is removed.
func TestDeprecated(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var log bytes.Buffer
	const policy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}`
	const beta = "networking.k8s.io/v1beta1"
	srv := fake.RunT(t, fake.Options{Metrics: true, Audit: fake.AuditOptions{Policy: policy, Log: &log},
		Replicas: []fake.ReplicaOptions{{Serve: map[string]bool{beta: true}}}})
	client := &http.Client{Transport: srv.Transport()}
	get := func(path string) string {
		res, err := client.Get(srv.URL() + path)
		is.NoErr(err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		is.NoErr(err)
		return string(text)
	}
	get("/apis/" + beta + "/servicecidrs")
	get("/api/v1/endpoints")
	metrics := get("/metrics")
	for _, labels := range []string{
		`group="networking.k8s.io",removed_release="1.37",resource="servicecidrs",subresource="",version="v1beta1"`,
		`group="",removed_release="",resource="endpoints",subresource="",version="v1"`,
	} {
		is.True(strings.Contains(metrics, "apiserver_requested_deprecated_apis{"+labels+"} 1\n"))
	}
	is.Equal(strings.Count(log.String(), `"k8s.io/deprecated":"true"`), 2)
	is.Equal(strings.Count(log.String(), `"k8s.io/removed-release":"1.37"`), 1)
}
