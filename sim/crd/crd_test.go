package crd_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func parse(t testing.TB, text string) object.Object {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return obj
}

// widgets returns a valid definition after a change by edit.
func widgets(t testing.TB, edit func(object.Object)) object.Object {
	t.Helper()
	obj := parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string","default":"red"}}}}}}}]}}`)
	if edit != nil {
		edit(obj)
	}
	crd.Defaults(obj)
	return obj
}

// version returns the first version of a definition.
func version(obj object.Object) object.Object {
	return obj.List("spec", "versions")[0].(map[string]any)
}

func spec(obj object.Object) object.Object {
	return version(obj).Map("schema", "openAPIV3Schema", "properties", "spec")
}

func decoder(t testing.TB) (*codec.Decoder, *schema.Set) {
	t.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return &codec.Decoder{Meta: set.Named(crd.ObjectMeta)}, set
}

func texts(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return strings.Join(out, "; ")
}

func TestValidation(t *testing.T) {
	t.Parallel()
	reader, _ := decoder(t)
	strategy := crd.Strategy(reader.ReadMeta)
	const root = "spec.validation.openAPIV3Schema."
	for _, x := range []struct {
		name string
		edit func(object.Object)
		want string
	}{
		{"right", nil, ``},
		{"group", func(o object.Object) { o.Set("com", "spec", "group"); o.SetMeta("name", "widgets.com") },
			`spec.group: Invalid value: "com": should be a domain with at least one dot`},
		{"scope", func(o object.Object) { o.Set("x", "spec", "scope") }, `spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced"`},
		{"version name", func(o object.Object) { version(o)["name"] = "1" }, `spec.versions[0].name: Invalid value: "1": a DNS-1035 label`},
		{"no schema", func(o object.Object) { delete(version(o), "schema") }, `spec.versions[0].schema.openAPIV3Schema: Required value`},
		{"warning", func(o object.Object) { version(o)["deprecationWarning"] = "old" },
			`spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions`},
		{"nullable root", func(o object.Object) { object.Object(version(o).Map("schema", "openAPIV3Schema"))["nullable"] = true },
			`spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root`},
		{"column", func(o object.Object) {
			version(o)["additionalPrinterColumns"] = []any{map[string]any{"name": "A", "type": "x", "jsonPath": "spec"}}
		}, `spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string; spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .`},
		{"scale", func(o object.Object) {
			version(o)["subresources"] = map[string]any{"scale": map[string]any{"specReplicasPath": ".status.x", "statusReplicasPath": ""}}
		}, `spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec; spec.subresources.scale.statusReplicasPath: Required value`},
		{"selectable", func(o object.Object) {
			version(o)["selectableFields"] = []any{map[string]any{"jsonPath": ".spec"}, map[string]any{"jsonPath": ".metadata.name"}, map[string]any{"jsonPath": ".spec.size"}, map[string]any{"jsonPath": ".spec.size"}}
		}, `spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.; spec.selectableFields[1].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field; spec.selectableFields[3].jsonPath: Duplicate value: ".spec.size"`},
		{"conversion", func(o object.Object) { o.Set(map[string]any{"strategy": "Webhook"}, "spec", "conversion") },
			`spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook; spec.conversion.conversionReviewVersions: Required value`},
		{"webhook for nothing", func(o object.Object) {
			o.Set(map[string]any{"strategy": "None", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}}}, "spec", "conversion")
		}, `spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook`},
		{"protected", func(o object.Object) { o.Set("a.k8s.io", "spec", "group"); o.SetMeta("name", "widgets.a.k8s.io") },
			`metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111`},
		{"no type", func(o object.Object) { delete(spec(o), "type") }, root + `properties[spec].type: Required value: must not be empty for specified object fields`},
		{"unknown type", func(o object.Object) { spec(o)["type"] = "text" },
			root + `properties[spec].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`},
		{"pattern", func(o object.Object) { object.Object(spec(o).Map("properties", "color"))["pattern"] = "(" },
			root + "properties[spec].properties[color].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`"},
		{"unique", func(o object.Object) { spec(o)["uniqueItems"] = true },
			root + `properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`},
		{"default of another type", func(o object.Object) { object.Object(spec(o).Map("properties", "color"))["default"] = int64(1) },
			root + `properties[spec].properties[color].default: Invalid value: "integer":  in body must be of type string: "integer"`},
		{"default with unknown fields", func(o object.Object) { spec(o)["default"] = map[string]any{"x": "y"} },
			root + `properties[spec].default: Invalid value: {"x":"y"}: must not have unknown fields`},
		{"empty rule", func(o object.Object) { spec(o)["x-kubernetes-validations"] = []any{map[string]any{"rule": " "}} },
			root + `properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified`},
		{"metadata", func(o object.Object) {
			version(o).Set(map[string]any{"type": "object", "properties": map[string]any{"labels": map[string]any{"type": "object"}}}, "schema", "openAPIV3Schema", "properties", "metadata")
		}, root + `properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`},
		{"too deep", func(o object.Object) {
			at := spec(o)
			for range 200 {
				next := object.Object{"type": "object"}
				at["properties"] = map[string]any{"a": map[string]any(next)}
				at = next
			}
		}, `spec.validation.openAPIV3Schema: Forbidden: kubesim: the schema is nested too deeply or has too many parts`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			obj := widgets(t, x.edit)
			strategy.PrepareForCreate(nil, obj)
			got := texts(strategy.Validate(&resource.Context{}, obj))
			if x.want == "" {
				is.Equal(got, "")
			}
			is.True(strings.Contains(got, x.want)) // same wording as the real server
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	reader, _ := decoder(t)
	strategy := crd.Strategy(reader.ReadMeta)
	old := established(t, widgets(t, nil))
	obj := old.Copy()
	obj.Set("Cluster", "spec", "scope")
	obj.Set("things", "spec", "names", "plural")
	got := texts(strategy.ValidateUpdate(&resource.Context{}, obj, old))
	is.Equal(got, `spec.scope: Invalid value: "Cluster": field is immutable; spec.names.plural: Invalid value: "things": field is immutable`)
	obj = old.Copy()
	version(obj)["name"] = "v2"
	strategy.PrepareForUpdate(&resource.Context{}, obj, old)
	is.Equal(object.Strings(obj.List("status", "storedVersions")), []string{"v1", "v2"}) // objects may be stored in both
	is.True(strings.HasPrefix(texts(strategy.ValidateUpdate(&resource.Context{}, obj, old)), `status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously`))
	obj = old.Copy()
	object.Object(spec(obj).Map("properties", "color"))["format"] = "colour"
	var warnings []string
	strategy.Warn(&resource.Context{Warn: func(text string) { warnings = append(warnings, text) }}, obj, old)
	is.Equal(warnings, []string{`unrecognized format "colour"`})
}

