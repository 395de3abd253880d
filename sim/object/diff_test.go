package object

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{`{}`, `{}`, `[]`},
		{`{"spec":{"replicas":1}}`, `{"spec":{"replicas":3}}`, `[spec.replicas: 1 → 3]`},
		{`{"a":1}`, `{"b":{"c":"x"}}`, `[a: 1 → - b: - → {"c":"x"}]`},
		{`{"metadata":{"labels":{"app.kubernetes.io/name":"a"}}}`, `{"metadata":{"labels":{}}}`, `[metadata.labels[app.kubernetes.io/name]: "a" → -]`},
		// items with names are matched regardless of their position
		{`{"c":[{"name":"a","image":"1"},{"name":"b"}]}`, `{"c":[{"name":"b"},{"name":"a","image":"2"}]}`, `[c[a].image: "1" → "2"]`},
		{`{"c":[{"type":"Ready","status":"False"}]}`, `{"c":[{"type":"Ready","status":"True"},{"type":"Synced"}]}`, `[c[Ready].status: "False" → "True" c[Synced]: - → {"type":"Synced"}]`},
		{`{"c":[{"name":"a"},{"name":"a"}]}`, `{"c":[{"name":"a"}]}`, `[c[1]: {"name":"a"} → -]`}, // a name that is not unique does not identify an item
		{`{"c":[1,2]}`, `{"c":[1,3,4]}`, `[c[1]: 2 → 3 c[2]: - → 4]`},
		{`{"c":[]}`, `{"c":[{"name":"a"}]}`, `[c[a]: - → {"name":"a"}]`},
		{`{"c":{"d":1}}`, `{"c":[1]}`, `[c: {"d":1} → [1]]`},
	} {
		is := is.New(t)
		before, err := Parse([]byte(c.before))
		is.NoErr(err)
		after, err := Parse([]byte(c.after))
		is.NoErr(err)
		is.Equal(fmt.Sprint(Diff(before, after)), c.want)
	}
}

func TestDiffOfNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var none Object
	is.Equal(fmt.Sprint(Diff(none, Object{"a": "b"})), `[: - → {"a":"b"}]`) // created
}
