package engine

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Two servers show different states of one object: a lagging server has an older one, and a server of an older minor version lacks
// newer fields.
func TestSkew(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "seed", "1", "replicas", []map[string]any{{"version": "1.36"}, {"version": "1.36"}})
	p.do("create configmap c --from-literal color=red")
	p.do("lag 2")
	p.do(`patch configmap c -p '{"data":{"color":"blue"}}'`)
	look := func(more ...any) map[string]any {
		return at(p.must("query", append([]any{"view", "skew", "resource", "configmaps", "ns", "default", "name", "c"}, more...)...), "data").(map[string]any)
	}
	v := look()
	is.True(strings.Contains(at(v, "one.text").(string), "color: blue"))
	is.True(strings.Contains(at(v, "other.text").(string), "color: red"))
	is.True(at(v, "one.known") != at(v, "other.known"))
	is.Equal(v["servers"], 2.0)
	is.True(strings.Contains(at(look("from", "2", "to", "2"), "one.text").(string), "color: red"))
	p.do("delete configmap c")
	is.Equal(at(look(), "one.rv"), nil)
	is.True(at(look(), "other.rv") != nil)
	is.Equal(at(p.must("query", "view", "skew", "resource", "nothings", "name", "c"), "data.one.serves"), false)
}