// TestStoredRules checks that the rules of all versions of the stored definition may use functions that are available
// only to stored expressions, and that an unchanged schema may keep a rule that is too expensive.
func TestStoredRules(t *testing.T) {
	t.Parallel()
	reader, _ := decoder(t)
	strategy := crd.Strategy(reader.ReadMeta)
	server := &resource.Context{Server: resource.Server{Minor: 37}}
	ruled := func(rule string) object.Object {
		return widgets(t, func(o object.Object) {
			spec(o).Map("properties")["l"] = map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}
			spec(o)["x-kubernetes-validations"] = []any{map[string]any{"rule": rule}}
		})
	}
	const own, dear = "self.l.includes(1)", "self.l.all(x, self.l.all(y, x > y))"
	more := func(obj object.Object) object.Object {
		spec(obj).Map("properties")["more"] = map[string]any{"type": "string"}
		return obj
	}
	tests := []struct {
		name          string
		obj, old      object.Object
		count         int
		first, latest string
	}{
		{"new", ruled(own), nil, 1, "undeclared reference to 'includes'", ""},
		{"stored", more(ruled(own)), ruled(own), 0, "", ""},
		{"another was stored", ruled(own), ruled("true"), 1, "undeclared reference to 'includes'", ""},
		{"dear and unchanged", ruled(dear), ruled(dear), 2, "contributed to", "for entire OpenAPIv3 schema"},
		{"dear and changed", more(ruled(dear)), ruled(dear), 3, "estimated rule cost exceeds", "for entire OpenAPIv3 schema"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			var errs field.ErrorList
			if tt.old == nil {
				errs = strategy.Validate(server, tt.obj)
			} else {
				errs = strategy.ValidateUpdate(server, established(t, tt.obj), established(t, tt.old))
			}
			is.Equal(len(errs), tt.count)
			if tt.count > 0 {
				is.True(strings.Contains(errs[0].Error(), tt.first))
				is.True(strings.Contains(errs[tt.count-1].Error(), tt.latest))
			}
		})
	}
}

