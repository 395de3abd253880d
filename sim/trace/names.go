package trace

import "runtime/debug"

// What returns the name of a resource in records, such as deployments.apps/status, or the path if it does not belong to a resource.
func What(group, resource, subresource, path string) string {
	if resource == "" {
		return path
	}
	if group != "" {
		resource += "." + group
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	return resource
}

// Key names an object as a record does, or a namespace.
func Key(namespace, name string) string {
	if namespace == "" || name == "" {
		return namespace + name
	}
	return namespace + "/" + name
}

// Module returns the version of this module that the program was built with.
func Module() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath {
			return m.Version
		}
	}
	return ""
}

const modulePath = "github.com/kubesim/kubesim"
