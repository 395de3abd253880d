package guard

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/types"
	"testing"

	"github.com/matryer/is"
)

// snippet parses a file in the same way as the guards.
func snippet(t *testing.T, text string) source {
	t.Helper()
	f, err := parser.ParseFile(fset, "snippet.go", "package p\n"+text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{name: "sim/p/snippet.go", ast: f}
}

// TestGuardsFindCalls checks that the guards find forbidden calls.
func TestGuardsFindCalls(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := snippet(t, `
import (
	stdtime "time"
	"math/rand/v2"
)
var now = stdtime.Now
var d = stdtime.Second
func f(r *rand.Rand) int { go f(r); wg.Go(g); return rand.IntN(3) + r.IntN(3) + rand.New(nil).IntN(2) }
`)
	is.Equal(forbiddenUses(s), []string{
		"sim/p/snippet.go:7: stdtime.Now makes runs differ: take a time.Time as argument, or a clock.Clock",
		"sim/p/snippet.go:9: rand.IntN makes runs differ: take a *rand.Rand that was made from the Cluster's seed",
	}) // a renamed import, a function value; not what a seeded generator does
	is.Equal(goStatements(s), []string{"sim/p/snippet.go:9", "sim/p/snippet.go:9"}) // go and a group's Go
}

func TestGuardsFindMapOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body  string
		finds int
	}{
		{"for k := range m { out = append(out, k) }", 1},
		{"for k := range m { out = append(out, k) }; slices.Sort(out)", 0},
		{"slices.Sort(out); for k := range m { out = append(out, k) }", 1},
		{"for k := range m { // sorted below\nout = append(out, k) }", 0},
		{"// order does not matter: a reason\nfor k := range m { out = append(out, k) }", 0},
		{"for k := range maps.Keys(m) { println(k) }", 1},
		{"for _, k := range slices.Sorted(maps.Keys(m)) { println(k) }", 0},
		{"for k, v := range m { inverse[v] = k; n++; n += v }", 0},
		{"for k, v := range m { inverse[v] += k; text += k }", 1},
		{"for k, v := range m { lists[v] = append(lists[v], k) }", 1},
		{"for k := range m { byKey[k] = append(byKey[k], 1) }", 0},
		{"for k, v := range m { if v > 1 { continue }; delete(m, k) }", 0},
		{"for _, v := range m { if v > 1 { return true } }", 0},
		{"for _, v := range m { if v > 1 { break } }", 1},
		{"for _, k := range out { println(k) }", 0},
	}
	for _, tt := range tests {
		is := is.New(t)
		s := snippet(t, "import (\n\"maps\"\n\"slices\"\n)\nvar _ = maps.Keys[map[int]int]\nvar _ = slices.Sort[[]int]\n"+
			"func f(m map[string]int, inverse map[int]string, lists map[int][]string, byKey map[string][]int, out []string, text string, n int) bool {\n"+
			tt.body+"\nreturn false }")
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		conf := types.Config{Importer: importer.Default(), Error: func(error) {}}
		_, _ = conf.Check("p", fset, []*ast.File{s.ast}, info)
		if got := len(mapOrder(s, info)); got != tt.finds {
			t.Log(tt.body)
			is.Equal(got, tt.finds) // forbidden loops
		}
	}
}

func TestGuardsFindKubernetes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	found := requirement.FindAllStringSubmatch("require k8s.io/api v0.36.3\nrequire (\n\tsigs.k8s.io/yaml v1.6.0\n\tnot-k8s.io/x v1.0.0\n)", -1)
	is.Equal(len(found), 2) // two requirements of Kubernetes
	is.Equal(found[0][1], "k8s.io/api")
	is.Equal(found[1][1], "sigs.k8s.io/yaml")
	is.True(outside.MatchString("see /work/" + "shared/x.md")) // a path beside the project
	is.True(leftover.MatchString("// TO" + "DO: later"))       // a note to oneself
	is.True(!leftover.MatchString("context.TO" + "DOs"))       // a word that contains one
}
