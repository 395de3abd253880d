package openapi

import (
	"encoding/base64"
	"hash/fnv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// shareParameters moves the parameters of OpenAPI 2 paths, in place, to the part of the document that it returns, under a name with
// a hash of the parameter, and replaces them by references. Parameters that differ between kinds stay where they are, and so do
// fieldValidation and dryRun, which kubectl looks for.
func shareParameters(paths map[string]any) map[string]any {
	out := map[string]any{}
	for _, path := range object.SortedKeys(paths) {
		item := object.As(paths[path])
		shareList(item["parameters"], out)
		for _, method := range object.SortedKeys(item) {
			shareList(object.As(item[method])["parameters"], out)
		}
	}
	return out
}

func shareList(v any, out map[string]any) {
	list := asList(v)
	for i := range list {
		p, _ := list[i].(map[string]any)
		if p == nil || !sharable(p) {
			continue
		}
		name := p["name"].(string) + "-" + parameterHash(p)
		out[name] = p
		list[i] = map[string]any{"$ref": refParameters + name}
	}
}

const refParameters = "#/parameters/"

func sharable(p map[string]any) bool {
	if p["in"] == "body" {
		ref, _ := object.As(p["schema"])["$ref"].(string)
		return strings.HasPrefix(ref, refV2+"io.k8s.apimachinery")
	}
	return p["name"] != "name" && !(p["in"] == "query" && (p["name"] == "fieldValidation" || p["name"] == "dryRun"))
}

// parameterHash returns the eight characters that name a parameter: six bytes of the FNV-1 of its JSON, whose members
// stand in the order of the real server's Go struct.
func parameterHash(p map[string]any) string {
	var b []byte
	for _, key := range []string{"uniqueItems", "type", "description", "name", "in", "required", "schema"} {
		if v, ok := p[key]; ok {
			b = append(object.AppendString(append(b, ','), key), ':')
			b = object.AppendJSON(b, v)
		}
	}
	b[0] = '{'
	h := fnv.New64()
	h.Write(append(b, '}')) // never fails
	return base64.URLEncoding.EncodeToString(h.Sum(nil)[:6])
}
