package crd

import (
	"testing"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
)

func TestJSONPath(t *testing.T) {
	t.Parallel()
	obj, err := object.Parse([]byte(`{"spec":{"list":[{"n":"one","v":1},{"n":"two","v":2.5},{"n":"three"}],"a.b/c":"dotted","ok":true,"none":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ path, want string }{
		{".spec.list[0].n", "one"}, {".spec.list[-1].n", "three"}, {".spec.list[1:].n", "two"}, {".spec.list[9].n", "-"},
		{".spec.list[*].v", "1"}, {"..n", "one"}, {`.spec.list[?(@.n=="two")].v`, "2.5"}, {`.spec.list[?(@.v>1)].n`, "-"},
		{`.spec.list[?(@.v)].n`, "one"}, {`.spec.list[?(@.n!='one')].n`, "two"}, {`.spec.a\.b/c`, "dotted"}, {".spec['a.b/c']", "dotted"},
		{".spec.ok", "true"}, {".spec.none", "<no value>"}, {".spec.gone", "-"}, {".spec.list[?(@.v<=1)]", "-"},
		{"spec", "!"}, {".spec[", "!"}, {".spec[x]", "!"}, {".spec.list[?(@.n==)]", "!"}, {".", `{"spec"`},
	} {
		t.Run(x.path, func(t *testing.T) {
			is := is.New(t)
			p, ok := parsePath(x.path)
			if x.want == "!" {
				is.True(!ok) // cannot be read
				return
			}
			is.True(ok)
			v, found := p.first(map[string]any(obj))
			if x.want == "-" {
				is.True(!found)
				return
			}
			is.Equal(printValue(v)[:min(len(x.want), len(printValue(v)))], x.want)
		})
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	order := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"}
	for i := range order[1:] {
		is.True(compareVersions(order[i], order[i+1]) > 0) // the order that the documentation gives as an example
	}
}

func FuzzJSONPath(f *testing.F) {
	for _, seed := range []string{".a", "..", ".a[0:1:2]", `.a[?(@.b=="c")]`, ".[", "[-9223372036854775808]", `['\`, ".a[?(@..b)]"} {
		f.Add(seed)
	}
	value := map[string]any{"a": []any{map[string]any{"b": "c"}, nil, int64(1)}, "b": map[string]any{"a": 1.5}}
	f.Fuzz(func(t *testing.T, path string) {
		if p, ok := parsePath(path); ok {
			if v, found := p.first(value); found {
				printValue(v)
			}
		}
	})
}
