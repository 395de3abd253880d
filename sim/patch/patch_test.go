package patch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestType(t *testing.T) {
	for _, c := range []struct {
		contentType string
		custom      bool
		kind        Kind
		text        string
		cbor        bool
	}{
		{contentType: "application/json-patch+json", kind: JSONPatch},
		{contentType: "application/merge-patch+json; charset=utf-8", kind: MergePatch},
		{contentType: "application/strategic-merge-patch+json", kind: StrategicPatch},
		{contentType: "application/apply-patch+yaml", custom: true, kind: ApplyPatch},
		{contentType: "application/apply-patch+cbor", custom: true, kind: ApplyPatch, cbor: true},
		{contentType: "application/json", text: "415: Unsupported Media Type"},
		{contentType: "", text: "415: Unsupported Media Type"},
		{contentType: "application/apply-patch+cbor", text: "415: Unsupported Media Type"},
		{contentType: "application/strategic-merge-patch+json", custom: true, text: "the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"},
	} {
		is := is.New(t)
		kind, s := Type(c.contentType, c.custom, c.cbor)
		if c.text == "" {
			is.Equal(s, nil)
			is.Equal(kind, c.kind)
			continue
		}
		is.Equal(s.Code, 415)
		is.Equal(s.Message, c.text)          // in the words of the real server
		is.Equal(s.Details == nil, c.custom) // built-in resources are refused by the router, which sends empty details
		is.Equal(string(s.Reason), "UnsupportedMediaType")
	}
}

func TestUndecodable(t *testing.T) {
	is := is.New(t)
	s := Undecodable(`{"a":1}`, errors.New("illegal base64 data at input byte 0"))
	is.Equal(string(s.JSON()), `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":" \"\" is invalid: patch: Invalid value: \"{\\\"a\\\":1}\": illegal base64 data at input byte 0","reason":"Invalid",`+
		`"details":{"causes":[{"reason":"FieldValueInvalid","message":"Invalid value: \"{\\\"a\\\":1}\": illegal base64 data at input byte 0","field":"patch"}]},"code":422}`)
	s = StrictlyUndecodable("map[extra:1]", []string{`unknown field "extra"`, `unknown field "metadata.nope"`})
	is.Equal(s.Message, ` "" is invalid: patch: Invalid value: "map[extra:1]": strict decoding error: unknown field "extra", unknown field "metadata.nope"`)
}

const configMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","finalizers":["x.io/1","x.io/2"]},"data":{"k":"1","0":"z"}}`

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		want        string // of data and finalizers, or the message of the error
		code        int
	}{
		{"add and replace", `[{"op":"add","path":"/data/j","value":"2"},{"op":"replace","path":"/data/k","value":"3"}]`, `{"0":"z","j":"2","k":"3"}["x.io/1","x.io/2"]`, 0},
		{"test, copy, move", `[{"op":"test","path":"/data/k","value":"1"},{"op":"copy","from":"/data/k","path":"/data/c"},{"op":"move","from":"/data/0","path":"/data/m"}]`,
			`{"c":"1","k":"1","m":"z"}["x.io/1","x.io/2"]`, 0},
		{"append and insert", `[{"op":"add","path":"/metadata/finalizers/-","value":"x.io/3"},{"op":"add","path":"/metadata/finalizers/0","value":"x.io/0"}]`,
			`{"k":"1","0":"z"}["x.io/0","x.io/1","x.io/2","x.io/3"]`, 0},
		{"negative index", `[{"op":"replace","path":"/metadata/finalizers/-1","value":"x"},{"op":"remove","path":"/metadata/finalizers/-2"}]`, `{"k":"1","0":"z"}["x"]`, 0},
		{"replace of a missing key", `[{"op":"replace","path":"/data/none","value":"x"},{"op":"replace","path":"/data/7","value":"y"}]`,
			`{"0":"z","7":"y","k":"1","none":"x"}["x.io/1","x.io/2"]`, 0},
		{"copy of a missing key", `[{"op":"copy","from":"/data/none","path":"/data/c"}]`, `{"0":"z","c":null,"k":"1"}["x.io/1","x.io/2"]`, 0},
		{"escaped keys", `[{"op":"add","path":"/data/a~1b~0c","value":"x"}]`, `{"0":"z","a/b~c":"x","k":"1"}["x.io/1","x.io/2"]`, 0},
		{"test of a missing key for null", `[{"op":"test","path":"/data/none","value":null}]`, `{"0":"z","k":"1"}["x.io/1","x.io/2"]`, 0},
		{"nothing", `[]`, `{"k":"1","0":"z"}["x.io/1","x.io/2"]`, 0},
		{"failing test after a change", `[{"op":"replace","path":"/data/k","value":"2"},{"op":"test","path":"/data/k","value":"1"}]`, unprocessable, 422},
		{"remove of a missing key", `[{"op":"remove","path":"/data/none"}]`, unprocessable, 422},
		{"replace beyond the end", `[{"op":"replace","path":"/metadata/finalizers/2","value":"x"}]`, unprocessable, 422},
		{"replace at the dash", `[{"op":"replace","path":"/metadata/finalizers/-","value":"x"}]`, unprocessable, 422},
		{"add below a missing parent", `[{"op":"add","path":"/metadata/labels/x","value":"y"}]`, unprocessable, 422},
		{"add of the whole document", `[{"op":"add","path":"","value":{}}]`, unprocessable, 422},
		{"unknown operation", `[{"op":"frobnicate","path":"/data/k","value":"x"}]`, unprocessable, 422},
		{"no operation", `[{"path":"/data/k","value":"x"}]`, unprocessable, 422},
		{"null operations", "[" + strings.Repeat("null,", 9999) + "null]", unprocessable, 422},
		{"too many operations", "[" + strings.Repeat("null,", 10000) + "null]", "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001", 413},
		{"an object", `{"data":{"k":"x"}}`, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp", 400},
		{"no JSON", `nonsense`, "error decoding patch: invalid character 'o' in literal null (expecting 'u')", 400},
		{"no body", ``, "error decoding patch: unexpected end of JSON input", 400},
		{"a number for op", `[{"op":1}]`, "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			got, _, s := JSON([]byte(configMap), []byte(c.patch), Warn)
			if c.code != 0 {
				is.True(s != nil)
				is.Equal(s.Code, c.code)
				is.Equal(s.Message, c.want)
				return
			}
			is.Equal(s, nil)
			var doc struct {
				Data     json.RawMessage
				Metadata struct{ Finalizers json.RawMessage }
			}
			is.NoErr(json.Unmarshal(got, &doc))
			is.Equal(string(doc.Data)+string(doc.Metadata.Finalizers), c.want) // objects that were looked into are sorted
		})
	}
}

const unprocessable = "the server rejected our request due to an error in our request"

func TestCopyLimit(t *testing.T) {
	is := is.New(t)
	doc := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	copies := strings.Repeat(`{"op":"copy","from":"/a","path":"/b"},`, 3)
	_, _, s := JSON([]byte(doc), []byte("["+copies[:len(copies)-1]+"]"), Warn)
	is.Equal(s.Message, unprocessable) // three copies of a little more than a mebibyte
	_, _, s = JSON([]byte(doc), []byte(`[{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/a","path":"/b"}]`), Warn)
	is.Equal(s, nil)
}

func TestStrictOperations(t *testing.T) {
	is := is.New(t)
	patch := []byte(`[{"op":"test","path":"/data/k","value":"1","comment":"hi","op":"test"},{"op":"add","path":"/data/x","value":{"a":1,"a":2}}]`)
	_, strict, s := JSON([]byte(configMap), patch, Warn)
	is.Equal(s, nil)
	is.Equal(strict, []string{`json patch unknown field "[0].comment"`, `json patch duplicate field "[0].op"`, `json patch duplicate field "[1].value.a"`})
	_, strict, s = JSON([]byte(configMap), patch, Ignore)
	is.Equal(s, nil)
	is.Equal(len(strict), 0) // Ignore looks for nothing
	_, _, s = JSON([]byte(configMap), []byte(`{"op":"add"}`), Ignore)
	is.Equal(s.Message, "json: cannot unmarshal object into Go value of type jsonpatch.Patch")
}

