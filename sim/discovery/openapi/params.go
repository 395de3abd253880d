package openapi

import (
	"encoding/base64"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// param is a path or query parameter of an operation.
type param struct {
	name, in, typ, description string
}

var (
	prettyParam = param{"pretty", "query", "string", "If 'true', then the output is pretty printed. Defaults to 'false' unless " +
		"the user-agent indicates a browser or command-line HTTP tool (curl and wget)."}
	namespaceParam = param{"namespace", "path", "string", "object name and auth scope, such as for teams and projects"}
	proxyPathParam = param{"path", "path", "string", "path to the resource"}
)

func nameParam(kind string) param { return param{"name", "path", "string", "name of the " + kind} }

// query returns the query parameters in a list such as "dryRun fieldManager force:boolean".
func query(list string) []param {
	var out []param
	for _, word := range strings.Fields(list) {
		name, typ, ok := strings.Cut(word, ":")
		if !ok {
			typ = "string"
		}
		out = append(out, param{name: name, in: "query", typ: typ})
	}
	return out
}

// The parameters of each verb (ListOptions, CreateOptions, UpdateOptions, PatchOptions and DeleteOptions of meta/v1).
var (
	selectParams = query("continue fieldSelector labelSelector limit:integer resourceVersion resourceVersionMatch sendInitialEvents:boolean shardSelector timeoutSeconds:integer")
	listParams   = append(query("allowWatchBookmarks:boolean watch:boolean"), selectParams...)
	writeParams  = query("dryRun fieldManager fieldValidation")
	patchParams  = append(query("force:boolean"), writeParams...)
	deleteParams = query("dryRun gracePeriodSeconds:integer ignoreStoreReadErrorWithClusterBreakingPotential:boolean orphanDependents:boolean propagationPolicy")
	readParams   = query("resourceVersion") // only of custom resources
	manyParams   = append(slices.Clone(deleteParams), selectParams...)
)

// optionParams returns a query parameter for each field of a kind such as PodLogOptions. Only scalars and lists of scalars can be
// parameters.
func (s *Source) optionParams(t *schema.Type) []param {
	types := map[schema.Kind]string{schema.String: "string", schema.Bool: "boolean", schema.Int: "integer"}
	var out []param
	for _, f := range t.Fields {
		value := f.Type
		if value.Kind == schema.List {
			value = value.Elem
		}
		if typ := types[value.Kind]; typ != "" && f.Name != "kind" && f.Name != "apiVersion" {
			out = append(out, param{f.Name, "query", typ, s.Schema.Description(t.Name, f.Name)})
		}
	}
	return out
}

// options maps each x-kubernetes-action to the kinds whose fields become its parameters.
var options = map[string][]string{
	"list": {"ListOptions"}, "watch": {"ListOptions"}, "watchlist": {"ListOptions"}, "deletecollection": {"DeleteOptions", "ListOptions"},
	"post": {"CreateOptions"}, "put": {"UpdateOptions"}, "patch": {"PatchOptions"}, "delete": {"DeleteOptions"}, "get": {"ListOptions"},
}

// describeParams sets the missing descriptions of an action's parameters.
func (s *Source) describeParams(action string, list []param) {
	for i := range list {
		for _, kind := range options[action] {
			if list[i].description == "" {
				list[i].description = s.Schema.Description(meta+kind, list[i].name)
			}
		}
	}
}

// supported removes the parameters that do not exist in the schema's version.
func (s *Source) supported(list []param) []param {
	t := s.Schema.Named(meta + "ListOptions")
	return slices.DeleteFunc(list, func(p param) bool {
		return p.name == "shardSelector" && (t == nil || t.Field(p.name) == nil)
	})
}

// shared returns the parameters that all operations of a path have in common. They are listed only once, for the path.
func shared(ops []operation) []param {
	return slices.DeleteFunc(slices.Clone(ops[0].params), func(p param) bool {
		return slices.ContainsFunc(ops, func(op operation) bool { return !slices.Contains(op.params, p) })
	})
}

// schema returns the schema of a parameter's values. In OpenAPI 2 its fields are part of the parameter itself.
func (p param) schema() map[string]any { return map[string]any{"type": p.typ, "uniqueItems": true} }

func (p param) v2() map[string]any { return p.addTo(p.schema()) }

func (p param) v3() map[string]any { return p.addTo(map[string]any{"schema": p.schema()}) }

// addTo adds to m those fields of a parameter that both OpenAPI versions have.
func (p param) addTo(m map[string]any) map[string]any {
	m["name"], m["in"] = p.name, p.in
	set(m, "description", p.description)
	if p.in == "path" {
		m["required"] = true
	}
	return m
}

// shareParameters moves parameters of OpenAPI 2 paths to a shared section, which it returns, and replaces them with references. The
// names in that section end in a hash of the parameter. Parameters that differ between kinds are not moved, nor are fieldValidation
// and dryRun, because kubectl looks for them in the operation.
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

// parameterHash returns the eight-character hash in a parameter's name: six bytes of the FNV-1 hash of its JSON, whose fields are
// in the order of the real server's Go struct.
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
