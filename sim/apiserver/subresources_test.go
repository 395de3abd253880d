package apiserver_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// badScale is a step that makes the body an invalid Scale. A Scale has its own kind, and is read, changed, validated and written as
// a whole.
var badScale = step{"scale is valid", func(x *trial) { x.body["spec"] = map[string]any{"replicas": -1} }, 422, "spec.replicas: Invalid value: -1"}

func TestGetScaleInOrder(t *testing.T) {
	t.Parallel()
	gone := notThere("replicationcontrollers")
	inOrder(t, request{"GET", "replicationcontrollers/a/scale", ""}, []step{timeout}, arrival[:3], []step{accept, gone})
	inOrder(t, request{"GET", "replicationcontrollers/a/scale", ""}, []step{number, gone})
	x := newTrial(t, request{"GET", "replicationcontrollers/a/scale", ""})
	is := is.New(t)
	for _, version := range []string{"", "0"} {
		x.query.Set("resourceVersion", version)
		is.True(strings.Contains(x.send(x).body, `"kind":"Scale"`))
	}
}

func TestUpdateScaleInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PUT", "replicationcontrollers/a/scale", "application/json"}, []step{timeout}, arrival[:3],
		[]step{accept, size, options, media, readable, otherNamespace, otherName, badScale, conflict})
	gone := notThere("replicationcontrollers")
	inOrder(t, request{"PUT", "replicationcontrollers/a/scale", "application/json"}, []step{{gone.name, func(x *trial) {
		gone.fail(x)
		x.metadata()["name"] = "b"
	}, gone.code, gone.want}, badScale})
}

func TestPatchScaleInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PATCH", "replicationcontrollers/a/scale", "application/merge-patch+json"}, []step{timeout}, arrival[:3],
		[]step{patchType, accept, size, force, notThere("replicationcontrollers"), patchRead, otherNamespace, otherName, badScale, conflict})
}

// The decoder and merger of custom resources support only the resources' own kinds. A request for a Scale of a custom resource
// therefore has fewer different errors.
func TestCustomScaleInOrder(t *testing.T) {
	t.Parallel()
	const path = "/apis/example.com/v1/namespaces/NAMESPACE/widgets/a/scale"
	inOrder(t, request{"PUT", path, "application/json"},
		[]step{media, {readable.name, readable.fail, 400, "no kind is registered for the type v1.Scale"}, otherNamespace, otherName, badScale})

	applied := func(change func(*trial)) func() *trial {
		return func() *trial {
			x := newTrial(t, request{"PATCH", path, "application/apply-patch+yaml"})
			x.body["kind"], x.body["apiVersion"] = "Scale", "autoscaling/v1"
			change(x)
			return x
		}
	}
	unread := step{"configuration can be read", func(x *trial) { x.raw = "{" }, 400, "error decoding YAML"}
	repeated := step{repeated.name, func(x *trial) {
		repeated.fail(x)
		x.twice = `"status":{}`
	}, repeated.code, repeated.want}
	inOrderOf(t, applied(func(x *trial) { // its managedFields were removed
		x.also("PATCH", strings.TrimSuffix(x.path, "/scale"), "application/merge-patch+json", `{"metadata":{"managedFields":[{}]}}`)
	}), []step{unread, {"live object can be converted", func(*trial) {}, 500, "failed to create manager for existing fields: failed to convert live object"}}, repeated)
	inOrderOf(t, applied(func(x *trial) {
		x.body["spec"] = map[string]any{"replicas": 3}
		x.query.Set("force", "true")
	}), []step{unread, {"new object can be converted", func(*trial) {}, 500, "failed to convert new object"}}, repeated)
}

// A PATCH of a collection of custom resources checks the type of the patch before the name.
func TestPatchWithoutNameInOrder(t *testing.T) {
	t.Parallel()
	inOrderOf(t, func() *trial {
		return newTrial(t, request{"PATCH", "/apis/example.com/v1/namespaces/NAMESPACE/widgets", "application/merge-patch+json"})
	}, []step{timeout, arrival[0], arrival[1], arrival[2], media, {"there is a name", func(*trial) {}, 400, "name must be provided"}}, accept, size)
}

// A PUT of an object without a namespace decodes the body before it reports the missing namespace.
func TestUpdateWithoutNamespaceInOrder(t *testing.T) {
	t.Parallel()
	inOrderOf(t, func() *trial {
		return newTrial(t, request{"PUT", "/api/v1/namespaces//configmaps/a", "application/json"})
	},
		[]step{accept, size, options, media, readable, otherName, {"there is a namespace", func(*trial) {}, 400, "Namespace parameter required."}}, conflict, invalid)
}
