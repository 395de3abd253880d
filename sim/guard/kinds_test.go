package guard

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/schema"
)

// generic are the packages that work for every kind, built-in or custom.
var generic = []string{"sim/apiserver", "sim/codec", "sim/crd", "sim/crd/structural", "sim/discovery", "sim/discovery/openapi", "sim/field",
	"sim/fieldmanager", "sim/metadata", "sim/mvcc", "sim/object", "sim/patch", "sim/registry", "sim/resource", "sim/schema", "sim/selector",
	"sim/status", "sim/watchcache", "sim/webhook"}

// namedKinds are the kinds that generic code names nevertheless, or files that name some, with the reason.
var namedKinds = map[string]string{
	"sim/apiserver namespaces":                               "a part of every path",
	"sim/codec Ingress":                                      "moved from extensions to another group",
	"sim/codec NetworkPolicy":                                "moved from extensions to another group",
	"sim/schema/releases.go":                                 "which versions of which kinds a minor can read, and store: data",
	"sim/crd customresourcedefinitions.apiextensions.k8s.io": "what the package is about",
	"sim/metadata Event":                                     "the API machinery forbids it in every owner reference, also where no server serves events and in objects within custom ones (apimachinery validation.BannedOwners)",
}

// TestNoKindByName: generic code asks the Definition. What is special about a kind stands in the package of its group.
func TestNoKindByName(t *testing.T) {
	t.Parallel()
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range set.Resources() {
		names[r.Kind], names[r.Resource] = true, true
		names[r.Resource+"."+r.Group] = true
	}
	used := map[string]bool{}
	for _, s := range mustSources(t, rootModule) {
		if s.isTest() || !slices.Contains(generic, s.dir()) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			if !names[strings.TrimSpace(text)] {
				return true
			}
			key := s.dir() + " " + text
			if namedKinds[s.name] != "" {
				key = s.name
			}
			if used[key] = true; namedKinds[key] == "" {
				t.Errorf("%s names the kind %s: ask the Definition or the Strategy, and say it in the kind", s.at(lit), text)
			}
			return true
		})
	}
	for key, reason := range namedKinds { // order does not matter
		if !used[key] {
			t.Errorf("nothing names %s (%s) any more: take the exception away", key, reason)
		}
	}
}

// TestNoMinorByName: what is known of a Kubernetes minor stands in its row of schema.Releases, or asks Context.Since. Texts may
// have a minor as an example, but none is only that.
func TestNoMinorByName(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, s := range mustSources(t, rootModule) {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			if _, isMinor := schema.ReleaseOf(text); !isMinor {
				return true
			}
			if rows++; s.name != "sim/schema/releases.go" {
				t.Errorf("%s names the minor %s: ask schema.Default, schema.Releases or Context.Since", s.at(lit), text)
			}
			return true
		})
	}
	if rows < len(schema.Releases) {
		t.Errorf("only %d minors are named: are they still in sim/schema/releases.go?", rows)
	}
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`["'` + "`" + `=]v?1\.3\d\b`)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "web/src/") && !strings.HasPrefix(name, "wasm/build") && name != "Makefile" || strings.Contains(name, ".test.") {
			continue
		}
		if found := quoted.Find(all[name]); found != nil {
			t.Errorf("%s names a minor, %s: read it from sim/schema, a go.mod or the manifest of the engines", name, found)
		}
	}
}

// TestGatesAreKnown: a rule that asks for a feature gate asks for one that a server can have. Of others it would always hear
// that they are disabled.
func TestGatesAreKnown(t *testing.T) {
	t.Parallel()
	server, err := kind.Server(schema.Default, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, s := range mustSources(t, rootModule) {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			lit, isText := call.Args[0].(*ast.BasicLit)
			if !ok || !isText || f.Sel.Name != "Enabled" || lit.Kind != token.STRING {
				return true
			}
			name, _ := strconv.Unquote(lit.Value)
			asked++
			if _, known := server.Gates[name]; !known {
				t.Errorf("%s asks for %s, which is not in sim/builtin/kind/features.go", s.at(lit), name)
			}
			return true
		})
	}
	if asked == 0 {
		t.Error("no rule asks for a feature gate: is the method still called Enabled?")
	}
}

// TestStructsAreNamed: a rule names a struct by its constant, so that a name which is not generated does not compile, and what
// is generated for rules to name is named by one.
func TestStructsAreNamed(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	var generated []string
	for _, s := range mustSources(t, rootModule) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if s.name == "sim/builtin/gotext/types.go" {
					generated = append(generated, n.Names[0].Name)
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "gotext" {
					named[n.Sel.Name] = true
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) == 0 {
					return true
				}
				lit, isText := n.Args[0].(*ast.BasicLit)
				if x, ok := f.X.(*ast.Ident); ok && isText && x.Name == "gotext" {
					t.Errorf("%s: gotext.%s(%s): use the constant; sim/conformance/testdata/real/gotypes says how to have one", s.at(lit), f.Sel.Name, lit.Value)
				}
			}
			return true
		})
	}
	for _, name := range generated {
		if !named[name] {
			t.Errorf("no rule names gotext.%s: take it out of sim/conformance/testdata/real/gotypes/roots.go", name)
		}
	}
}
