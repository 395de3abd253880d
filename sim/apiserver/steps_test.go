package apiserver_test

import (
	"strings"
	"testing"
)

// Every request first goes through these (the filters of apiserver/pkg/server.DefaultBuildHandlerChain, then the path).
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

// Steps of more than one verb.
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

	missing = step{"object is there", func(x *trial) { x.path = strings.Replace(x.path, "configmaps/a", "configmaps/b", 1) }, 404, `configmaps "b" not found`}

	selector = step{"selectors can be read", func(x *trial) { x.query.Set("labelSelector", "=") }, 400, "expected: !, identifier"}

	listOptions = step{"options of the list", func(x *trial) { x.query.Set("resourceVersionMatch", "x") }, 422, "resourceVersionMatch"}

	label = step{"field labels are known", func(x *trial) { x.query.Set("fieldSelector", "data=x") }, 400, `"data" is not a known field selector`}
)

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

// A patch is read after the object that it changes.
func TestPatchInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PATCH", "configmaps/a", "application/merge-patch+json"}, []step{timeout}, arrival,
		[]step{{"type of the patch", func(x *trial) { x.header.Set("Content-Type", "text/plain") }, 415, "415: Unsupported Media Type"},
			accept, size,
			{"force is for an apply", func(x *trial) { x.query.Set("force", "true") }, 422, "may not be specified for non-apply patch"},
			missing,
			{"patch can be read", func(x *trial) { x.raw = "{" }, 400, "error decoding patch"},
			otherNamespace, otherName, conflict, invalid})
}

// An applied configuration is read after the object, too, though it would be created if it was not there.
func TestApplyInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"PATCH", "configmaps/a", "application/apply-patch+yaml"}, []step{timeout}, arrival,
		[]step{accept, size,
			{"field manager is named", func(x *trial) { x.query.Del("fieldManager") }, 422, "fieldManager: Required value: is required for apply patch"},
			{"configuration can be read", func(x *trial) { x.raw = "{" }, 400, "error decoding YAML"},
			{"kind is that of the path", func(x *trial) { x.body["kind"] = "Secret" }, 400, "invalid object type: /v1, Kind=Secret"},
			{"managedFields are not sent", func(x *trial) { x.metadata()["managedFields"] = []any{map[string]any{"manager": "m"}} }, 400, "metadata.managedFields must be nil"},
			otherNamespace, otherName, conflict, invalid})
}

// The options of a DELETE are read from its body.
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
			{"resourceVersion is a number", func(x *trial) { x.query.Set("resourceVersion", "x") }, 500, `Invalid value: "x"`},
			missing})
}

func TestListInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"GET", "configmaps", ""}, []step{timeout}, arrival,
		[]step{accept, selector, listOptions, label,
			{"continue token", func(x *trial) { x.query.Set("continue", "x") }, 400, "invalid continue token"},
			{"resourceVersion is a number", func(x *trial) { x.query.Set("resourceVersion", "x") }, 400, "invalid resource version"}})
}

// A watch, which may last, does not look at a timeout of the request.
func TestWatchInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"WATCH", "configmaps", ""}, arrival,
		[]step{accept, selector, listOptions, label,
			{"resourceVersion is a number", func(x *trial) { x.query.Set("resourceVersion", "x") }, 500, `Invalid value: "x"`},
			{"encoding can stream", func(x *trial) { x.header.Set("Accept", "application/yaml") }, 406, "only the following media types are accepted"}})
}

// A create of a subresource with a body of its own.
func TestConnectInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, request{"POST", "serviceaccounts/a/token", "application/json"}, []step{timeout}, arrival[:3],
		[]step{{"is there such a subresource", func(x *trial) { x.path = strings.Replace(x.path, "/token", "/nothing", 1) }, 404, "the server could not find the requested resource"},
			accept, media, size, options, readable, otherNamespace,
			{"object is there", func(*trial) {}, 404, `serviceaccounts "a" not found`}})
}
