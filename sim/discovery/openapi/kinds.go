package openapi

import (
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// everywhere are the kinds that exist in every version of every group that a v1.36 server can read.
var everywhere = map[string]bool{meta + "DeleteOptions": true, meta + "WatchEvent": true}

// readable are the groups that a v1.36 server can read, with their versions.
const readable = "admission.k8s.io v1 v1beta1;admissionregistration.k8s.io v1 v1alpha1 v1beta1;apiextensions.k8s.io v1 v1beta1;" +
	"apiregistration.k8s.io v1 v1beta1;apps v1 v1beta1 v1beta2;authentication.k8s.io v1 v1alpha1 v1beta1;" +
	"authorization.k8s.io v1 v1beta1;autoscaling v1 v2;batch v1 v1beta1;certificates.k8s.io v1 v1alpha1 v1beta1;" +
	"coordination.k8s.io v1 v1alpha2 v1beta1;discovery.k8s.io v1 v1beta1;events.k8s.io v1 v1beta1;extensions v1beta1;" +
	"flowcontrol.apiserver.k8s.io v1 v1beta1 v1beta2 v1beta3;imagepolicy.k8s.io v1alpha1;internal.apiserver.k8s.io v1alpha1;" +
	"networking.k8s.io v1 v1beta1;node.k8s.io v1 v1alpha1 v1beta1;policy v1 v1beta1;" +
	"rbac.authorization.k8s.io v1 v1alpha1 v1beta1;resource.k8s.io v1 v1alpha3 v1beta1 v1beta2;" +
	"scheduling.k8s.io v1 v1alpha2 v1beta1;storage.k8s.io v1 v1alpha1 v1beta1;storagemigration.k8s.io v1beta1"

// unreadByCustom are the groups that the part of the server for custom resources does not know of.
var unreadByCustom = map[string]bool{"admission.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "imagepolicy.k8s.io": true}

// kindsOf returns the kinds that a definition is, in the document of a part. Generic ones are named for the group
// version of the document; in that of everything, and in those of custom resources, for all that the server can read.
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
	case w.Schema.Minor() != "1.36":
		return t.GVKs
	}
	for group := range strings.SplitSeq(readable, ";") {
		words := strings.Fields(group)
		if w.part.Custom && unreadByCustom[words[0]] {
			continue
		}
		for _, version := range words[1:] {
			list = append(list, schema.GVK{Group: words[0], Version: version, Kind: kind})
		}
	}
	return list
}

// lateEnums are the enums whose values the schema data does not have, because their constants are no plain literals:
// the values, and what the description says of each.
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
