package codec

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// odd are values that decoding changes or drops, for a field that may have any of them.
var odd = []struct {
	value any
	path  []string
}{
	{nil, []string{"spec", "nodeName"}},
	{"", []string{"spec", "nodeName"}},
	{"a\xff", []string{"spec", "nodeName"}},
	{"b", []string{"metadata", "labels", "k\xff"}},
	{"dropped", []string{"spec", "unknown"}},
	{map[string]any{}, []string{"spec", "securityContext"}}, // a pointer: it is kept
	{map[string]any{}, []string{"status"}},
	{[]any{}, []string{"metadata", "finalizers"}},
	{[]any{}, []string{"spec", "volumes"}},
	{map[string]any{}, []string{"metadata", "annotations"}},
	{3, []string{"spec", "priority"}},
	{int64(1) << 40, []string{"spec", "priority"}},
	{int64(7), []string{"spec", "priority"}},
	{false, []string{"spec", "hostNetwork"}},
	{false, []string{"spec", "shareProcessNamespace"}}, // a pointer: it is kept
	{map[string]any{"cpu": "1000m"}, []string{"spec", "overhead"}},
	{map[string]any{"cpu": "1"}, []string{"spec", "overhead"}},
	{map[string]any{"cpu": nil}, []string{"spec", "overhead"}},
	{object.Object{"cpu": "1"}, []string{"spec", "overhead"}},
	{"2026-01-02T03:04:05Z", []string{"metadata", "creationTimestamp"}},
	{"2026-01-02T03:04:05.5Z", []string{"metadata", "creationTimestamp"}},
	{"2026-01-02T04:04:05+01:00", []string{"metadata", "creationTimestamp"}},
	{"0001-01-01T00:00:00Z", []string{"metadata", "creationTimestamp"}},
	{[]any{map[string]any{"ip": "10.0.0.1"}, nil}, []string{"status", "podIPs"}},
	{[]any{map[string]any{"ip": "10.0.0.1"}, map[string]any{}}, []string{"status", "podIPs"}},
	{[]any{map[string]any{"type": "Ready", "lastProbeTime": nil}}, []string{"status", "conditions"}},
	{[]any{map[string]any{"type": "Ready", "status": "True"}}, []string{"status", "conditions"}},
	{[]any{map[string]any{"fieldsV1": object.Raw(`{"f:spec":{"f:nodeName":{}}}`), "manager": "raw"}}, []string{"metadata", "managedFields"}},
}

// TestFormIsTheParsedObject encodes random states of an object, each after the previous one, and compares their forms with the result of
// parsing the JSON.
func TestFormIsTheParsedObject(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(2))
	d := testDecoder(t)
	pod := d.Schema.Kind(podGVK)
	kept, seen := 0, map[int]bool{}
	var before *resource.Parsed
	const states = 4000
	for n := range states {
		obj, _, err := DecodeJSON([]byte(storedPod), pod)
		if err != nil {
			t.Fatal(err)
		}
		if r.Intn(3) > 0 {
			at := r.Intn(len(odd))
			seen[at] = true
			obj.Set(object.Copy(odd[at].value), odd[at].path...)
		}
		randomize(r, obj)
		if before != nil && r.Intn(3) == 0 {
			obj["spec"] = before.Object["spec"]
		}
		text, form := AppendForm([]byte("before"), obj, pod, before)
		text = text[len("before"):]
		want := Read(podItem(d, string(text)), nil)
		if form == nil {
			before = want
			continue
		}
		kept++
		longer := "a longer resourceVersion" + string(text)
		before = form.Parsed(longer)
		if !object.Equal(map[string]any(before.Object), map[string]any(want.Object)) {
			t.Fatalf("state %d has the form\n%#v\nbut its JSON is parsed as\n%#v", n, before.Object, want.Object)
		}
		compareParts(t, before.Sets, want.Sets)
		for _, part := range before.Fields {
			compareParts(t, []resource.Part{part}, partsNamed(want.Fields, part.Name))
		}
	}
	if kept < states/3 || kept > states*9/10 || len(seen) < len(odd) {
		t.Errorf("%d of %d states have a form, with %d of %d odd values", kept, states, len(seen), len(odd))
	}
}

func compareParts(t *testing.T, got, want []resource.Part) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i].Text != want[i].Text || !object.Equal(got[i].Value, want[i].Value) {
			t.Fatalf("the parts are\n%v\nbut parsing gives\n%v", fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want))
		}
	}
}

func partsNamed(parts []resource.Part, name string) (found []resource.Part) {
	for _, p := range parts {
		if p.Name == name {
			found = append(found, p)
		}
	}
	return found
}

// TestFormOfOddValues checks one by one which values count as certain to be equal.
func TestFormOfOddValues(t *testing.T) {
	t.Parallel()
	d := testDecoder(t)
	pod := d.Schema.Kind(podGVK)
	for _, x := range odd {
		obj, _, _ := DecodeJSON([]byte(storedPod), pod)
		obj.Remove("status")
		if x.path[0] == "status" && len(x.path) > 1 {
			obj["status"] = map[string]any{}
		}
		obj.Set(object.Copy(x.value), x.path...)
		text, form := AppendForm(nil, obj, pod, nil)
		same := object.Equal(map[string]any(obj), map[string]any(Read(podItem(d, string(text)), nil).Object))
		if _, raw := object.As(obj.List("metadata", "managedFields")[0])["fieldsV1"].(object.Raw); !raw && (form != nil) != same {
			t.Errorf("%v = %#v: has a form: %v, is equal after parsing: %v", x.path, x.value, form != nil, same)
		}
	}
}