// established returns a definition that is served.
func established(t testing.TB, obj object.Object) object.Object {
	t.Helper()
	obj.Set([]any{"v1"}, "status", "storedVersions")
	if !crd.Names(obj, nil, now) || !crd.Establish(obj, now) {
		t.Fatal("the definition is not established")
	}
	return obj
}

// stored returns the item of a definition in the store.
func stored(obj object.Object) *resource.Item {
	d := &resource.Definition{Strategy: &resource.Strategy{}}
	d.Hub = d
	return resource.NewItem(d, obj, 1, object.JSON(map[string]any(obj)))
}

func TestNames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	first := established(t, widgets(t, func(o object.Object) { o.Set([]any{"wd"}, "spec", "names", "shortNames") }))
	is.True(crd.Served(first))
	is.True(!crd.Names(first, []object.Object{first}, now)) // its own names do not conflict
	second := widgets(t, func(o object.Object) {
		o.SetMeta("name", "gadgets.example.com")
		o.Set(map[string]any{"plural": "gadgets", "kind": "Gadget", "listKind": "WidgetList", "shortNames": []any{"wd", "gd"}}, "spec", "names")
	})
	is.True(crd.Names(second, []object.Object{first, second}, now))
	is.Equal(second.Condition(crd.NamesAccepted).String("reason"), "ListKindConflict") // the last conflict
	is.Equal(second.Condition(crd.NamesAccepted).String("message"), `"WidgetList" is already in use`)
	is.Equal(second.Condition(crd.Established).String("reason"), "NotAccepted")
	is.Equal(second.Map("status", "acceptedNames"), map[string]any{"plural": "gadgets", "singular": "gadget", "kind": "Gadget"})
	is.True(!crd.Establish(second, now))
	is.True(crd.Names(second, nil, now)) // the first definition was deleted
	is.True(crd.Establish(second, now))
	is.Equal(second.Condition(crd.Established).String("lastTransitionTime"), "2026-01-02T03:04:05Z")
}

func TestApproval(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	obj := widgets(t, func(o object.Object) { o.Set("x.k8s.io", "spec", "group") })
	is.True(crd.Approval(obj, now))
	is.Equal(obj.Condition("KubernetesAPIApprovalPolicyConformant").String("reason"), "MissingAnnotation")
	obj.SetMeta("annotations", map[string]any{"api-approved.kubernetes.io": "https://example.com/1"})
	is.True(crd.Approval(obj, now))
	is.Equal(obj.Condition("KubernetesAPIApprovalPolicyConformant").String("message"), "approved in https://example.com/1")
	is.True(!crd.Approval(obj, now))
	is.True(!crd.Approval(widgets(t, nil), now)) // the group needs no approval
}

