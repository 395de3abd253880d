package crd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// FuzzDefinition checks that no definition makes the package panic, either during validation or when it is served.
func FuzzDefinition(f *testing.F) {
	f.Add(string(object.JSON(map[string]any(widgets(f, nil)))), `{"spec":{"size":1}}`)
	f.Add(`{"metadata":{"name":"a.b.c"},"spec":{"group":"b.c","names":{"plural":"a","kind":"A"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":
		{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"properties":{"name":{"default":[1]}}}},"default":{"metadata":{"name":1}}}}}]}}`, `{}`)
	f.Add(`{"spec":{"versions":[null,{"schema":{"openAPIV3Schema":{"items":[1],"allOf":[null],"properties":{"a":null}}}}]}}`, `{"a":[{}]}`)
	reader, set := decoder(f)
	strategy := crd.Strategy(reader.ReadMeta)
	f.Fuzz(func(t *testing.T, definition, body string) {
		obj, err := object.Parse([]byte(definition))
		if err != nil {
			return
		}
		own, err := object.Parse([]byte(body))
		if err != nil {
			return
		}
		ctx := &resource.Context{Now: now, Warn: func(string) {}}
		crd.Defaults(obj)
		strategy.PrepareForCreate(ctx, obj)
		if len(strategy.Validate(ctx, obj)) > 0 {
			return
		}
		crd.Names(obj, nil, now)
		crd.Establish(obj, now)
		server := &crd.Server{Schema: set, Meta: reader.ReadMeta}
		for _, d := range server.Define(stored(obj)).New {
			one := own.Copy()
			if _, err := server.Prune(d.GVK, one); err != nil {
				continue
			}
			d.Default(one)
			d.Hub.Strategy.Validate(&resource.Context{Now: now, Definition: d, Warn: func(string) {}}, one)
		}
	})
}

// TestHostileDefinitions checks that a definition that is deliberately hard to validate is rejected or validated in time
// linear in its size. The limit is generous: a failure would take minutes.
func TestHostileDefinitions(t *testing.T) {
	t.Parallel()
	reader, _ := decoder(t)
	strategy := crd.Strategy(reader.ReadMeta)
	nested := func(n int, open, inside, end string) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
	}
	rules := func(n int) string {
		return `{"type":"object","default":{},"x-kubernetes-validations":[` + strings.TrimSuffix(strings.Repeat(`{"rule":"true"},`, n), ",") + `]}`
	}
	many := func(n int, one string) string {
		var out []string
		for i := range n {
			out = append(out, strings.ReplaceAll(one, "#", string(object.AppendJSON(nil, int64(i)))))
		}
		return strings.Join(out, ",")
	}
	for name, schema := range map[string]string{ // order does not matter: cases are independent
		"deep":              nested(290, `{"type":"object","properties":{"a":`, `{"type":"string"}`, `}}`),
		"too deep":          nested(3000, `{"type":"object","properties":{"a":`, `{"type":"string"}`, `}}`),
		"deep defaults":     nested(140, `{"type":"object","default":{},"properties":{"a":`, rules(40), `}}`),
		"deep alternatives": nested(100, `{"type":"object","anyOf":[`, `{}`, `,{"required":["a"]}]}`),
		"defaults in metadata": `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{` +
			many(4000, `"a#":{"type":"string","default":"x"}`) + `}}}}`,
		"enum":         `{"type":"integer","enum":[` + many(100_000, `#`) + `],"default":1}`,
		"required":     `{"type":"object","required":[` + many(100_000, `"a#"`) + `],"default":{}}`,
		"regular":      `{"type":"string","default":"` + strings.Repeat("a", 1<<16) + `","pattern":"^(a|a|a?)*(a|a)*(a*)*b$"}`,
		"repetition":   `{"type":"string","pattern":"(((a{1,1000}){1,1000}){1,1000})"}`,
		"map keys":     `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[` + many(5000, `"a#"`) + `],"items":{"type":"object","properties":{` + many(5000, `"a#":{"type":"string"}`) + `}}}`,
		"set":          `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"},"default":[` + many(50_000, `#`) + `]}`,
		"many schemas": `{"type":"object","properties":{` + many(20_000, `"a#":{"type":"string","default":"x"}`) + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := widgets(t, func(obj object.Object) {
				version(obj).Map("schema", "openAPIV3Schema", "properties")["spec"] = map[string]any(parse(t, schema))
			})
			begin := time.Now()
			strategy.PrepareForCreate(&resource.Context{Now: now}, obj)
			errs := strategy.Validate(&resource.Context{}, obj)
			took := time.Since(begin)
			t.Logf("%v, %d errors", took, len(errs))
			is.New(t).True(took < 20*time.Second) // fast enough
		})
	}
}
