package codec

import (
	"fmt"
	"math/rand"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// storedPod is the JSON of a pod. One of its labels contains the JSON of a field, which must not be taken for the field.
const storedPod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"\"spec\":{"},` +
	`"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},` +
	`"spec":{"containers":[{"name":"c","image":"i }\\\\","resources":{}}],"restartPolicy":"Always"},"status":{"phase":"Pending"}}`

// podItem returns an item of the pod whose JSON is text.
func podItem(d *Decoder, text string) *resource.Item {
	pods := &resource.Definition{Type: func() *schema.Type { return d.Schema.Kind(podGVK) }, Read: Read, Strategy: &resource.Strategy{}}
	pods.Hub = pods
	return resource.NewItem(pods, object.Object{}, 0, []byte(text))
}

var podGVK = schema.GVK{Version: "v1", Kind: "Pod"}

func TestChangedReadsWhatObjectReads(t *testing.T) {
	is := is.New(t)
	d, gvk := testDecoder(t), podGVK
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // keep the parsed objects of items until the end of the test
	it := podItem(d, storedPod)
	stored := it.Shared()
	is.Equal(string(Append(nil, stored, it.Layout())), storedPod)
	untouched := stored.Copy()
	for _, edit := range [][2]string{
		{"", ""},
		{`"name":"p"`, `"name":"q"`},
		{`"image":"i `, `"image":"j `},
		{`"spec":{`, `"spec": {`},
		{`,"status"`, `,"spec":{"hostNetwork":true},"status"`},
		{`"spec":{"con`, `"spec":{"hostNetwork":true},"spec":{"con`},
		{`"Always"}`, `"Always"}}`},
		{`"Always"}`, `"Always"},"extra":1`},
		{`"Always"}`, `"Always","extra":1}`},
		{`"status":{"phase":"Pending"}`, `"status":null`},
		{`"manager":"m"`, `"manager":"n"`},
		{`}}}]},`, `}}}],"managedFields":[{"time":null,"manager":"n"}]},`},
		{`}}}]},"spec"`, `}}}]},"metadata":{"managedFields":[{"manager":"n"}]},"spec"`},
		{`,"status":{"phase":"Pending"}`, ``},
	} {
		body := []byte(strings.Replace(storedPod, edit[0], edit[1], 1))
		for _, level := range []Level{Strict, Warn} {
			want, _, wantWarnings, wantStatus := d.Object(body, JSON.String(), gvk, level)
			got, _, warnings, s := d.Changed(body, JSON.String(), gvk, level, it)
			is.Equal(got, want)              // the object is the same
			is.Equal(warnings, wantWarnings) // and so are the warnings
			is.Equal(s, wantStatus)          // and the refusal
			if got != nil {
				got.Set("changed", "spec", "nodeName")
				got.Set("changed", "metadata", "name")
			}
			is.Equal(stored, untouched) // a change of the result does not change the stored object
		}
	}
}

// Parts of a body that are equal in the previous object are taken from that object.
func TestChangedTakesWhatIsKnown(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // keep the parsed objects of items until the end of the test
	is := is.New(t)
	d := testDecoder(t)
	it := podItem(d, storedPod)
	marked := it.Shared()
	marked.Set("marked", "spec", "nodeName")
	managed := object.As(marked.List("metadata", "managedFields")[0])
	managed.Map("fieldsV1")["marked"] = map[string]any{}
	next := podItem(d, strings.Replace(storedPod, `"name":"p"`, `"name":"q"`, 1))
	for _, obj := range []object.Object{next.SharedAfter(it), next.Shared()} { // which is kept
		is.Equal(obj.Name(), "q")
		is.Equal(obj.String("spec", "nodeName"), "marked")
		is.True(object.Same(obj["spec"], marked["spec"]))
		is.True(object.Same(object.As(obj.List("metadata", "managedFields")[0])["fieldsV1"], managed["fieldsV1"]))
	}
	message := it.Proto(func(it *resource.Item) []byte { return Proto(nil, object.Text(it.Bytes()), it.Layout()) })
	body, _, _, s := d.Changed(AppendEnvelope(nil, podGVK, message), Protobuf.String(), podGVK, Strict, it)
	is.True(s == nil)
	is.Equal(body.String("spec", "nodeName"), "marked") // of a body in protobuf, too
	is.True(!object.Same(body["spec"], marked["spec"])) // which may be changed
	is.True(object.Same(object.As(body.List("metadata", "managedFields")[0])["fieldsV1"], managed["fieldsV1"]))
}

// TestReadWithTheHelpOfAnyOther decodes random states of an object, each with the parts of the previous state, and compares them
// with the same states decoded separately.
func TestReadWithTheHelpOfAnyOther(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	d, gvk := testDecoder(t), podGVK
	pod := d.Schema.Kind(gvk)
	var before *resource.Item
	var beforeText string
	for n := range 3000 {
		obj, _, err := DecodeJSON([]byte(storedPod), pod)
		if err != nil {
			t.Fatal(err)
		}
		randomize(r, obj)
		text := string(Append(nil, obj, pod))
		want, _, _ := DecodeJSON([]byte(text), pod)
		body, _, _, s := d.Changed([]byte(text), JSON.String(), gvk, Strict, before)
		if s != nil || !object.Equal(map[string]any(body), map[string]any(want)) {
			t.Fatalf("state %d: the body\n%s\nis read as\n%s %v\nwhere this was stored:\n%s", n, text, object.JSON(map[string]any(body)), s, beforeText)
		}
		randomize(r, body) // which does not change the stored object
		message := AppendEnvelope(nil, gvk, Proto(nil, text, pod))
		body, _, _, s = d.Changed(message, Protobuf.String(), gvk, Strict, before)
		if s != nil || !object.Equal(map[string]any(body), map[string]any(want)) {
			t.Fatalf("state %d: the message of\n%s\nis read as\n%s %v\nwhere this was stored:\n%s", n, text, object.JSON(map[string]any(body)), s, beforeText)
		}
		randomize(r, body)
		it := podItem(d, text)
		if got := it.SharedAfter(before); !object.Equal(map[string]any(got), map[string]any(want)) {
			t.Fatalf("state %d:\n%s\nis read as\n%s\nafter\n%s", n, text, object.JSON(map[string]any(got)), beforeText)
		}
		it.Proto(func(*resource.Item) []byte { return Proto(nil, text, pod) })
		before, beforeText = it, text
	}
}

// randomize changes some fields of a pod in place, usually one.
func randomize(r *rand.Rand, obj object.Object) {
	for ok := true; ok; ok = r.Intn(3) == 0 {
		n := fmt.Sprint(r.Intn(3))
		switch r.Intn(6) {
		case 0:
			obj.Set(n, "metadata", "labels", "a")
		case 1:
			obj.Set("x"+n, "spec", "nodeName")
		case 2:
			delete(obj, "status")
		case 3:
			object.As(obj.List("spec", "containers")[0])["image"] = n
		case 4:
			obj.Set("Running"+n, "status", "phase")
		case 5:
			set := map[string]any{"fieldsV1": map[string]any{"f:spec": map[string]any{"f:" + n: map[string]any{}}}, "manager": n}
			obj.Set([]any{set, obj.List("metadata", "managedFields")[0]}, "metadata", "managedFields")
		}
	}
}
