package core

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

func TestBinding(t *testing.T) {
	t.Parallel()
	const pod = `{"metadata":{"name":"p","uid":"u","resourceVersion":"7","annotations":{"x":"y"}},"status":{"nominatedNodeName":"m"}}`
	for _, tc := range []struct {
		name, pod, body string
		code            int
		message         string
	}{
		{"a free pod", pod, `{"metadata":{"name":"p"},"target":{"name":"n"}}`, 201, ""},
		{"of a kind", pod, `{"metadata":{"name":"p","uid":"u","resourceVersion":"7"},"target":{"kind":"Node","name":"n"}}`, 201, ""},
		{"another name", pod, `{"metadata":{"name":"q"},"target":{"name":"n"}}`, 400, "name in URL does not match name in Binding object"},
		{"no node", pod, `{"metadata":{"name":"p"},"target":{"kind":"Pod"}}`, 500,
			`[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]`},
		{"another uid", pod, `{"metadata":{"name":"p","uid":"x"},"target":{"name":"n"}}`, 409,
			`Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: /registry/pods/ns/p, ResourceVersion: 0, ` +
				`AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: u`},
		{"another version", pod, `{"metadata":{"name":"p","resourceVersion":"6"},"target":{"name":"n"}}`, 409,
			`Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: /registry/pods/ns/p, ResourceVersion: 0, ` +
				`AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: 6, ResourceVersion in object meta: 7`},
		{"a pod with a node", `{"metadata":{"name":"p"},"spec":{"nodeName":"m"}}`, `{"metadata":{"name":"p"},"target":{"name":"n"}}`, 409,
			`Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "m"`},
		{"a pod on its way out", `{"metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"}}`, `{"metadata":{"name":"p"},"target":{"name":"n"}}`, 409,
			`Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host`},
		{"a pod that waits", `{"metadata":{"name":"p"},"spec":{"schedulingGates":[{"name":"g"}]}}`, `{"metadata":{"name":"p"},"target":{"name":"n"}}`, 409,
			`Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates`},
		{"no pod", `{"metadata":{"name":"other"}}`, `{"metadata":{"name":"p"},"target":{"name":"n"}}`, 404, `pods "p" not found`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			objects := map[string]string{"pods/p": tc.pod}
			if tc.code == 404 {
				objects = nil
			}
			_, s := kindtest.NewStore(t, objects).Connect(bindPod, "p", tc.body)
			is.Equal(s.Code, tc.code)
			is.Equal(s.Message, tc.message)
		})
	}
}

func TestBoundPod(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := kindtest.NewStore(t, map[string]string{"pods/p": `{"metadata":{"name":"p","annotations":{"x":"y"}},"status":{"nominatedNodeName":"m",` +
		`"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`})
	_, s := store.Connect(bindPod, "p", `{"metadata":{"name":"p","annotations":{"a":"b"},"labels":{"l":"m"}},"target":{"name":"n"}}`)
	is.Equal(s.Code, 201)
	pod := store.Objects["pods/p"]
	is.Equal(pod.String("spec", "nodeName"), "n")
	is.Equal(pod.Annotations(), map[string]string{"x": "y", "a": "b"})
	is.Equal(pod.Labels(), map[string]string{"l": "m"})
	is.Equal(string(object.JSON(pod.Map("status"))),
		`{"conditions":[{"lastTransitionTime":"2026-01-02T03:04:05Z","status":"True","type":"PodScheduled"}]}`)
}

func TestPodConditionKeepsItsTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	pod := object.Object{}
	setCondition(pod, "then", map[string]any{"type": "A", "status": "True"})
	setCondition(pod, "now", map[string]any{"type": "A", "status": "True", "reason": "R"})
	is.Equal(string(object.JSON(pod.List("status", "conditions"))), `[{"lastTransitionTime":"then","reason":"R","status":"True","type":"A"}]`)
	setCondition(pod, "now", map[string]any{"type": "A", "status": "False"})
	is.Equal(string(object.JSON(pod.List("status", "conditions"))), `[{"lastTransitionTime":"now","status":"False","type":"A"}]`)
}
