package patch

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// typeOf returns the Type of a built-in kind.
func typeOf(t testing.TB, group, version, kind string) *schema.Type {
	t.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return set.Kind(schema.GVK{Group: group, Version: version, Kind: kind})
}

const deployment = `{"metadata":{"name":"d","labels":{"l":"1","m":"2"},"finalizers":["x.io/a","x.io/b"]},"spec":{
	"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%"}},
	"template":{"spec":{"containers":[
		{"name":"c1","image":"i:1","args":["x","y"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"ports":[{"containerPort":80,"name":"http"}]},
		{"name":"c2","image":"j:1"}]}}}}`

const metadata, containers, strategy = "metadata", "spec.template.spec.containers", "spec.strategy"

func TestStrategic(t *testing.T) {
	typ := typeOf(t, "apps", "v1", "Deployment")
	pod := func(s string) string { return `{"spec":{"template":{"spec":` + s + `}}}` }
	for _, c := range []struct {
		name, patch string
		path        string // the path of want
		want        string
	}{
		{"finalizers are merged", `{"metadata":{"finalizers":["x.io/c","x.io/a"]}}`, "metadata.finalizers", `["x.io/c","x.io/a","x.io/b"]`},
		{"delete from a primitive list", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x.io/a","x.io/none"]}}`, "metadata.finalizers", `["x.io/b"]`},
		{"order of a primitive list", `{"metadata":{"$setElementOrder/finalizers":["x.io/b","x.io/a"]}}`, "metadata.finalizers", `["x.io/b","x.io/a"]`},
		{"list by null", `{"metadata":{"finalizers":null}}`, metadata, `{"labels":{"l":"1","m":"2"},"name":"d"}`},
		{"replace a map", `{"metadata":{"labels":{"$patch":"replace","n":"3"}}}`, "metadata.labels", `{"n":"3"}`},
		{"delete a map", `{"metadata":{"labels":{"$patch":"delete"}}}`, "metadata.labels", `{}`},
		{"directive on nothing", `{"metadata":{"annotations":{"$patch":"explode"}}}`, metadata, `{"finalizers":["x.io/a","x.io/b"],"labels":{"l":"1","m":"2"},"name":"d"}`},
		{"nulls in a new map", `{"metadata":{"annotations":{"a":null,"b":"c"}}}`, "metadata.annotations", `{"b":"c"}`},
		{"without retainKeys", `{"spec":{"strategy":{"type":"Recreate"}}}`, strategy, `{"rollingUpdate":{"maxSurge":"25%"},"type":"Recreate"}`},
		{"retainKeys", `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`, strategy, `{"type":"Recreate"}`},
		{"merge by name", pod(`{"containers":[{"name":"c2","image":"j:2"}]}`), containers + "[].image", `["i:1","j:2"]`},
		{"nested merge", pod(`{"containers":[{"name":"c1","env":[{"name":"B","value":"3"},{"name":"C","value":"4"}]}]}`), containers + "[].env",
			`[[{"name":"A","value":"1"},{"name":"B","value":"3"},{"name":"C","value":"4"}],null]`},
		{"merge by number", pod(`{"containers":[{"name":"c1","ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":81}]}]}`), containers + "[].ports",
			`[[{"containerPort":80,"name":"http","protocol":"TCP"},{"containerPort":81}],null]`},
		{"a new item comes first", pod(`{"containers":[{"name":"c3","image":"k:1"}]}`), containers + "[].name", `["c3","c1","c2"]`},
		{"order", pod(`{"$setElementOrder/containers":[{"name":"c3"},{"name":"c2"},{"name":"c1"}],"containers":[{"name":"c3"}]}`), containers + "[].name", `["c3","c2","c1"]`},
		{"order keeps what it does not name", pod(`{"$setElementOrder/containers":[{"name":"c2"},{"name":"c3"}],"containers":[{"name":"c3"}]}`), containers + "[].name", `["c1","c2","c3"]`},
		{"an atomic list", pod(`{"containers":[{"name":"c1","args":["z"]}]}`), containers + "[].args", `[["z"],null]`},
		{"delete an item", pod(`{"containers":[{"name":"c2","$patch":"delete"}]}`), containers + "[].name", `["c1"]`},
		{"delete an absent item", pod(`{"containers":[{"name":"c9","$patch":"delete"}]}`), containers + "[].name", `["c1","c2"]`},
		{"replace the list", pod(`{"containers":[{"$patch":"replace"},{"name":"only"}]}`), containers + "[].name", `["only"]`},
		{"null", `null`, "metadata.name", `"d"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			got, s := Strategic([]byte(deployment), []byte(c.patch), typ, Warn, true)
			is.Equal(s, nil)
			is.Equal(show(got.Object, c.path), c.want)
		})
	}
}

// show returns the text of the value at a path. "list[].field" stands for the field of each element.
func show(o object.Object, path string) string {
	steps := object.Path(path)
	last := len(steps) - 2
	if last < 0 || steps[last] != "containers[]" {
		v, _ := o.Get(steps...)
		return string(object.JSON(v))
	}
	out := []any{}
	for _, v := range o.List("spec", "template", "spec", "containers") {
		out = append(out, v.(map[string]any)[steps[last+1]])
	}
	return string(object.JSON(out))
}

func TestStrategicErrors(t *testing.T) {
	typ := typeOf(t, "apps", "v1", "Deployment")
	pod := func(s string) string { return `{"spec":{"template":{"spec":` + s + `}}}` }
	for _, c := range []struct {
		name, patch string
		code        int
		text        string
	}{
		{"retainKeys that do not name a field", `{"spec":{"strategy":{"$retainKeys":["type"],"rollingUpdate":{"maxSurge":1}}}}`, 400, "invalid patch format of retainKeys"},
		{"retainKeys that are no list", `{"spec":{"strategy":{"$retainKeys":"type"}}}`, 400, "invalid patch format of retainKeys"},
		{"no merge key", pod(`{"containers":[{"image":"x"}]}`), 500, "map: map[image:x] does not contain declared merge key: name"},
		{"an order without the item", pod(`{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"zzz","image":"i"}]}`), 500,
			"The order in patch list:\n[map[image:i name:zzz]]\n doesn't match $setElementOrder list:\n[map[name:c]]\n"},
		{"an unknown directive", `{"metadata":{"labels":{"$patch":"explode"}}}`, 500, "unknown patch type: explode in map: map[$patch:explode]"},
		{"merge as a directive", pod(`{"containers":[{"name":"c1","$patch":"merge"}]}`), 500, "merging lists cannot yet be specified in the patch"},
		{"lists of lists", `{"metadata":{"finalizers":[["a"]]}}`, 500, "list element types are not identical: [[x.io/a x.io/b] [[a]]]"},
		{"a primitive list without a name", `{"metadata":{"$deleteFromPrimitiveList":["a"]}}`, 400, "invalid patch format of primitive list"},
		{"an order without a name", `{"metadata":{"$setElementOrder":["a"]}}`, 400, "invalid patch format of setElementOrder list"},
		{"an order of an unknown list", `{"metadata":{"$setElementOrder/frogs":["a"]}}`, 500, `unable to find api field in struct ObjectMeta for the json field "frogs"`},
		{"mixed elements", `{"metadata":{"finalizers":["a",1]}}`, 500, "list element types are not identical: [[x.io/a x.io/b] [a 1]]"},
		{"no JSON", `nonsense`, 400, "invalid character 'o' in literal null (expecting 'u')"},
		{"an array", `[]`, 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"},
		{"a huge number", `{"spec":{"replicas":1e400}}`, 400, "json: cannot unmarshal number 1e400 into Go value of type float64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			_, s := Strategic([]byte(deployment), []byte(c.patch), typ, Warn, true)
			is.True(s != nil)
			is.Equal(s.Code, c.code)
			is.Equal(s.Message, c.text) // in the words of the real server
		})
	}
}

func TestStrategicText(t *testing.T) {
	is := is.New(t)
	typ := typeOf(t, "", "v1", "ConfigMap")
	got, s := Strategic([]byte(configMap), []byte(`{"extra":1,"data":{"k":"4","k":"5"}}`), typ, Warn, true)
	is.Equal(s, nil)
	is.Equal(got.Text, "map[data:map[k:5] extra:1]") // as Go prints a map
	is.Equal(got.Strict, []string{`duplicate field "data.k"`})
	is.Equal(got.Object.String("data", "k"), "5") // the last one wins
	got, _ = Strategic([]byte(configMap), []byte(`{"data":{"k":"4","k":"5"}}`), typ, Ignore, true)
	is.Equal(len(got.Strict), 0)
}

func FuzzStrategic(f *testing.F) {
	typ := typeOf(f, "apps", "v1", "Deployment")
	f.Add(`{"metadata":{"$deleteFromPrimitiveList/finalizers":["x.io/a"],"finalizers":[{"a":1}],"labels":{"$patch":"replace","a":{}}}}`)
	f.Add(`{"spec":{"strategy":{"$retainKeys":["type"]},"template":{"spec":{"$setElementOrder/containers":[{"name":"c3"},null],"containers":[{"name":{},"$patch":"delete"},{"name":"c1"}]}}}}`)
	f.Add(`{"spec":{"template":{"spec":{"containers":[{"$patch":"replace"},{"name":"c1","env":[{"name":1.5,"value":null}]}]}}}}`)
	f.Fuzz(func(t *testing.T, patch string) {
		Strategic([]byte(deployment), []byte(patch), typ, Warn, false)
	})
}

// A patch with a directive is applied to the whole object, whatever fields it names.
func TestStrategicLeavesOut(t *testing.T) {
	is := is.New(t)
	typ := typeOf(t, "", "v1", "ConfigMap")
	for patch, want := range map[string]string{
		`{"data":{"a":"b"}}`:                                      `data`,
		`{"metadata":{"labels":{"a":"b"}}}`:                       `metadata`,
		`{"metadata":{"labels":{"$patch":"delete"}}}`:             `metadata`,
		`{"metadata":null}`:                                       ``,
		`{"$patch":"replace","metadata":{"labels":{"a":"b"}}}`:    `metadata`,
		`{"metadata":{"$patch":"replace","labels":{"a":"b"}}}`:    `metadata`,
		`{"$retainKeys":["metadata"],"metadata":{"labels":null}}`: `metadata`,
	} {
		all, s := Strategic([]byte(configMap), []byte(patch), typ, Warn, true)
		is.Equal(s, nil)
		part, s := Strategic([]byte(configMap), []byte(patch), typ, Warn, false)
		is.Equal(s, nil)
		doc, err := object.Parse([]byte(configMap))
		is.NoErr(err)
		for _, path := range part.Left {
			v, _ := doc.Get(path...)
			part.Object.Set(v, path...)
		}
		is.Equal(part.Object, all.Object) // together with the paths that were left out it is the whole
		_, ok := part.Object[want]
		is.Equal(ok, want != "")
	}
}
