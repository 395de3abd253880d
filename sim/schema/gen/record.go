package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
)

// aggregated is the Accept header that requests aggregated discovery: all groups in one document.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// stable matches the paths of OpenAPI documents for stable versions.
var stable = regexp.MustCompile(`^(api|apis|apis/[^/]*|version|.*/v\d+)$`)

// publisher is a kube-apiserver whose published data is recorded.
type publisher struct{ url, token string }

func (p publisher) get(path, accept string) (out map[string]any, err error) {
	q, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+p.token)
	q.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return out, json.NewDecoder(res.Body).Decode(&out)
}

// record writes the published types and the served resources of a kube-apiserver as MINOR.json.gz and default-MINOR.json.gz. If all
// is set, it writes one file, all-MINOR.json.gz, with the types that MINOR.json.gz lacks.
func (p publisher) record(dir string, all bool) error {
	version, err := p.get("/version", "application/json")
	if err != nil {
		return err
	}
	index, err := p.get("/openapi/v3", "application/json")
	if err != nil {
		return err
	}
	paths, _ := index["paths"].(map[string]any)
	schemas := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		doc, err := p.get("/openapi/v3/"+path, "application/json")
		if err != nil {
			return err
		}
		if components, ok := doc["components"].(map[string]any); ok && stable.MatchString(path) != all {
			of, _ := components["schemas"].(map[string]any)
			maps.Copy(schemas, of)
		}
	}
	withoutProse(schemas)
	api, err := p.get("/api", aggregated)
	if err != nil {
		return err
	}
	apis, err := p.get("/apis", aggregated)
	if err != nil {
		return err
	}
	minor := fmt.Sprintf("%v.%v", version["major"], version["minor"])
	if all {
		base, err := readPublished(dir, minor)
		if err != nil {
			return err
		}
		maps.DeleteFunc(schemas, func(name string, _ any) bool { _, known := base.Schemas[name]; return known })
		return pack(filepath.Join(dir, "all-"+minor+".json.gz"),
			map[string]any{"kubernetes": version["gitVersion"], "schemas": schemas, "api": api, "apis": apis})
	}
	if err := pack(filepath.Join(dir, minor+".json.gz"), map[string]any{"kubernetes": version["gitVersion"], "schemas": schemas}); err != nil {
		return err
	}
	return pack(filepath.Join(dir, "default-"+minor+".json.gz"),
		map[string]any{"api": api, "apis": apis, "openapi": slices.Sorted(maps.Keys(paths))})
}

func pack(file string, content any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return writePacked(file, append(raw, '\n'))
}

// withoutProse removes the descriptions, which gen takes from the Go types instead.
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
