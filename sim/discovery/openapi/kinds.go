package openapi

import (
	"regexp"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// everywhere contains the definitions whose kinds exist in every group version that a server can decode.
var everywhere = map[string]bool{meta + "DeleteOptions": true, meta + "WatchEvent": true}

// unreadByCustom are the groups that are missing from the scheme of apiextensions-apiserver.
var unreadByCustom = map[string]bool{"admission.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "imagepolicy.k8s.io": true}

// kindsOf returns the kinds that the document lists for a definition. A generic definition has a kind in the group version of the
// document. In the document of all groups, and in those of custom resources, it has a kind in every group version that the server
// can decode.
func (w *writer) kindsOf(t *schema.Type) []schema.GVK {
	if !everywhere[t.Name] || len(t.GVKs) == 0 {
		return t.GVKs
	}
	kind := t.GVKs[0].Kind
	list := []schema.GVK{{Version: "v1", Kind: kind}}
	switch {
	case w.part.Version != "" && !w.part.Custom:
		if w.part.Group != "" {
			list = append(list, schema.GVK{Group: w.part.Group, Version: w.part.Version, Kind: kind})
		}
		return list
	case len(t.GVKs) > 2: // the schema data of this minor release lists them for all documents except those of a single group version
		return t.GVKs
	}
	for _, gv := range w.Schema.Readable() {
		if !w.part.Custom || !unreadByCustom[gv.Group] {
			list = append(list, schema.GVK{Group: gv.Group, Version: gv.Version, Kind: kind})
		}
	}
	return list
}

// lateEnums are the values of enums, and their descriptions, that the schema data lacks because the Go constants are not plain
// literals.
var lateEnums = map[string][][2]string{
	"io.k8s.api.discovery.v1.EndpointSlice addressType": {
		{"FQDN", "represents a FQDN."}, {"IPv4", "represents an IPv4 Address."}, {"IPv6", "represents an IPv6 Address."}},
	"io.k8s.api.networking.v1.HTTPIngressPath pathType": {
		{"Exact", "matches the URL path exactly and with case sensitivity."},
		{"ImplementationSpecific", "matching is up to the IngressClass. Implementations can treat this as a separate PathType or treat it " +
			"identically to Prefix or Exact path types."},
		{"Prefix", "matches based on a URL path prefix split by '/'. Matching is case sensitive and done on a path element by element basis. " +
			"A path element refers to the list of labels in the path split by the '/' separator. A request is a match for path p if every p " +
			"is an element-wise prefix of p of the request path. Note that if the last element of the path is a substring of the last element " +
			"in request path, it is not a match (e.g. /foo/bar matches /foo/bar/baz, but does not match /foo/barbaz). If multiple matching " +
			"paths exist in an Ingress spec, the longest matching path is given priority. Examples: - /foo/bar does not match requests to " +
			"/foo/barbaz - /foo/bar matches request to /foo/bar and /foo/bar/baz - /foo and /foo/ both match requests to /foo and /foo/. If " +
			"both paths are present in an Ingress spec, the longest matching path (/foo/) is given priority."}},
	"io.k8s.api.resource.v1.DeviceSubRequest allocationMode":   allocationModes,
	"io.k8s.api.resource.v1.ExactDeviceRequest allocationMode": allocationModes,
	"io.k8s.api.resource.v1.DeviceRequest allocationMode":      allocationModes, // v1beta1
}

var allocationModes = [][2]string{{"All", ""}, {"ExactCount", ""}}

// unstable matches the version in the name of a definition if it is not stable. lateEnums has the names of the stable versions.
var unstable = regexp.MustCompile(`\.v\d+(alpha|beta)\d+\.`)

// lateEnum adds the values in lateEnums to the schema of a property.
func lateEnum(t *schema.Type, name string, out map[string]any) {
	values := lateEnums[unstable.ReplaceAllString(t.Name, ".v1.")+" "+name]
	if values == nil {
		return
	}
	text, described := out["description"].(string)
	if text += "\n\nPossible enum values:"; strings.HasPrefix(t.Name, "io.k8s.api.resource.") {
		text = strings.Replace(text, "\n\nPossible", "\n\n\nPossible", 1)
	}
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v[0]
		text += strings.TrimSuffix("\n - `\""+v[0]+"\"` "+v[1], " ")
	}
	value(out)["enum"] = list
	if described {
		out["description"] = text
	}
}
