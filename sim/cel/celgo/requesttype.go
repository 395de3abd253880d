package celgo

import "cel.dev/cel-go/cel"

// define adds an object type with fields.
func (t typeNames) define(name string, fields map[string]*cel.Type) *decl {
	d := &decl{typ: cel.ObjectType(name), fields: map[string]*decl{}}
	for f, typ := range fields {
		d.fields[f] = &decl{typ: typ}
	}
	t[name] = d
	return d
}

// requestType is the type of request: an AdmissionRequest without its objects.
func requestType(t typeNames) *decl {
	text := cel.StringType
	kind := t.define("kubernetes.GroupVersionKind", map[string]*cel.Type{"group": text, "version": text, "kind": text}).typ
	resource := t.define("kubernetes.GroupVersionResource", map[string]*cel.Type{"group": text, "version": text, "resource": text}).typ
	user := t.define("kubernetes.UserInfo", map[string]*cel.Type{"username": text, "uid": text, "groups": cel.ListType(text),
		"extra": cel.MapType(text, cel.ListType(text))}).typ
	return t.define("kubernetes.AdmissionRequest", map[string]*cel.Type{
		"kind": kind, "resource": resource, "subResource": text, "requestKind": kind, "requestResource": resource,
		"requestSubResource": text, "name": text, "namespace": text, "operation": text, "userInfo": user,
		"dryRun": cel.BoolType, "options": cel.DynType,
	})
}

// namespaceType is the type of namespaceObject: a Namespace without some of its metadata.
func namespaceType(t typeNames) *decl {
	text, stamp := cel.StringType, cel.TimestampType
	spec := t.define("kubernetes.NamespaceSpec", map[string]*cel.Type{"finalizers": cel.ListType(text)}).typ
	condition := t.define("kubernetes.NamespaceCondition", map[string]*cel.Type{"status": text, "type": text,
		"lastTransitionTime": stamp, "message": text, "reason": text}).typ
	status := t.define("kubernetes.NamespaceStatus", map[string]*cel.Type{"conditions": cel.ListType(condition), "phase": text}).typ
	metadata := t.define("kubernetes.NamespaceMetadata", map[string]*cel.Type{"name": text, "generateName": text,
		"namespace": text, "labels": cel.MapType(text, text), "annotations": cel.MapType(text, text), "UID": text,
		"creationTimestamp": stamp, "deletionGracePeriodSeconds": cel.IntType, "deletionTimestamp": stamp,
		"generation": cel.IntType, "resourceVersion": text, "finalizers": cel.ListType(text)}).typ
	return t.define("kubernetes.Namespace", map[string]*cel.Type{"metadata": metadata, "spec": spec, "status": status})
}
