package apiserver

import (
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/wire"
)

// info holds the information in a request's method, path and query. It is parsed before the resource is looked up: authorization
// and errors use it even if the resource does not exist.
type info struct {
	Verb        string // get list watch create update patch delete deletecollection, or proxy
	Group       string
	Version     string
	Resource    string // "" if the request is not for a resource
	Subresource string
	Name        string

	isResource bool
	prefix     string   // api or apis
	within     string   // the namespace in the path; for a Namespace, its name
	rest       []string // parts of the path after the version
}

// namespaceSubresources are subresources of namespaces. In a path, they look like resources in a namespace.
var namespaceSubresources = map[string]bool{"status": true, "finalize": true}

// parseInfo parses method, path and query like the API server's RequestInfo. It returns false if the path ends after watch or
// proxy.
func parseInfo(method, path string, query url.Values) (in info, ok bool) {
	parts := splitPath(path)
	if len(parts) < 3 || parts[0] != "api" && parts[0] != "apis" {
		return info{Verb: strings.ToLower(method)}, true
	}
	in.prefix, parts = parts[0], parts[1:]
	if in.prefix == "apis" {
		if len(parts) < 3 {
			return info{Verb: strings.ToLower(method), prefix: in.prefix}, true
		}
		in.Group, parts = parts[0], parts[1:]
	}
	in.isResource = true
	in.Version, parts = parts[0], parts[1:]
	in.rest = parts
	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) < 2 {
			return in, false
		}
		in.Verb, parts = parts[0], parts[1:]
	} else {
		in.Verb = methodVerbs[method]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		in.within = parts[1]
		if len(parts) > 2 && !namespaceSubresources[parts[2]] {
			parts = parts[2:]
		}
	}
	in.Resource = parts[0]
	if len(parts) > 1 {
		in.Name = parts[1]
	}
	if len(parts) > 2 && in.Verb != "proxy" {
		in.Subresource = parts[2]
	}
	in.refineVerb(query)
	return in, true
}

var methodVerbs = map[string]string{
	wire.MethodPost: "create", wire.MethodGet: "get", wire.MethodHead: "get", wire.MethodPut: "update",
	wire.MethodPatch: "patch", wire.MethodDelete: "delete",
}

// refineVerb changes the verb for collections: a get without a name is a list or a watch. If a field selector names one object, it
// also sets the name.
func (in *info) refineVerb(query url.Values) {
	if in.Name != "" {
		return
	}
	switch in.Verb {
	case "get":
		in.Verb = "list"
		if registry.ParseBool(query, "watch") {
			in.Verb = "watch"
		}
	case "delete":
		in.Verb = "deletecollection"
		return
	}
	if in.Verb != "list" && in.Verb != "watch" {
		return
	}
	if fields, err := selector.ParseFields(query.Get("fieldSelector")); err == nil {
		if name, ok := fields.RequiresExact("metadata.name"); ok && len(field.PathSegment(name)) == 0 {
			in.Name = name
		}
	}
}

func splitPath(path string) []string {
	if path = strings.Trim(path, "/"); path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
