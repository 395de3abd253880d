// Package stored converts objects to and from the values that API servers store in etcd:
//
//	built-in kinds        k8s\x00 and a message of protobuf, in the storage version   Deployment, Service, …
//	of embedded servers   JSON and a newline, in the storage version                  CustomResourceDefinition (v1beta1), APIService
//	custom resources      JSON and a newline, or CBOR
//
// A value has no resourceVersion: that is the revision of its key.
package stored

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// NoKind is the text of Decode's error for JSON that is not an object of the API.
const NoKind = "not an object: it has no kind and apiVersion"

// definition is the version of CustomResourceDefinitions that API servers store.
const definition = "apiextensions.k8s.io/v1beta1"

// protobuf and encrypted are the beginnings of values.
var (
	protobuf  = []byte("k8s\x00")
	encrypted = []byte("k8s:enc:")
)

// Decode decodes a value of etcd: built-in kinds are protobuf, definitions and custom resources are JSON. An object that is
// stored in a version that is not served is returned in the served one. It returns an error if the value is encrypted, or if the
// version is unknown.
func Decode(value []byte) (object.Object, error) {
	if bytes.HasPrefix(value, encrypted) {
		return nil, errors.New("it is encrypted at rest")
	}
	if bytes.HasPrefix(value, protobuf) {
		var as schema.GVK
		obj, kind, err := codec.DecodeProto(value, func(kind schema.GVK) (t *schema.Type) {
			as, t = served(kind)
			return t
		})
		switch {
		case errors.Is(err, codec.ErrNoKind):
			err = fmt.Errorf("no API server serves %s in version %s", kind.Kind, kind.GV())
		case err == nil:
			obj["apiVersion"] = as.GV()
			serve(obj)
		}
		return obj, err
	}
	obj, err := object.Parse(value)
	if err == nil && (obj.Kind() == "" || obj.APIVersion() == "") {
		err = errors.New(NoKind)
	}
	if err == nil {
		serve(obj)
	}
	return obj, err
}

// serve converts an object whose stored version has other fields, or another meaning, than the served one.
func serve(obj object.Object) {
	switch obj.APIVersion() + " " + obj.Kind() {
	case definition + " CustomResourceDefinition":
		serveDefinition(obj)
	case "policy/v1beta1 PodDisruptionBudget":
		serveBudget(obj)
	}
}

// serveBudget converts a PodDisruptionBudget from v1beta1, in which an empty selector selects no pods, to v1, in which it selects all
// pods of the namespace (Convert_v1beta1_PodDisruptionBudget_To_policy_PodDisruptionBudget).
func serveBudget(obj object.Object) {
	obj["apiVersion"] = "policy/v1"
	if selector, ok := obj.Get("spec", "selector"); !ok || !object.Blank(selector) {
		return
	}
	const key = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
	obj.Set(map[string]any{"matchExpressions": []any{map[string]any{"key": key, "operator": "Exists"}}}, "spec", "selector")
}

// formerly are kinds that no minor version knows, with the kinds that have the same fields.
var formerly = map[schema.GVK]schema.GVK{{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget"}: {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}}

// served returns the kind in which the newest minor version serves objects of a stored kind, and its type. The two kinds have the same
// fields. If no version knows the kind, the type is nil.
func served(kind schema.GVK) (schema.GVK, *schema.Type) {
	for _, minor := range slices.Backward(schema.Minors()) {
		set, err := schema.Load(minor)
		if err != nil {
			continue
		}
		if t := set.Kind(kind); t != nil {
			return kind, t
		}
		if was, ok := formerly[kind]; ok {
			return kind, set.Kind(was)
		}
		for is, was := range set.Release().Stored { // order does not matter: it is one at most
			if was == kind {
				return is, set.Kind(is)
			}
		}
	}
	return kind, nil
}

// Encode returns the value that a server of a minor version stores in etcd for an object. text is the object's JSON in kubesim's
// store, and d its hub definition. If binary is not nil, custom resources are encoded with it. Encode returns an error if text is
// not an object, or if the minor version does not know its version.
func Encode(text []byte, d *resource.Definition, minor string, binary codec.CBORCodec) ([]byte, error) {
	obj, err := object.ParseRaw(text, d.Places())
	if err != nil {
		return nil, err
	}
	obj.Remove("metadata", "resourceVersion")
	set, err := schema.Load(minor)
	if err != nil {
		return nil, err
	}
	if d.Custom {
		text := object.JSON(map[string]any(obj))
		if binary != nil {
			return binary.FromJSON(text, set), nil
		}
		return append(text, '\n'), nil
	}
	kind := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	t := d.Layout()
	if kind != d.GVK {
		t = set.Kind(kind)
	}
	if t == nil {
		return nil, fmt.Errorf("Kubernetes %s does not know %s in version %s", minor, kind.Kind, kind.GV())
	}
	as, elsewhere := set.Release().Stored[kind]
	if !elsewhere {
		as = kind
	}
	obj["apiVersion"] = as.GV()
	switch {
	case as.GV() == definition:
		storeDefinition(obj)
		return append(codec.Append(nil, obj, definitionType(t)), '\n'), nil
	case codec.StoredAsJSON(t):
		return append(codec.Append(nil, obj, t), '\n'), nil
	}
	return codec.AppendEnvelope(nil, as, codec.AppendProto(nil, obj, t)), nil
}
