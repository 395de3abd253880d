package codec

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// storedPod is a pod as it is printed; its labels hold the text of a field.
const storedPod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"\"spec\":{"},` +
	`"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},` +
	`"spec":{"containers":[{"name":"c","image":"i }\\\\","resources":{}}],"restartPolicy":"Always"},"status":{"phase":"Pending"}}`

func TestChangedReadsWhatObjectReads(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d, gvk := newDecoder(t), schema.GVK{Version: "v1", Kind: "Pod"}
	stored, parts := readStored(t, d.Kinds(gvk))
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
			for _, share := range []bool{false, true} {
				got, _, warnings, s := d.Changed(body, JSON.String(), gvk, level,
					Printed{Object: stored, Text: []byte(storedPod), Parts: parts, Share: share})
				is.Equal(got, want)              // the object is the same
				is.Equal(warnings, wantWarnings) // and so are the warnings
				is.Equal(s, wantStatus)          // and the refusal
				if got != nil && !share {
					got.Set("changed", "spec", "nodeName")
				}
			}
		}
	}
	shared, _, _, _ := d.Changed([]byte(storedPod), JSON.String(), gvk, Strict, Printed{Object: stored, Text: []byte(storedPod), Parts: parts, Share: true})
	is.True(object.Same(shared["spec"], stored["spec"])) // the very field, where that is allowed
	again, _, _ := DecodeJSON([]byte(storedPod), d.Kinds(gvk))
	is.Equal(stored, again) // who reads gets copies
}

// readStored returns storedPod, and where its parts stand.
func readStored(t *testing.T, pod *schema.Type) (object.Object, []resource.Part) {
	t.Helper()
	is := is.New(t)
	stored, _, err := DecodeJSON([]byte(storedPod), pod)
	is.NoErr(err)
	text, parts := AppendChanged([]byte("before"), stored, pod, Printed{})
	is.Equal(string(text), "before"+storedPod)
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
		if p.Name == "spec" {
			is.Equal(storedPod[p.Start-len(`"spec":`):p.Start], `"spec":`)
			is.Equal(storedPod[p.End:], `,"status":{"phase":"Pending"}}`)
		}
	}
	is.Equal(names, []string{resource.ManagedFields, "spec", "status"})
	return stored, parts
}

func TestChangedPrintsWhatAppendPrints(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d, gvk := newDecoder(t), schema.GVK{Version: "v1", Kind: "Pod"}
	pod := d.Kinds(gvk)
	stored, parts := readStored(t, pod)
	printed := func(obj object.Object, earlier string) string {
		text, _ := AppendChanged(nil, obj, pod, Printed{Object: stored, Text: []byte(earlier), Parts: parts})
		return string(text)
	}
	same := object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "q"}, "spec": stored["spec"],
		"status": map[string]any{"phase": "Running"}}
	is.Equal(printed(same, storedPod), string(Append(nil, same, pod))) // a shared spec
	other := same.Copy()
	other.Set("x", "spec", "nodeName")
	is.Equal(printed(other, storedPod), string(Append(nil, other, pod))) // a spec that was changed
	marked := strings.Replace(storedPod, "Always", "Copied", 1)
	is.True(strings.Contains(printed(same, marked), "Copied"))   // the text is used
	is.True(!strings.Contains(printed(other, marked), "Copied")) // for the very map alone
}
