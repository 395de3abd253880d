package apiserver_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
)

// The first steps of every request (the filters of apiserver/pkg/server.DefaultBuildHandlerChain, then the path).
var (
	timeout = step{"timeout is a duration", func(x *trial) { x.query.Set("timeout", "x") }, 400, "invalid timeout specified in the request URL"}

	arrival = []step{
		{"who is it", func(x *trial) { x.header.Set("Authorization", "Bearer nobody") }, 401, "Unauthorized"},
		{"may they be somebody else", func(x *trial) {
			x.header.Set("Authorization", "Bearer alicetoken")
			x.header.Set("Impersonate-User", "bob")
		}, 403, `User "alice" cannot impersonate-on:user-info:`},
		{"may they", func(x *trial) { x.header.Set("Authorization", "Bearer alicetoken") }, 403, `is forbidden: User "alice" cannot`},
		{"is there such a resource", func(x *trial) { x.path = strings.Replace(x.path, "configmaps", "nothings", 1) }, 404, "the server could not find the requested resource"},
	}
)

// Steps of several verbs.
var (
	accept = step{"encoding of the answer", func(x *trial) { x.header.Set("Accept", "text/plain") }, 406, "406: Not Acceptable"}

	media = step{"encoding of the body", func(x *trial) { x.header.Set("Content-Type", "text/plain") }, 415, "the body of the request was in an unknown format"}

	size = step{"size of the body", func(x *trial) { x.raw = tooLarge }, 413, "limit is 3145728"}

	options = step{"options", func(x *trial) { x.query.Set("dryRun", "x") }, 422, `dryRun: Unsupported value: ["x"]`}

	readable = step{"body can be read", func(x *trial) { x.raw = "{" }, 400, "unexpected end of JSON input"}

	otherNamespace = step{"namespace is that of the path", func(x *trial) { x.metadata()["namespace"] = "other" }, 400,
		"the namespace of the provided object does not match the namespace sent on the request"}

	otherName = step{"name is that of the path", func(x *trial) { x.metadata()["name"] = "b" }, 400, "does not match the name on the URL (a)"}

	uid = step{"uid, a precondition", func(x *trial) { x.metadata()["uid"] = "other" }, 409, "Precondition failed: UID in precondition: other"}

	conflict = step{"resourceVersion is that of the store", func(x *trial) { x.metadata()["resourceVersion"] = "1" }, 409, "the object has been modified"}

	invalid = step{"object is valid", func(x *trial) { x.body["data"] = map[string]any{"/": "v"} }, 422, `data[/]: Invalid value: "/"`}

	missing = notThere("configmaps")

	patchType = step{"type of the patch", func(x *trial) { x.header.Set("Content-Type", "text/plain") }, 415, "415: Unsupported Media Type"}

	force = step{"force is for an apply", func(x *trial) { x.query.Set("force", "true") }, 422, "may not be specified for non-apply patch"}

	patchRead = step{"patch can be read", func(x *trial) { x.raw = "{" }, 400, "error decoding patch"}

	number = step{"resourceVersion is a number", func(x *trial) { x.query.Set("resourceVersion", "x") }, 500, `Invalid value: "x"`}

	selector = step{"selectors can be read", func(x *trial) { x.query.Set("labelSelector", "=") }, 400, "expected: !, identifier"}

	listOptions = step{"options of the list", func(x *trial) { x.query.Set("resourceVersionMatch", "x") }, 422, "resourceVersionMatch"}

	label = step{"field labels are known", func(x *trial) { x.query.Set("fieldSelector", "data=x") }, 400, `"data" is not a known field selector`}
)

// notThere returns a step that fails because the object in the path does not exist.
func notThere(resource string) step {
	return step{"object is there", func(x *trial) { x.path = strings.Replace(x.path, resource+"/a", resource+"/b", 1) }, 404, `"b" not found`}
}

var tooLarge = strings.Repeat(" ", 3<<20+1)

func TestCreateInOrder(t *testing.T) {
	t.Parallel()
	free := step{"name is free", func(*trial) {}, 409, `configmaps "a" already exists`}
	inOrder(t, request{"POST", "configmaps", "application/json"}, []step{timeout}, arrival,
		[]step{accept, media, size, options, readable, otherNamespace, invalid, free})
}

func TestUpdateInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PUT", "configmaps/a", "application/json"}, []step{timeout}, arrival,
		[]step{accept, size, options, media, readable, otherNamespace, otherName, uid, conflict, invalid})
}

