package resource

import "strings"

// ServerKey returns the key that the real server includes in an error about an object. In a dry run the key has no /registry
// prefix, because the storage layer, which adds it, is not reached.
func (d *Definition) ServerKey(namespace, name string, dryRun bool) string {
	prefix := d.KeyPrefix
	switch {
	case prefix != "":
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
