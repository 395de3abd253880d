package record

import (
	"net/http"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// creation returns the requests with which other clients create an object with its status.
func (s *reader) creation(at time.Time, t target, obj object.Object) []Write {
	path := t.path(obj.Namespace(), "")
	writes := []Write{{At: at, Method: http.MethodPost, Path: path, As: "others", Body: map[string]any(stored(obj))}}
	if s.separate(t, obj) {
		writes = append(writes, patch(at, path+"/"+obj.Name()+"/status", map[string]any{"status": obj.Map("status")}))
	}
	return writes
}

// deletion returns the request with which another client completes the deletion of an object. was is the last state of the object.
func deletion(at time.Time, path string, was object.Object) Write {
	if len(was.Strings("metadata", "finalizers")) > 0 {
		return patch(at, path, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	}
	if was.String("metadata", "deletionTimestamp") != "" {
		path += "?gracePeriodSeconds=0"
	}
	return Write{At: at, Method: http.MethodDelete, Path: path, As: "others", mayFail: true}
}

// changes returns the requests with which other clients change an object and its status.
func (s *reader) changes(at time.Time, t target, was, is object.Object) (writes []Write) {
	path, change := t.path(is.Namespace(), is.Name()), difference(stored(was), stored(is))
	if node := is.String("spec", "nodeName"); t.resource == "pods" && node != "" && was.String("spec", "nodeName") == "" {
		writes = append(writes, Write{At: at, Method: http.MethodPost, Path: path + "/binding", As: "others", mayFail: true, Body: map[string]any{
			"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": is.Name()}, "target": map[string]any{"kind": "Node", "name": node}}})
	}
	if status, ok := change["status"]; ok && s.separate(t, is) {
		delete(change, "status")
		writes = append(writes, patch(at, path+"/status", map[string]any{"status": status}))
	}
	if len(change) > 0 {
		writes = append(writes, patch(at, path, change))
	}
	if is.String("metadata", "deletionTimestamp") != "" && was.String("metadata", "deletionTimestamp") == "" {
		writes = append(writes, Write{At: at, Method: http.MethodDelete, Path: path, As: "others", mayFail: true})
	}
	return writes
}

// patch returns a merge patch that another client sends.
func patch(at time.Time, path string, body map[string]any) Write {
	return Write{At: at, Method: http.MethodPatch, Path: path, As: "others", ContentType: mergePatch, Body: body, mayFail: true}
}

// separate reports whether an object has a status that only its own subresource can set.
func (s *reader) separate(t target, obj object.Object) bool {
	if len(obj.Map("status")) == 0 || t.resource == "namespaces" || t.resource == "customresourcedefinitions" {
		return false // the server sets it
	}
	for _, version := range s.definitions[t.definition()].Objects("spec", "versions") {
		if version.Has("subresources", "status") {
			return true
		}
	}
	return s.hasStatus[t.definition()] || s.builtIn.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind())) != nil
}

// stored returns a copy of an object without the metadata that a server sets.
func stored(obj object.Object) object.Object {
	obj = obj.Copy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		obj.Remove("metadata", field)
	}
	return obj
}

// difference returns the merge patch that changes one object to another.
func difference(was, is map[string]any) map[string]any {
	patch := map[string]any{}
	for name := range was { // order does not matter
		if _, ok := is[name]; !ok {
			patch[name] = nil
		}
	}
	for name, value := range is { // order does not matter
		before, isMap := was[name].(map[string]any)
		after, same := value.(map[string]any)
		switch {
		case object.Equal(was[name], value):
		case isMap && same:
			patch[name] = difference(before, after)
		default:
			patch[name] = value
		}
	}
	return patch
}

// mark adds the fields of a patch to a set of fields.
func mark(fields, patch map[string]any) {
	for name, value := range patch { // order does not matter
		inner, isMap := value.(map[string]any)
		switch known, ok := fields[name]; {
		case !isMap || ok && known == nil:
			fields[name] = nil // the whole field
		default:
			if !ok {
				fields[name] = map[string]any{}
			}
			mark(object.As(fields[name]), inner)
		}
	}
}

// unmark removes the fields of a patch from a set of fields.
func unmark(fields, patch map[string]any) {
	for name, value := range patch { // order does not matter
		known, isMap := fields[name].(map[string]any)
		if inner, ok := value.(map[string]any); ok && isMap {
			unmark(known, inner)
		} else {
			delete(fields, name)
		}
	}
}

// OfProgram returns a copy of obj without the fields that other clients wrote last. path is the path of obj.
func (s *Story) OfProgram(path string, obj object.Object) object.Object {
	obj = obj.Copy()
	remove(obj, s.Others[path])
	return obj
}

// remove removes a set of fields from an object, and the nested objects that become empty.
func remove(obj, fields map[string]any) {
	for name := range fields { // order does not matter
		inner, isMap := obj[name].(map[string]any)
		if some, ok := fields[name].(map[string]any); ok && isMap {
			if remove(inner, some); len(inner) > 0 {
				continue
			}
		} else if ok {
			continue // it has no such fields
		}
		delete(obj, name)
	}
}