// A patch is decoded after the object that it changes has been read.
func TestPatchInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PATCH", "configmaps/a", "application/merge-patch+json"}, []step{timeout}, arrival,
		[]step{patchType, accept, size, force, missing, patchRead, otherNamespace, otherName, conflict, invalid})
	inOrder(t, request{"PATCH", "configmaps/a", "application/strategic-merge-patch+json"},
		[]step{missing, {patchRead.name, patchRead.fail, 400, "unexpected end of JSON input"},
			{"what it makes is of the kind", func(x *trial) { x.body["immutable"] = "x" }, 422, "unrecognized type: bool"},
			otherNamespace, otherName, conflict, invalid})
	inOrder(t, request{"PATCH", "replicationcontrollers/a", "application/merge-patch+json"}, // a kind with defaults
		[]step{notThere("replicationcontrollers"), patchRead, otherNamespace, otherName})
}

// A server of 1.37 checks whether a patch can be parsed before it looks up the object.
func TestPatchSince37InOrder(t *testing.T) {
	t.Parallel()
	begin := func(media string) func() *trial {
		return func() *trial {
			s, _ := newServer(t)
			s.Registry.Server.Minor = 37
			return trialOf(t, request{"PATCH", "configmaps/a", media}, inProcess(t, s))
		}
	}
	inOrderOf(t, begin("application/merge-patch+json"), []step{accept, size, force, {patchRead.name, patchRead.fail, 400, "invalid JSON patch"}, missing})
	inOrderOf(t, begin("application/apply-patch+yaml"), []step{accept, size, unmanaged, {patchRead.name, patchRead.fail, 400, "error encoding patch"}, otherName})
}

// An applied configuration is also decoded after the object has been read, although the apply would create a missing object.
func TestApplyInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PATCH", "configmaps/a", "application/apply-patch+yaml"}, []step{timeout}, arrival,
		[]step{accept, size,
			unmanaged,
			{"configuration can be read", func(x *trial) { x.raw = "{" }, 400, "error decoding YAML"},
			{"kind is that of the path", func(x *trial) { x.body["kind"] = "Secret" }, 400, "invalid object type: /v1, Kind=Secret"},
			{"managedFields are not sent", func(x *trial) { x.metadata()["managedFields"] = []any{map[string]any{"manager": "m"}} }, 400, "metadata.managedFields must be nil"},
			repeated, otherNamespace, otherName, conflict, invalid})

	is := is.New(t)
	x := newTrial(t, request{"PATCH", "configmaps/a", "application/apply-patch+yaml"})
	x.body["immutable"] = false
	is.Equal(x.send(x).code, 200)
	repeated.fail(x)
	is.Equal(x.send(x).code, repeated.code) // also for a configuration that changes nothing
}

var unmanaged = step{"field manager is named", func(x *trial) { x.query.Del("fieldManager") }, 422, "fieldManager: Required value: is required for apply patch"}

var repeated = step{"keys are there once", func(x *trial) {
	x.twice = `"immutable":false`
	x.query.Set("fieldValidation", "Strict")
}, 400, "error strict decoding YAML: error converting YAML to JSON"}

// The options are validated together: one message contains all errors.
func TestOptionsInOrder(t *testing.T) {
	t.Parallel()
	x := newTrial(t, request{"PATCH", "configmaps/a", "application/merge-patch+json"})
	force.fail(x)
	x.query.Set("fieldManager", "\n"+strings.Repeat("x", 128))
	x.query.Set("dryRun", "x")
	x.query.Set("fieldValidation", "x")
	text := message(x.send(x).body)
	for _, want := range []string{"force: Forbidden", "fieldManager: Too long", "fieldManager: Invalid", "dryRun: Unsupported", "fieldValidation: Unsupported"} {
		_, rest, found := strings.Cut(text, want)
		if !found {
			t.Errorf("the client does not read of %q behind the others: %.500s", want, text)
		}
		text = rest
	}
}

// The options of a DELETE are in its body.
func TestDeleteInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"DELETE", "configmaps/a", "application/json"}, []step{timeout}, arrival,
		[]step{accept, size, media,
			{"options can be read", func(x *trial) { x.raw = "{" }, 400, "unexpected end of JSON input"},
			policy, missing,
			{"uid, a precondition", func(x *trial) { x.body["preconditions"] = map[string]any{"uid": "other"} }, 409, "The object might have been deleted and then recreated"}})
}

