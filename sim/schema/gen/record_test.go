package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestRecord writes openapi/MINOR.json.gz and openapi/default-MINOR.json.gz from what a real server at KUBESIM_TARGET
// publishes, when KUBESIM_RECORD is set. make boot-data REAL_MINOR=1.37 starts such a server.
func TestRecord(t *testing.T) {
	target := os.Getenv("KUBESIM_TARGET")
	if target == "" || os.Getenv("KUBESIM_RECORD") == "" {
		t.Skip("KUBESIM_RECORD and KUBESIM_TARGET name no real server: make boot-data starts one")
	}
	is := is.New(t)
	get := func(path, accept string) map[string]any {
		q, err := http.NewRequest(http.MethodGet, target+path, nil)
		is.NoErr(err)
		q.Header.Set("Authorization", "Bearer "+os.Getenv("KUBESIM_TOKEN"))
		q.Header.Set("Accept", accept)
		res, err := http.DefaultClient.Do(q)
		is.NoErr(err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		is.NoErr(err)
		is.Equal(res.StatusCode, http.StatusOK) // GET path
		var out map[string]any
		is.NoErr(json.Unmarshal(text, &out))
		return out
	}
	version := get("/version", "application/json")
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	paths := get("/openapi/v3", "application/json")["paths"].(map[string]any)
	stable := regexp.MustCompile(`^(api|apis|apis/[^/]*|version|.*/v\d+)$`)
	schemas := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if components, ok := get("/openapi/v3/"+path, "application/json")["components"].(map[string]any); ok && stable.MatchString(path) {
			maps.Copy(schemas, components["schemas"].(map[string]any))
		}
	}
	withoutProse(schemas)
	minor := version["major"].(string) + "." + version["minor"].(string)
	write := func(name string, content any) {
		f, err := os.Create("openapi/" + name + ".json.gz")
		is.NoErr(err)
		z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
		is.NoErr(err)
		is.NoErr(json.NewEncoder(z).Encode(content))
		is.NoErr(z.Close())
		is.NoErr(f.Close())
	}
	write(minor, map[string]any{"kubernetes": version["gitVersion"], "schemas": schemas})
	write("default-"+minor, map[string]any{"api": get("/api", aggregated), "apis": get("/apis", aggregated),
		"openapi": slices.Sorted(maps.Keys(paths))})
}

// withoutProse removes descriptions: gen takes them from the Go types.
func withoutProse(schemas map[string]any) {
	for _, s := range schemas {
		withoutDescription(s)
	}
}

func withoutDescription(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, text := v["description"].(string); text {
			delete(v, "description")
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "properties" {
				withoutProse(v[key].(map[string]any))
				continue
			}
			withoutDescription(v[key])
		}
	case []any:
		for _, e := range v {
			withoutDescription(e)
		}
	}
}

// TestWithoutProse: a property may be called description.
func TestWithoutProse(t *testing.T) {
	is := is.New(t)
	var schemas map[string]any
	is.NoErr(json.NewDecoder(strings.NewReader(`{"X":{"description":"a","properties":{"description":{"description":"b","type":"string"}}}}`)).Decode(&schemas))
	withoutProse(schemas)
	text, err := json.Marshal(schemas)
	is.NoErr(err)
	is.Equal(string(text), `{"X":{"properties":{"description":{"type":"string"}}}}`)
}
