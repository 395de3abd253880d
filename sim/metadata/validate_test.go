package metadata

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

var path = field.Root("metadata")

const (
	key   = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)

// TestValidateCore compares with the errors of kube-apiserver v1.36.3.
func TestValidateCore(t *testing.T) {
	tests := []struct {
		meta string
		want []string
	}{
		{`{"name":"a","namespace":"n","labels":{"a.b/c-D_e.f":"X_1.y-2","empty":""},"annotations":{"A.b/c":"anything ☃"},"finalizers":["x.io/y","x.io/y","orphan"],"generation":3}`, nil},
		{`{"namespace":"n"}`, []string{"metadata.name: Required value: name or generateName is required"}},
		{`{"name":"a","generateName":"a/","namespace":"n"}`, []string{`metadata.generateName: Invalid value: "a/": may not contain '/'`}},
		{`{"name":"..","namespace":"n"}`, []string{`metadata.name: Invalid value: "..": may not be '..'`}},
		{`{"name":"a"}`, []string{"metadata.namespace: Required value"}},
		{`{"name":"a","namespace":"N"}`, []string{`metadata.namespace: Invalid value: "N": ` + label}},
		{`{"name":"a","namespace":"n","generation":-1}`, []string{"metadata.generation: Invalid value: -1: must be greater than or equal to 0"}},
		{`{"name":"a","namespace":"n","labels":{"b":"y z","a b":"v"},"annotations":{"Bad Key":"v"}}`, []string{
			`metadata.labels: Invalid value: "a b": ` + key,
			`metadata.labels: Invalid value: "y z": ` + value,
			`metadata.annotations: Invalid value: "Bad Key": ` + key}},
		{`{"name":"a","namespace":"n","finalizers":["mine"]}`, []string{
			`metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`}},
		{`{"name":"a","namespace":"n","finalizers":[""]}`, []string{
			`metadata.finalizers: Invalid value: "": name part must be non-empty`,
			`metadata.finalizers: Invalid value: "": ` + key,
			`metadata.finalizers[0]: Invalid value: "": name is neither a standard finalizer name nor is it fully qualified`}},
		{`{"name":"a","namespace":"n","finalizers":["orphan","foregroundDeletion"]}`, []string{
			`metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`}},
		{`{"name":"a","namespace":"n","ownerReferences":[{}]}`, []string{
			`metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty`,
			`metadata.ownerReferences.kind: Invalid value: "": must not be empty`,
			`metadata.ownerReferences.name: Invalid value: "": must not be empty`,
			`metadata.ownerReferences.uid: Invalid value: "": must not be empty`}},
		{`{"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"a/b/c","kind":"K","name":"n","uid":"u"}]}`, []string{
			`metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty`}},
		{`{"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}]}`, []string{
			`metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`}},
		{`{"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"v1","kind":"K1","name":"n1","uid":"u1","controller":true},{"apiVersion":"v1","kind":"K2","name":"n2","uid":"u2","controller":true,"blockOwnerDeletion":false}]}`, []string{
			`metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"K1","name":"n1","uid":"u1","controller":true},{"apiVersion":"v1","kind":"K2","name":"n2","uid":"u2","controller":true,"blockOwnerDeletion":false}]: Only one reference can have Controller set to true. Found "true" in references for K1/n1 and K2/n2`}},
		{`{"name":"a","namespace":"n","managedFields":[{"fieldsType":"x","manager":"a\nb"}]}`, []string{
			"metadata.managedFields[0].operation: Invalid value: \"\": must be `Apply` or `Update`",
			"metadata.managedFields[0].fieldsType: Invalid value: \"x\": must be `FieldsV1`",
			`metadata.managedFields[0].manager: Invalid value: "a\nb": invalid character U+000A (at position 1)`}},
	}
	for _, tt := range tests {
		t.Run(tt.meta, func(t *testing.T) {
			is := is.New(t)
			is.Equal(texts(Rules(36).ValidateCore(parse(t, tt.meta), true, field.NamePathSegment, path)), tt.want) // errors to the letter, in order
		})
	}
}

func TestValidateClusterScoped(t *testing.T) {
	is := is.New(t)
	is.Equal(texts(Rules(36).Validate(parse(t, `{"name":"a","namespace":"n"}`), false, field.NameDNSSubdomain, path)),
		[]string{"metadata.namespace: Forbidden: not allowed on this type"}) // no namespace
	is.Equal(Rules(36).Validate(parse(t, `{"name":"a","finalizers":["mine"]}`), false, field.NameDNSSubdomain, path), nil) // custom resources may
}

func TestAnnotationsSize(t *testing.T) {
	is := is.New(t)
	is.Equal(Annotations(map[string]any{"k": strings.Repeat("v", annotationsMax-1)}, field.Root("a")), nil) // at the limit
	is.Equal(texts(Annotations(map[string]any{"k": strings.Repeat("v", annotationsMax)}, field.Root("a"))),
		[]string{"a: Too long: may not be more than 262144 bytes"}) // keys count too
}

