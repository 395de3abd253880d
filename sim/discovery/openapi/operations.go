package openapi

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// operation is one method of a path.
type operation struct {
	path, method string // method in lower case, as in OpenAPI
	description  string
	id, tag      string

	action string // x-kubernetes-action; "" if the path is not one of a resource
	kind   schema.GVK

	params       []param // sorted
	body         string  // definition name; "" without a body
	bodyRequired bool
	consumes     []string
	produces     []string
	codes        []int
	result       string // definition name; "" if the response is a string
}

var (
	mediaTypes  = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamTypes = append(slices.Clone(mediaTypes), "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
	customTypes = mediaTypes[:2]
	anyType     = []string{"*/*"}

	patchTypes = []string{
		"application/json-patch+json", "application/merge-patch+json",
		"application/strategic-merge-patch+json", "application/apply-patch+yaml",
	}
	customPatchTypes = []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"}
)

// operations returns the operations of a Part: those of a group version, the one of a group, or the one of a root such as
// /version/.
func (s *Source) operations(p Part) []operation {
	switch {
	case p.Version != "":
		return s.versionOperations(p)
	case p.Group != "":
		b := builder{group: p.Group}
		return []operation{b.information("/apis/"+p.Group+"/", "get information of a group", "APIGroup", "APIGroup")}
	}
	return rootOperation(p.Key)
}

// rootOperation returns the operation for one of the Roots.
func rootOperation(key string) []operation {
	op := operation{path: "/" + key + "/", method: "get", tag: key, produces: mediaTypes, consumes: mediaTypes, codes: []int{200}}
	switch key {
	case "api":
		op.description, op.id, op.tag, op.result = "get available API versions", "getCoreAPIVersions", "core", meta+"APIVersions"
	case "apis":
		op.description, op.id, op.result = "get available API versions", "getAPIVersions", meta+"APIGroupList"
	case "version":
		op.description, op.id, op.result = "get the version information for this server", "getCodeVersion", "io.k8s.apimachinery.pkg.version.Info"
		op.produces, op.consumes = mediaTypes[:1], mediaTypes[:1]
	case ".well-known/openid-configuration":
		op.description = "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'"
		op.id, op.tag = "getServiceAccountIssuerOpenIDConfiguration", "WellKnown"
		op.produces, op.consumes = mediaTypes[:1], nil
	case "openid/v1/jwks":
		op.description = "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)"
		op.id, op.tag = "getServiceAccountIssuerOpenIDKeyset", "openid"
		op.produces, op.consumes = []string{"application/jwk-set+json"}, nil
	default:
		return nil
	}
	return []operation{op}
}

// builder collects the operations of a group version.
type builder struct {
	*Source
	group, version string
	custom         bool
	ops            []operation
}

func (s *Source) versionOperations(p Part) []operation {
	b := builder{Source: s, group: p.Group, version: p.Version, custom: p.Custom}
	if !p.Custom {
		b.ops = append(b.ops, b.information(b.root()+"/", "get available resources", "APIResources", "APIResourceList"))
	}
	for _, def := range p.Defs {
		b.resource(def)
		for i := range def.Subresources {
			b.subresource(def, &def.Subresources[i])
		}
	}
	for i := range b.ops {
		slices.SortStableFunc(b.ops[i].params, func(a, b param) int { return strings.Compare(a.name+" "+a.in, b.name+" "+b.in) })
	}
	if s.CBOR && !p.Custom {
		for i := range b.ops {
			b.ops[i].produces, b.ops[i].consumes = withCBOR(b.ops[i].produces), withCBOR(b.ops[i].consumes)
		}
	}
	return b.ops
}

// withCBOR returns a list of media types with CBOR's, in the order of kube-apiserver.
func withCBOR(types []string) []string {
	out := slices.Clone(types)
	if i := slices.Index(out, mediaTypes[2]); i >= 0 {
		out = slices.Insert(out, i+1, "application/cbor")
	}
	if slices.Contains(out, "application/json;stream=watch") {
		out = append(out, "application/cbor-seq")
	}
	if slices.Contains(out, "application/apply-patch+yaml") {
		out = append(out, "application/apply-patch+cbor")
	}
	return out
}

// information returns the operation that gets a discovery document.
func (b *builder) information(path, description, suffix, kind string) operation {
	return operation{
		path: path, method: "get", description: description, id: b.id("get", suffix), tag: b.tag(),
		consumes: mediaTypes, produces: mediaTypes, codes: []int{200}, result: meta + kind,
	}
}

func (b *builder) root() string {
	return schema.GVK{Group: b.group, Version: b.version}.Root()
}

// id returns the operationId: the verb, the group, the version, and the rest of the name.
func (b *builder) id(verb, rest string) string {
	return verb + word(b.shortGroup(), true) + word(b.version, true) + rest
}

// tag returns the tag of the operations, such as rbacAuthorization_v1 for a group version or rbacAuthorization for a group.
func (b *builder) tag() string {
	tag := word(b.shortGroup(), false)
	if b.version != "" {
		tag += "_" + word(b.version, false)
	}
	return tag
}

func (b *builder) shortGroup() string {
	if b.group == "" {
		return "core"
	}
	return strings.TrimSuffix(b.group, ".k8s.io")
}

// word converts s to a camel-case word that consists of letters and digits.
func word(s string, upper bool) string {
	var out strings.Builder
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			if upper && c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			out.WriteRune(c)
			upper = false
		default:
			upper = upper || i > 0
		}
	}
	return out.String()
}

// nameOf returns the definition name of a kind, or "" if there is none.
func (b *builder) nameOf(kind schema.GVK) string {
	if t := b.Schema.Kind(kind); t != nil {
		return t.Name
	}
	if b.custom {
		return customName(kind)
	}
	return ""
}

// scope is the path of a collection and the parameters in that path.
type scope struct {
	path   string
	word   string // part of the operationIds
	params []param
}

func (b *builder) scope(def *resource.Definition) scope {
	if def.Namespaced {
		return scope{b.root() + "/namespaces/{namespace}/" + def.Resource, "Namespaced", []param{namespaceParam}}
	}
	return scope{path: b.root() + "/" + def.Resource}
}

// article returns a noun with its indefinite article. Like the real server, it omits the article of a plural.
func article(noun string) string {
	switch {
	case strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss"):
		return noun
	case strings.ContainsAny(noun[:1], "aeiouAEIOU"):
		return "an " + noun
	}
	return "a " + noun
}