func TestDefine(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	reader, set := decoder(t)
	server := &crd.Server{Schema: set, Meta: reader.ReadMeta}
	obj := established(t, widgets(t, func(o object.Object) {
		v := version(o)
		v["subresources"] = map[string]any{"status": map[string]any{}, "scale": map[string]any{"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}}
		v["selectableFields"] = []any{map[string]any{"jsonPath": ".spec.color"}}
		v["additionalPrinterColumns"] = []any{map[string]any{"name": "Ready", "type": "string", "jsonPath": `.status.conditions[?(@.type=="Ready")].status`},
			map[string]any{"name": "All", "type": "string", "jsonPath": ".spec"}, map[string]any{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
			map[string]any{"name": "Since", "type": "date", "jsonPath": ".spec.since"}}
		v["deprecated"] = true
		two := object.Object(object.Copy(map[string]any(v)).(map[string]any))
		two["name"], two["storage"], two["deprecated"] = "v2", false, false
		three := two.Copy()
		three["name"], three["served"] = "v3", false
		o.Set([]any{map[string]any(v), map[string]any(two), map[string]any(three)}, "spec", "versions")
	}))
	change := server.Define(stored(obj))
	is.Equal(len(change.New), 2) // v3 is not served
	d := change.New[0]
	is.Equal(d.GVK, schema.GVK{Group: "example.com", Version: "v1", Kind: "Widget"})
	is.Equal(d.Deprecated, "example.com/v1 Widget is deprecated; use example.com/v2 Widget")
	is.Equal(change.New[1].Deprecated, "")
	is.True(d.Sub("scale") != nil && d.Sub("status") != nil)
	is.Equal(d.FieldLabels, map[string]string{"spec.color": "spec.color"})
	in := parse(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3,"color":"red","since":"2026-01-02T03:04:00Z","x":1},
		"status":{"conditions":[{"type":"Live","status":"False"},{"type":"Ready","status":"True"}]}}`)
	is.Equal(len(d.Strategy.Fields), 1)
	is.Equal(d.Strategy.Fields.Text("spec.color", in), "red")
	is.Equal(d.Row(now, in).Cells, []any{"a", "True", `{"color":"red","since":"2026-01-02T03:04:00Z","size":3,"x":1}`, int64(3), "5s"})
	unknown, err := server.Prune(d.GVK, in)
	is.NoErr(err)
	is.Equal(unknown, []string{"spec.since", "spec.x", "status"}) // fields that the schema does not have
	converted, err := d.StorageCodec.Convert(nil, in, "example.com/v2")
	is.NoErr(err)
	is.Equal(converted.APIVersion(), "example.com/v2")
	_, err = d.StorageCodec.Convert(nil, in, "example.com/v9")
	is.True(err != nil)
	form := d.StorageCodec
	obj.SetMeta("labels", map[string]any{"a": "b"})
	change = server.Define(stored(obj))
	is.True(!change.Restarted && change.New[0].StorageCodec == form) // no relevant change
	object.Object(spec(obj))["x-kubernetes-preserve-unknown-fields"] = true
	change = server.Define(stored(obj))
	is.True(change.Restarted && change.New[0].StorageCodec != form) // stored objects have to be decoded again
	is.Equal(len(server.Remove(obj.Name())), 2)
	is.True(!server.Known(d.GVK))
}

// TestDefineAgain checks that a definition which another server has read is not parsed again: the cost of a further server does not depend
// on the size of the schema. It is not parallel, because other tests may empty the cache.
func TestDefineAgain(t *testing.T) {
	is := is.New(t)
	reader, set := decoder(t)
	it := stored(established(t, widgets(t, func(o object.Object) {
		properties := object.Object(version(o).Map("schema", "openAPIV3Schema", "properties"))
		for n := range 1000 {
			properties["p"+strconv.Itoa(n)] = map[string]any{"type": "string"}
		}
	})))
	allocations := testing.AllocsPerRun(5, func() {
		server := &crd.Server{Schema: set, Meta: reader.ReadMeta}
		is.Equal(len(server.Define(it).New), 1)
	})
	is.True(allocations < 200)
}

// TestObjects checks that the errors of an object are in the order of the real server.
func TestObjects(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	reader, set := decoder(t)
	server := &crd.Server{Schema: set, Meta: reader.ReadMeta}
	d := server.Define(stored(established(t, widgets(t, func(o object.Object) {
		version(o)["subresources"] = map[string]any{"scale": map[string]any{"specReplicasPath": ".spec.size", "statusReplicasPath": ".spec.color"}}
		object.Object(version(o).Map("schema", "openAPIV3Schema", "properties"))["set"] = map[string]any{"type": "array", "x-kubernetes-list-type": "set", "items": map[string]any{"type": "string"}}
		spec(o)["x-kubernetes-validations"] = []any{map[string]any{"rule": "!has(self.size) || self.size != 1", "message": "broken"}}
	})))).New[0]
	warned := 0
	ctx := &resource.Context{Definition: d, Warn: func(string) { warned++ }}
	obj := parse(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":-1,"color":1},"set":["a","a"]}`)
	is.Equal(texts(d.Strategy.Validate(ctx, obj)), `spec.color: Invalid value: "integer": spec.color in body must be of type string: "integer"; `+
		`.spec.size: Invalid value: -1: should be a non-negative integer; set[1]: Duplicate value: "a"; `+
		`<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`)
	obj = parse(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1}}`)
	is.Equal(texts(d.Strategy.Validate(ctx, obj)), "spec: Invalid value: broken") // the rules come last
	is.Equal(texts(d.Strategy.ValidateUpdate(ctx, obj, obj)), "")
	is.Equal(warned, 1) // an error that an update leaves unchanged is a warning
	is.True(d.Strategy.SpecChanged(obj, parse(t, `{"spec":{}}`)))
	is.True(!d.Strategy.SpecChanged(obj, func() object.Object { o := obj.Copy(); o.SetMeta("labels", map[string]any{}); return o }()))
}
