package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// resource.k8s.io/v1beta1 arranges some fields differently:
//
//	v1 spec.devices.requests[].exactly.FIELD ── spec.devices.requests[].FIELD   v1beta1
//	v1 spec.devices[].FIELD                  ── spec.devices[].basic.FIELD
//	v1 spec.nodeName, spec.allNodes: unset   ── "", false
//
// The other versions differ only in apiVersion.

// claimConversion returns the conversions of claims and claim templates, whose claim spec is at path.
func claimConversion(path ...string) map[string]kind.Conversion {
	if !schema.HasAll {
		return nil
	}
	each := func(version string, convert func(object.Object)) func(object.Object) (object.Object, error) {
		return func(obj object.Object) (object.Object, error) {
			obj["apiVersion"] = version
			for _, request := range obj.At(path...).Objects("devices", "requests") {
				convert(request)
			}
			return obj, nil
		}
	}
	return map[string]kind.Conversion{"resource.k8s.io/v1beta1": {
		ToHub:   each("resource.k8s.io/v1", requestFromBeta1),
		FromHub: each("resource.k8s.io/v1beta1", func(request object.Object) { unwrap(request, "exactly") }),
	}}
}

// sliceConversion returns the conversions of slices.
func sliceConversion() map[string]kind.Conversion {
	if !schema.HasAll {
		return nil
	}
	return map[string]kind.Conversion{"resource.k8s.io/v1beta1": {ToHub: sliceFromBeta1, FromHub: sliceToBeta1}}
}

// flatRequests returns the parts of a v1beta1 request that get defaults. A request without a class consists of alternatives.
func flatRequests(request object.Object) []object.Object {
	all := request.Objects("firstAvailable")
	if request.String("deviceClassName") != "" {
		all = append(all, request)
	}
	return all
}

func requestFromBeta1(request object.Object) {
	for _, name := range []string{"deviceClassName", "allocationMode", "count"} {
		if v := request[name]; v == "" || v == int64(0) || v == nil {
			delete(request, name)
		}
	}
	if exactly := wrap(request, "name", "firstAvailable"); len(exactly) > 0 {
		if exactly["deviceClassName"] == nil {
			exactly["deviceClassName"] = ""
		}
		request["exactly"] = exactly
	}
}

func sliceFromBeta1(obj object.Object) (object.Object, error) {
	obj["apiVersion"] = "resource.k8s.io/v1"
	spec := obj.At("spec")
	if spec.String("nodeName") == "" {
		delete(spec, "nodeName")
	}
	if spec["allNodes"] == false {
		delete(spec, "allNodes")
	}
	for _, d := range spec.Objects("devices") {
		unwrap(d, "basic")
	}
	return obj, nil
}

func sliceToBeta1(obj object.Object) (object.Object, error) {
	obj["apiVersion"] = "resource.k8s.io/v1beta1"
	for _, d := range obj.Objects("spec", "devices") {
		d["basic"] = wrap(d, "name")
	}
	return obj, nil
}

// wrap moves all fields except the named ones into a new object, which it returns.
func wrap(obj object.Object, except ...string) map[string]any {
	kept := map[string]any{}
	for _, name := range except {
		if v, ok := obj[name]; ok {
			kept[name] = v
			delete(obj, name)
		}
	}
	moved := map[string]any{}
	for _, name := range object.SortedKeys(obj) {
		moved[name] = obj[name]
		delete(obj, name)
	}
	for _, name := range object.SortedKeys(kept) {
		obj[name] = kept[name]
	}
	return moved
}

// unwrap replaces a field by the fields of its value.
func unwrap(obj object.Object, name string) {
	inner := obj.At(name)
	delete(obj, name)
	for _, field := range object.SortedKeys(inner) {
		obj[field] = inner[field]
	}
}
