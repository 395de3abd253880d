package frobber

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/fake"
)

// Params are the two linked fields of a Frobber. Param, the singular, equals the first item of Params, the plural.
type Params struct {
	Param  string
	Params []string
}

// Normalize returns the fields that the sender of after meant to write. Only the fields themselves show whether it is an old or a new
// client. before is nil for a create.
//
//	create   singular alone                        an old client    plural = [singular]
//	update   plural missing, singular same         an old client    plural as before
//	         plural same, singular gone            an old client    plural gone, too
//	         plural same or missing, singular new  an old client    plural = [singular]
//	any      both                                  a new client     unchanged; validation checks that they agree
func Normalize(after Params, before *Params) Params {
	alone := after.Param != "" && len(after.Params) == 0
	if before == nil {
		if alone {
			after.Params = []string{after.Param}
		}
		return after
	}
	same := slices.Equal(after.Params, before.Params)
	switch {
	case after.Param == before.Param:
		if len(after.Params) == 0 {
			after.Params = before.Params
		}
	case after.Param == "" && same:
		after.Params = nil
	case after.Param != "" && (same || alone):
		after.Params = []string{after.Param}
	}
	return after
}

// Admit returns an admission webhook that normalizes Frobbers. While the feature is disabled, it also removes width, unless the
// stored object already has it.
func Admit(widthEnabled func() bool) func(fake.AdmissionReview) fake.AdmissionReview {
	return func(review fake.AdmissionReview) fake.AdmissionReview {
		request := review["request"].(map[string]any)
		after, _ := request["object"].(map[string]any)
		old, _ := request["oldObject"].(map[string]any)
		var before *Params
		if old != nil {
			p := Normalize(paramsOf(old), nil) // it may have been stored before the plural existed
			before = &p
		}
		patch := []map[string]any{}
		if params := Normalize(paramsOf(after), before).Params; len(params) > 0 {
			patch = append(patch, map[string]any{"op": "add", "path": "/params", "value": params})
		} else if _, has := after["params"]; has {
			patch = append(patch, map[string]any{"op": "remove", "path": "/params"})
		}
		if _, has := after["width"]; has && !widthEnabled() && (old == nil || old["width"] == nil) {
			patch = append(patch, map[string]any{"op": "remove", "path": "/width"})
		}
		text, err := json.Marshal(patch)
		if err != nil {
			panic(err) // never fails for strings and integers
		}
		review["response"] = map[string]any{"allowed": true, "patchType": "JSONPatch",
			"patch": base64.StdEncoding.EncodeToString(text)}
		return review
	}
}

func paramsOf(obj map[string]any) (p Params) {
	p.Param, _ = obj["param"].(string)
	list, _ := obj["params"].([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			p.Params = append(p.Params, s)
		}
	}
	return p
}

// Convert converts a Frobber to another version. Converting it back restores it: v6 contains a value twice that v7beta1 contains
// once. It returns an error for versions other than v6 and v7beta1.
func Convert(obj map[string]any, apiVersion string) (map[string]any, error) {
	switch from := obj["apiVersion"]; {
	case from == "example.com/v6" && apiVersion == "example.com/v7beta1":
		p := Normalize(paramsOf(obj), nil) // for an object that was stored before the plural existed
		rename(obj, "height", "heightInInches")
		rename(obj, "width", "widthInInches")
		delete(obj, "param")
		delete(obj, "params")
		if len(p.Params) > 0 {
			obj["params"] = anys(p.Params)
		}
	case from == "example.com/v7beta1" && apiVersion == "example.com/v6":
		rename(obj, "heightInInches", "height")
		rename(obj, "widthInInches", "width")
		if p := paramsOf(obj); len(p.Params) > 0 {
			obj["param"] = p.Params[0]
		}
	default:
		return nil, fmt.Errorf("no way from %v to %s", from, apiVersion)
	}
	obj["apiVersion"] = apiVersion
	return obj, nil
}

func rename(obj map[string]any, from, to string) {
	if v, ok := obj[from]; ok {
		obj[to] = v
		delete(obj, from)
	}
}

func anys(list []string) (out []any) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
