package kubectl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/words"
)

// leaves returns the verbs that run a command, by their path, such as "rollout status".
func leaves(list []verb, before string) map[string]*verb {
	out := map[string]*verb{}
	for i := range list {
		v := &list[i]
		if v.run != nil {
			out[before+v.name] = v
		}
		maps.Copy(out, leaves(v.sub, before+v.name+" "))
	}
	return out
}

// TestVerbs checks that each verb is complete, and that names are unique.
func TestVerbs(t *testing.T) {
	var check func(list []verb)
	check = func(list []verb) {
		known := map[string]bool{}
		for i := range list {
			v := &list[i]
			for _, name := range append(strings.Fields(v.aliases), v.name) {
				if known[name] {
					t.Errorf("two verbs of a list are called %q", name)
				}
				known[name] = true
			}
			if v.help == "" || v.run == nil && len(v.sub) == 0 {
				t.Errorf("the row of %q lacks its help, or what it runs", v.name)
			}
			check(v.sub)
		}
	}
	check(verbs)
}

// TestNoVerbIsForgotten checks that the list of verbs contains every function that runs a verb, and that the list of generators
// contains every function that creates an object for create.
func TestNoVerbIsForgotten(t *testing.T) {
	for _, list := range []struct{ folder, file, parameter, result, more string }{
		{".", "verbs.go", "call", "error", "help"},
		{"generate", "generate.go", "Input", "(object.Object, error)", ""},
	} {
		text, err := os.ReadFile(filepath.Join(list.folder, list.file))
		if err != nil {
			t.Fatal(err)
		}
		signature := regexp.MustCompile(`^func (\w+)\((?:\w+ )?\*` + list.parameter + `\) ` + regexp.QuoteMeta(list.result) + ` \{`)
		names, _ := filepath.Glob(filepath.Join(list.folder, "*.go"))
		found := 0
		for _, name := range names {
			fset := token.NewFileSet()
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(fset, name, source, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || strings.HasSuffix(name, "_test.go") {
					continue
				}
				m := signature.FindSubmatch(source[fset.Position(fn.Pos()).Offset:])
				if m == nil || slices.Contains(strings.Fields(list.more), string(m[1])) {
					continue
				}
				found++
				if !regexp.MustCompile(`\b(run|Make): ` + string(m[1]) + `\b`).Match(text) {
					t.Errorf("%s runs %s, and no row in %s names it", name, m[1], list.file)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has no function of this form: %s", list.folder, signature)
		}
	}
}

// unrecorded maps the verbs that no session contains to the reasons.
var unrecorded = map[string]string{
	"cluster-info dump": "it is not simulated",
	"completion":        "it is not simulated",
	"config get-users":  "config get-clusters and get-contexts read the same Config",
	"kuberc":            "it is not simulated",
	"plugin":            "it is not simulated",
	"proxy":             "it is not simulated",
}

// TestSessionsCoverVerbs checks that each verb occurs in a session, so that its output has been recorded from the real kubectl.
func TestSessionsCoverVerbs(t *testing.T) {
	names, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no sessions", err)
	}
	recorded := map[string]bool{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			typed, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
			if !ok {
				continue
			}
			list, _ := words.Shell.Split(typed) // the command may continue on the next line
			for i, w := range list {
				if w.Text != "kubectl" && w.Text != "k" {
					continue
				}
				var args []string
				for _, w := range list[i+1:] {
					args = append(args, w.Text)
				}
				path := ""
				findPath(args, &path)
				recorded[strings.TrimSpace(path)] = true
			}
		}
	}
	for path := range leaves(verbs, "") { // the order of complaints does not matter
		switch why := unrecorded[path]; {
		case !recorded[path] && why == "":
			t.Errorf("no session has kubectl %s: add a line to testdata/sessions and record it (TestRecord), or say in unrecorded why there is none", path)
		case recorded[path] && why != "":
			t.Errorf("a session has kubectl %s: take it out of unrecorded", path)
		}
	}
}