func TestManagedFieldsLimits(t *testing.T) {
	is := is.New(t)
	entry := map[string]any{"operation": "Apply", "manager": strings.Repeat("m", 128), "subresource": strings.Repeat("s", 256)}
	is.Equal(Rules(36).ManagedFields([]any{entry}, field.Root("m")), nil) // at the limits
	entry["manager"], entry["subresource"] = strings.Repeat("m", 129), strings.Repeat("s", 257)
	is.Equal(texts(Rules(36).ManagedFields([]any{entry}, field.Root("m"))), []string{
		"m[0].manager: Too long: may not be more than 128 bytes",
		"m[0].subresource: Too long: may not be more than 256 bytes"}) // beyond them
}

func TestValidateUpdate(t *testing.T) {
	const old = `{"name":"a","namespace":"n","uid":"u","resourceVersion":"1","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z"}`
	tests := []struct {
		name, meta, old string
		want            []string
	}{
		{"same", old, old, nil},
		{"same time in another zone", strings.Replace(old, "00:00:00Z", "01:00:00+01:00", 1), old, nil},
		{"no resourceVersion", strings.Replace(old, `"resourceVersion":"1",`, "", 1), old, []string{
			`metadata.resourceVersion: Invalid value: "": must be specified for an update`}},
		{"generation goes back", strings.Replace(old, `"generation":2`, `"generation":1`, 1), old, []string{
			"metadata.generation: Invalid value: 1: must not be decremented"}},
		{"everything immutable", `{"name":"b","namespace":"m","uid":"v","resourceVersion":"1","generation":2,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":5}`, old, []string{
			`metadata.name: Invalid value: "b": field is immutable`,
			`metadata.namespace: Invalid value: "m": field is immutable`,
			`metadata.uid: Invalid value: "v": field is immutable`,
			"metadata.creationTimestamp: Invalid value: null: field is immutable",
			`metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable`,
			"metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"}},
		{"new finalizers while deleting",
			`{"resourceVersion":"1","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["third.io/y","x.io/y","third.io/x"]}`,
			`{"resourceVersion":"1","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x.io/y"]}`, []string{
				`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"third.io/x", "third.io/y"}`}},
		{"fewer finalizers while deleting",
			`{"resourceVersion":"1","deletionTimestamp":"2026-01-01T00:00:00Z"}`,
			`{"resourceVersion":"1","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x.io/y"]}`, nil},
		{"bad label", `{"resourceVersion":"1","labels":{"k":"a b"}}`, `{"resourceVersion":"1"}`, []string{
			`metadata.labels: Invalid value: "a b": ` + value}},
		{"bare finalizer of a core kind", `{"resourceVersion":"1","finalizers":["mine"]}`, `{"resourceVersion":"1"}`, []string{
			`metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`}},
		{"values of the wrong type", `{"resourceVersion":"1","deletionGracePeriodSeconds":{},"labels":3,"ownerReferences":[1]}`,
			`{"resourceVersion":"1","deletionGracePeriodSeconds":{}}`, []string{
				`metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty`,
				`metadata.ownerReferences.kind: Invalid value: "": must not be empty`,
				`metadata.ownerReferences.name: Invalid value: "": must not be empty`,
				`metadata.ownerReferences.uid: Invalid value: "": must not be empty`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			meta := parse(t, tt.meta)
			_, errs := Rules(36).ValidateUpdate(meta, parse(t, tt.old), true, path)
			errs = append(errs, CoreFinalizers(meta, path)...)
			is.Equal(texts(errs), tt.want) // errors to the letter, in order
		})
	}
}

func TestFinalizerWarnings(t *testing.T) {
	is := is.New(t)
	meta := parse(t, `{"finalizers":["z.io","old","mine","mine","x.io/y","orphan"]}`)
	old := parse(t, `{"finalizers":["old"]}`)
	is.Equal(FinalizerWarnings(meta, old), []string{
		`metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
		`metadata.finalizers: "z.io": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
	}) // new ones only, each once, sorted
	is.Equal(len(FinalizerWarnings(meta, nil)), 3) // all are new
}

func TestDedupOwnerReferences(t *testing.T) {
	is := is.New(t)
	obj := object.Object(parse(t, `{"metadata":{"ownerReferences":[
		{"name":"a","uid":"1"},{"name":"b","uid":"1"},{"name":"a","uid":"1","controller":null},{"name":"c","uid":"2"},{"name":"c","uid":"2"}]}}`))
	before := obj.List("metadata", "ownerReferences")
	uids := DedupOwnerReferences(obj)
	is.Equal(uids, []string{"1", "2"})                                                                                                            // one for each that is gone
	is.Equal(string(object.JSON(obj)), `{"metadata":{"ownerReferences":[{"name":"a","uid":"1"},{"name":"b","uid":"1"},{"name":"c","uid":"2"}]}}`) // the first of each is kept
	is.Equal(len(before), 5)                                                                                                                      // the old list is as it was
	is.Equal(DedupOwnerReferences(obj), nil)                                                                                                      // nothing left to do
	const rest = "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: 1, 2"
	is.Equal(DuplicateOwnersWarning(uids, false), ".metadata.ownerReferences contains duplicate entries"+rest)                                 // of the request
	is.Equal(DuplicateOwnersWarning(uids, true), ".metadata.ownerReferences contains duplicate entries after mutating admission happens"+rest) // of admission
}

func texts(errs field.ErrorList) []string {
	var list []string
	for _, e := range errs {
		list = append(list, e.Error())
	}
	return list
}

func parse(t *testing.T, json string) map[string]any {
	t.Helper()
	o, err := object.Parse([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
