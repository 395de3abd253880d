package openapi

import (
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// everywhere are the kinds that exist in every version of every group that a server can read.
var everywhere = map[string]bool{meta + "DeleteOptions": true, meta + "WatchEvent": true}

// unreadByCustom are the groups that the server part for custom resources does not have in its scheme.
var unreadByCustom = map[string]bool{"admission.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "imagepolicy.k8s.io": true}

// kindsOf returns the kinds of a definition in the document of a part. Generic definitions have a kind in the group version of the
// document. In the document of all groups, and in those of custom resources, they have a kind in every group version that the
// server can decode.
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
	case len(t.GVKs) > 2: // not those of the document of one group version: the data of this minor has them all
		return t.GVKs
	}
	for _, gv := range w.Schema.Readable() {
		if !w.part.Custom || !unreadByCustom[gv.Group] {
			list = append(list, schema.GVK{Group: gv.Group, Version: gv.Version, Kind: kind})
		}
	}
	return list
}

// lateEnums are the enums whose values the schema data does not have, because their constants are not plain literals: the values,
// and their descriptions.
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
	"io.k8s.api.resource.v1.DeviceSubRequest allocationMode":   {{"All", ""}, {"ExactCount", ""}},
	"io.k8s.api.resource.v1.ExactDeviceRequest allocationMode": {{"All", ""}, {"ExactCount", ""}},
}

// lateEnum gives a property its values from lateEnums.
func lateEnum(t *schema.Type, name string, out map[string]any) {
	values := lateEnums[t.Name+" "+name]
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