// The messages are those of json-patch v4.
func TestOperationErrors(t *testing.T) {
	const doc = `{"a":{"b":[1,2]},"n":null}`
	for patch, want := range map[string]string{ // order does not matter
		`[{"op":"replace","path":"/a/x","value":1}]`: `{"a":{"b":[1,2],"x":1},"n":null}`,
		`[{"op":"add","path":"/a/b/-1","value":3}]`:  `{"a":{"b":[1,2,3]},"n":null}`,
		`null`:                                           doc,
		`[{"op":"test","path":"/a/missing"}]`:            doc,
		`[{"path":"/a"}]`:                                "Unexpected kind: unknown",
		`[{"op":"delete","path":"/a"}]`:                  "Unexpected kind: delete",
		`[{"op":"add","value":1}]`:                       "add operation failed to decode path: missing value",
		`[{"op":"replace","path":1,"value":1}]`:          "replace operation failed to decode path: json: cannot unmarshal number into Go value of type string",
		`[{"op":"add","path":"/x/y","value":1}]`:         `add operation does not apply: doc is missing path: "/x/y": missing value`,
		`[{"op":"add","path":"/n/y","value":1}]`:         `add operation does not apply: doc is missing path: "/n/y": missing value`,
		`[{"op":"add","path":"/a/b/x","value":1}]`:       `error in add for path: '/a/b/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
		`[{"op":"add","path":"/a/b/3","value":1}]`:       `error in add for path: '/a/b/3': Unable to access invalid index: 3: invalid index referenced`,
		`[{"op":"remove","path":"/x"}]`:                  `error in remove for path: '/x': Unable to remove nonexistent key: x: missing value`,
		`[{"op":"remove","path":"/a/b/-3"}]`:             `error in remove for path: '/a/b/-3': Unable to access invalid index: -3: invalid index referenced`,
		`[{"op":"replace","path":"/a/b/2","value":1}]`:   `replace operation does not apply: doc is missing key: /a/b/2: missing value`,
		`[{"op":"replace","path":"","value":1}]`:         `replace operation value must be object or array: %!w(<nil>)`,
		`[{"op":"move","path":"/x"}]`:                    `move operation failed to decode from: operation, missing from field: missing value`,
		`[{"op":"move","from":"/x","path":"/y"}]`:        `error in move for path: 'x': Unable to remove nonexistent key: x: missing value`,
		`[{"op":"copy","from":"/x/y","path":"/y"}]`:      `copy operation does not apply: doc is missing from path: /x/y: missing value`,
		`[{"op":"test","path":"/a/b/0","value":2}]`:      `testing value /a/b/0 failed: test failed`,
		`[{"op":"test","path":"/a/b","value":[1,null]}]`: `testing value /a/b failed: test failed`,
		`[{"op":"test","path":""}]`:                      `testing value  failed: test failed`,
		`[{"op":"replace","path":""}]`:                   `replace operation value must be object or array: %!w(<nil>)`,
		`[{"op":"add","path":"","value":{}}]`:            `add operation does not apply: doc is missing path: "": missing value`,
		`[{"op":"add","path":"//y","value":1}]`:          `add operation does not apply: doc is missing path: "//y": missing value`,
		`[{"op":"move","from":"","path":"/y"}]`:          `move operation does not apply: doc is missing from path: : missing value`,
		`[{"op":"move","from":"/a","path":""}]`:          `move operation does not apply: doc is missing destination path: : missing value`,
		`[{"op":"copy","from":"","path":"/y"}]`:          `copy operation does not apply: doc is missing from path: : missing value`,
		`[{"op":"copy","from":"/","path":"/y"}]`:         `{"a":{"b":[1,2]},"n":null,"y":null}`,
		`[{"op":"add","path":"/z","value":1},{"op":"replace","path":"/x","value":2},{"op":"remove","path":"/a"}]`: `{"n":null,"x":2,"z":1}`,
		`[{"op":"add","path":"/z","value":1},{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]`:            `error in remove for path: '/a': Unable to remove nonexistent key: a: missing value`,
		`[{"op":"test","path":"/a/b/9","value":2}]`:                                                               `error in test for path: '/a/b/9': Unable to access invalid index: 9: invalid index referenced`,
		`[{"op":"add","path":"/c","value":{}},{"op":"add","path":"/c/d","value":1}]`:                              `{"a":{"b":[1,2]},"c":{"d":1},"n":null}`,
	} {
		is := is.New(t)
		ops, err := ReadOperations([]byte(patch))
		is.NoErr(err)
		for range 2 { // operations can be applied again
			out, err := ops.Apply([]byte(doc))
			if err != nil {
				out = []byte(err.Error())
			}
			is.Equal(string(out), want)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		level       Level
		want        string
		code        int
		strict      string
	}{
		{"merge, delete, replace", `{"data":{"k":null,"n":"<v>"},"metadata":{"finalizers":["y"]}}`, Warn,
			`{"apiVersion":"v1","data":{"0":"z","n":"\u003cv\u003e"},"kind":"ConfigMap","metadata":{"finalizers":["y"],"name":"a","namespace":"ns"}}`, 0, ""},
		{"untouched objects keep their order", `{"extra":1}`, Warn,
			`{"apiVersion":"v1","data":{"k":"1","0":"z"},"extra":1,"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","finalizers":["x.io/1","x.io/2"]}}`, 0, ""},
		{"nulls in new objects", `{"data":null,"x":{"b":{"c":null},"a":[null,{"d":null,"c":1}]}}`, Warn,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","finalizers":["x.io/1","x.io/2"]},"x":{"a":[null,{"c":1}],"b":{}}}`, 0, ""},
		{"repeated keys", `{"data":{"k":"2","k":"3"}}`, Warn,
			`{"apiVersion":"v1","data":{"0":"z","k":"3"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","finalizers":["x.io/1","x.io/2"]}}`, 0, `duplicate field "data.k"`},
		{"an array", `[]`, Warn, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}", 400, ""},
		{"a string", `"x"`, Warn, "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}", 400, ""},
		{"null", `null`, Warn, "Invalid JSON Patch", 400, ""},
		{"no JSON", `{a:1}`, Warn, "error decoding patch: invalid character 'a' looking for beginning of object key string", 400, ""},
		{"no JSON, ignored", `nonsense`, Ignore, "Invalid JSON Patch", 400, ""},
		{"an array, ignored", `[ {"b":null,"a":1} ]`, Ignore, `[{"a":1}]`, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			got, strict, s := Merge([]byte(configMap), []byte(c.patch), c.level)
			if c.code != 0 {
				is.True(s != nil)
				is.Equal(s.Code, c.code)
				is.Equal(s.Message, c.want)
				return
			}
			is.Equal(s, nil)
			is.Equal(string(got), c.want)
			is.Equal(strings.Join(strict, ", "), c.strict)
		})
	}
}

func FuzzJSONPatch(f *testing.F) {
	f.Add(configMap, `[{"op":"move","from":"/data/k","path":"/data/j"},{"op":"test","path":"/metadata","value":{"a":[null]}}]`)
	f.Add(`{"a":[null,{"b":[]}],"":1}`, `[{"op":"replace","path":"/a/1/b/-","value":1},{"op":"copy","from":"/a/0","path":"/a/1/b/0"}]`)
	f.Add(`{"a":null}`, `{"a":{"b":null},"c":[null]}`)
	f.Fuzz(func(t *testing.T, doc, patch string) {
		if !isObject(doc) || !json.Valid([]byte(doc)) {
			return // the server prints only valid objects
		}
		for _, level := range []Level{Warn, Ignore} {
			JSON([]byte(doc), []byte(patch), level)
			Merge([]byte(doc), []byte(patch), level)
		}
	})
}
