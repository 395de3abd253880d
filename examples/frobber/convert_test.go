package frobber

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzRoundTrip checks that a v7beta1 Frobber is unchanged after it was stored as v6, and that a v6 Frobber whose fields agree is
// unchanged after a client has read and written it as v7beta1.
func FuzzRoundTrip(f *testing.F) {
	f.Add(42, 3, "super", "duper", true)
	f.Add(0, 0, "", "", false)
	f.Add(-1, 1<<40, "a", "", true)
	f.Fuzz(func(t *testing.T, height, width int, first, second string, sized bool) {
		next := map[string]any{"apiVersion": "example.com/v7beta1", "kind": "Frobber",
			"metadata": map[string]any{"name": "f"}}
		if sized {
			next["heightInInches"], next["widthInInches"] = int64(height), int64(width)
		}
		if first != "" { // minLength: 1
			next["params"] = []any{first}
		}
		if first != "" && second != "" {
			next["params"] = []any{first, second}
		}
		through := convert(t, convert(t, next, "example.com/v6"), "example.com/v7beta1")
		if !reflect.DeepEqual(through, next) {
			t.Errorf("v7beta1 -> v6 -> v7beta1:\n%v\n%v", next, through)
		}
		stored := convert(t, next, "example.com/v6")
		through = convert(t, convert(t, stored, "example.com/v7beta1"), "example.com/v6")
		if !reflect.DeepEqual(through, stored) {
			t.Errorf("v6 -> v7beta1 -> v6:\n%v\n%v", stored, through)
		}
	})
}

// convert converts a copy of an object.
func convert(t *testing.T, obj map[string]any, apiVersion string) map[string]any {
	t.Helper()
	out, err := Convert(clone(obj).(map[string]any), apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = clone(e)
		}
		return out
	}
	return v
}

// FuzzNormalize checks updates of an object whose fields agree: an update by a new client is stored unchanged, and an update by an
// old client results in an object whose fields agree. If the old client did not change the singular, the object is unchanged.
func FuzzNormalize(f *testing.F) {
	f.Add("a", `["a","b"]`, `["a","b"]`)
	f.Add("", `["a","b"]`, `["a","b"]`)
	f.Add("b", `[]`, `["a","b"]`)
	f.Add("", ``, `["a","b"]`)
	f.Fuzz(func(t *testing.T, param, params, stored string) {
		before, after := Params{}, Params{Param: param}
		if json.Unmarshal([]byte(stored), &before.Params) == nil && len(before.Params) > 0 {
			before.Param = before.Params[0]
		}
		json.Unmarshal([]byte(params), &after.Params) // or none
		if !agree(before) || !agree(after) {
			t.Skip()
		}
		got := Normalize(after, &before)
		if len(after.Params) > 0 && !reflect.DeepEqual(got, after) {
			t.Errorf("a new client's %v over %v became %v", after, before, got)
		}
		if !agree(got) || len(got.Params) == 0 && got.Param != "" {
			t.Errorf("an old client's %v over %v became %v", after, before, got)
		}
		if len(after.Params) == 0 && param == before.Param && !reflect.DeepEqual(got.Params, before.Params) &&
			len(before.Params) > 0 {
			t.Errorf("an old client that did not touch the singular made %v of %v", got, before)
		}
	})
}

// agree reports whether the fields satisfy the definition's rule.
func agree(p Params) bool { return len(p.Params) == 0 || p.Params[0] == p.Param && p.Param != "" }
