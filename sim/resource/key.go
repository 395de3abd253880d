package resource

import "strings"

// serverPrefixes are the resources that the real server does not store under their plural, by Definition.Storage.
var serverPrefixes = map[string]string{
	"endpoints":                   "services/endpoints",
	"ingresses.networking.k8s.io": "ingress",
	"nodes":                       "minions",
	"replicationcontrollers":      "controllers",
	"services":                    "services/specs",

	"customresourcedefinitions.apiextensions.k8s.io": "apiextensions.k8s.io/customresourcedefinitions",
	"apiservices.apiregistration.k8s.io":             "apiregistration.k8s.io/apiservices",
}

// ServerKey returns the key that the real server shows in an error about an object. A dry run never reaches the storage
// layer that would know the whole key.
func (d *Definition) ServerKey(namespace, name string, dryRun bool) string {
	prefix, ok := serverPrefixes[d.Storage]
	switch {
	case ok:
	case d.Custom:
		prefix = d.Group + "/" + d.Resource
	default:
		prefix = d.Resource
	}
	parts := []string{"/registry", prefix, namespace, name}
	if dryRun {
		parts[0] = ""
	}
	if namespace == "" {
		parts = append(parts[:2], name)
	}
	return strings.Join(parts, "/")
}
