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
	"github.com/kubesim/kubesim/sim/trouble"
)

// aboutKinds are the directories below sim whose packages are specific to kinds, and the reasons. All other packages support every
// kind, built-in or custom.
var aboutKinds = map[string]string{
	"sim/admission":   "a plugin is about the kinds that it looks at",
	"sim/aggregator":  "APIServices lead to Services and their endpoints",
	"sim/auth":        "rights are in the kinds of rbac, tokens are bound to objects of some",
	"sim/boot":        "what is there as soon as a server has started",
	"sim/builtin":     "the kinds",
	"sim/conformance": "what differs from run to run differs by kind",
	"sim/controller":  "a controller is about the kinds that it watches",
	"sim/flowcontrol": "it is set up in two kinds",
	"sim/kubectl":     "it has commands for some kinds",
	"sim/kubelet":     "it runs pods on nodes",
	"sim/scenario":    "it prepares namespaces and nodes",
	"sim/scheduler":   "it binds pods to nodes",
	"sim/soak":        "it works on objects of some kinds",
}

// aboutKind returns the directory in aboutKinds that contains a package, or "" if the package supports every kind.
func aboutKind(dir string) string {
	for folder := range aboutKinds { // order does not matter: none lies in another
		if dir == folder || strings.HasPrefix(dir, folder+"/") && dir != "sim/builtin/table" {
			return folder
		}
	}
	return ""
}

// namedKinds are the kinds that generic code names anyway, or the files that name some, with the reasons.
var namedKinds = map[string]string{
	"sim/archive ServiceCIDR":              "the name of an option in files",
	"sim namespaces":                       "what a bare server has from the beginning",
	"sim/apiserver namespaces":             "a part of every path",
	"sim/codec Eviction":                   "read in either version of policy: the body says nothing else of it",
	"sim/codec Ingress":                    "moved from extensions to another group",
	"sim/codec NetworkPolicy":              "moved from extensions to another group",
	"sim/codec Scale":                      "one Go type in all groups",
	"sim/crd Scale":                        "what custom resources have, too",
	"sim/replica secrets":                  "a legacy token is in one, and its use is noted there",
	"sim/resource Scale":                   "what every kind with a number of replicas has",
	"sim/trace leases.coordination.k8s.io": "a story leaves out that clients renew them",
	"sim/schema/releases.go":               "which versions of which kinds a minor can read, and store: data",
	"sim/crd customresourcedefinitions.apiextensions.k8s.io": "what the package is about",
	"sim/metadata Event": "the API machinery forbids it in every owner reference, also where no server serves events and in objects within custom ones (apimachinery validation.BannedOwners)",
}

// TestNoKindByName checks that generic code uses the Definition and does not name kinds. The special behaviour of a kind belongs in
// the package of its group.
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
		for _, sub := range r.Subresources {
			names[sub.Kind] = true
		}
	}
	used := map[string]bool{}
	for _, s := range mustSources(t, rootModule) {
		if s.isTest() || s.dir() != "sim" && !strings.HasPrefix(s.dir(), "sim/") {
			continue
		}
		folder := aboutKind(s.dir())
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			if !names[strings.TrimSpace(text)] {
				return true
			}
			if folder != "" {
				used[folder] = true
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
	for _, exceptions := range []map[string]string{namedKinds, aboutKinds} {
		for key, reason := range exceptions { // order does not matter
			if !used[key] {
				t.Errorf("nothing names %s (%s) any more: take the exception away", key, reason)
			}
		}
	}
}

// TestNoMinorByName checks that code does not name Kubernetes minor versions. Differences between them belong in the rows of
// schema.Releases or use Context.Since. A string may mention a minor version as an example, but must not consist of it.
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
	named := regexp.MustCompile(`(["'` + "`" + `=]|\bv)1\.3\d\b`) // as a value, or as a version in the middle of a text
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "web/src/") && !strings.HasPrefix(name, "wasm/build") && name != "Makefile" || strings.Contains(name, ".test.") {
			continue
		}
		if found := named.Find(all[name]); found != nil {
			t.Errorf("%s names a minor, %s: read it from sim/schema, a go.mod or the manifest of the engines", name, found)
		}
	}
}

// TestGatesAreKnown checks that rules use only feature gates that a server can have. An unknown gate would always be disabled.
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

// TestStructsAreNamed checks that rules name structs by generated constants, so that an unknown name does not compile, and that
// each generated constant is used by a rule.
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

// TestTroublesAreListedOnce checks that the page's own list of disturbances of replicas and controllers matches sim/trouble.
func TestTroublesAreListedOnce(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	const file = "web/src/served/lines.ts"
	found := regexp.MustCompile(`const troubles = \[([^\]]*)\]`).FindSubmatch(all[file])
	if found == nil {
		t.Fatalf("%s has no list of troubles any more: take this test away", file)
	}
	want := []string{"'step'"} // runs a stopped controller once; not a disturbance
	var takes []string
	for _, k := range trouble.Kinds {
		want = append(want, "'"+k.Name+"'")
		if p := k.Parameter(); p != "" {
			takes = append(takes, k.Name+": '"+p+"'")
		}
	}
	parameters := regexp.MustCompile(`const parameter = \{ ([^}]*) \}`).FindSubmatch(all[file])
	if parameters == nil {
		t.Fatalf("%s does not say any more what troubles take: take this away", file)
	}
	said := strings.Split(string(parameters[1]), ", ")
	slices.Sort(said)
	if slices.Sort(takes); !slices.Equal(said, takes) {
		t.Errorf("%s says that troubles take %s, sim/trouble %s", file, said, takes)
	}
	slices.Sort(want)
	got := strings.Split(string(found[1]), ", ")
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s lists %s, sim/trouble %s", file, got, want)
	}
}