var policy = step{"options of the deletion", func(x *trial) { x.body["propagationPolicy"] = "x" }, 422, `propagationPolicy: Unsupported value: "x"`}

func TestDeleteCollectionInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"DELETE", "configmaps", "application/json"}, []step{timeout}, arrival,
		[]step{accept, selector, listOptions, label, size, media,
			{"options can be read", func(x *trial) { x.raw = "{" }, 400, "unexpected end of JSON input"},
			policy,
			{"continue token", func(x *trial) { x.query.Set("continue", "x") }, 400, "invalid continue token"}})
}

func TestGetInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"GET", "configmaps/a", ""}, []step{timeout}, arrival,
		[]step{accept,
			{"no export is asked for", func(x *trial) { x.query.Set("export", "true") }, 400, "the export parameter, deprecated since v1.14, is no longer supported"},
			number, missing})
	for path, code := range map[string]int{"configmaps/a": 400, "configmaps/none": 404} { // each is the only error of its request
		x := newTrial(t, request{"GET", path, ""})
		x.header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		x.query.Set("includeObject", "x")
		is.New(t).Equal(x.send(x).code, code) // the parameters of a Table are checked after the object has been found
	}
}

func TestListInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"GET", "configmaps", ""}, []step{timeout}, arrival,
		[]step{accept, selector, listOptions, label,
			{"continue token", func(x *trial) { x.query.Set("continue", "x") }, 400, "invalid continue token"},
			{number.name, number.fail, 400, "invalid resource version"}})
	x := newTrial(t, request{"GET", "configmaps", ""})
	x.query.Set("fieldSelector", "metadata.namespace=x")
	is.New(t).Equal(x.send(x).code, 200) // field selectors for other fields than the name are ignored
}

// A watch ignores the timeout of the request.
func TestWatchInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"WATCH", "configmaps", ""}, arrival, []step{accept, selector, listOptions, label, number, streams})
	inOrder(t, request{"GET", "/api/v1/watch/namespaces/NAMESPACE/configmaps/a", ""}, []step{accept, selector, listOptions, label,
		{"name is that of the path", func(x *trial) { x.query.Set("fieldSelector", "metadata.name=b") }, 400, "fieldSelector metadata.name doesn't match requested name"},
		number, streams})
	x := newTrial(t, request{"WATCH", "configmaps", ""})
	timeout.fail(x)
	x.query.Set("timeoutSeconds", "1")
	is.New(t).Equal(x.send(x).code, 200)
}

var streams = step{"encoding can stream", func(x *trial) { x.header.Set("Accept", "application/yaml") }, 406, "only the following media types are accepted"}

// TestConnectInOrder creates a subresource whose body has its own kind.
func TestConnectInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"POST", "serviceaccounts/a/token", "application/json"}, []step{timeout}, arrival[:3],
		[]step{{"is there such a subresource", func(x *trial) { x.path = strings.Replace(x.path, "/token", "/nothing", 1) }, 404, "the server could not find the requested resource"},
			accept, media, size, options, readable, otherNamespace,
			{"object is there", func(*trial) {}, 404, `serviceaccounts "a" not found`}})
}

// TestApplyOfTheSame checks that an apply that changes nothing adds no defaults to an object that a server of another version has
// stored.
func TestApplyOfTheSame(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, b := newServer(t)
	x := trialOf(t, request{"PATCH", "replicationcontrollers/a", "application/apply-patch+yaml"}, inProcess(t, s))
	x.raw = `{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"a"},"spec":{"minReadySeconds":1}}`
	is.Equal(x.send(x).code, 200)
	at := []string{"spec", "template", "spec", "schedulerName"}
	q := &registry.Request{Definition: b.Hubs["replicationcontrollers"], Namespace: "testapplyofthesame", Name: "a", Manager: "other"}
	result, failed := s.Registry.Update(q, registry.Change{Make: func(current object.Object) (object.Object, *status.Status) {
		obj := current.Copy()
		obj.Remove(at...)
		return obj, nil
	}})
	is.True(failed == nil)
	stored := result.Item
	again, err := object.Parse([]byte(x.send(x).body))
	is.NoErr(err)
	is.Equal(again.ResourceVersion(), stored.Object().ResourceVersion()) // nothing is written
	is.Equal(again.String(at...), "")
}
