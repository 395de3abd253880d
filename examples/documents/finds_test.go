package documents

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := Read("a/b.md", strings.Join([]string{
		"# Title", "Say `make", "check` and `go test ./x`.", "", "    make run  # all", "    make \\", "        test", "",
		"1. In a list:", "", "       go doc ./x", "", "```go", "if a {", "\tb()", "}", "```", "", "  ```", "  c", "  ```", "text `d`", "    no block",
	}, "\n"))
	is.Equal(d.Blocks, []Block{
		{5, "sh", "make run  # all\nmake \\\n    test\n"}, {11, "sh", "go doc ./x\n"}, {14, "go", "if a {\n\tb()\n}\n"}, {20, "", "c\n"},
	})
	is.Equal(d.Commands, []Block{{2, "sh", "make check\n"}, {3, "sh", "go test ./x\n"}, {22, "sh", "d\n"}})
	text, err := d.Block("go", "if")
	is.NoErr(err)
	is.Equal(text, d.Blocks[2].Text)
	_, err = d.Block("go", "for")
	is.Equal(err.Error(), `a/b.md has no block of the kind "go" that begins with "for"`)
}

// TestLinesFinds checks that each kind of incorrect line is found, and that similar correct lines are accepted.
func TestLinesFinds(t *testing.T) {
	t.Parallel()
	tools := newTools(t)
	d := Read("examples/README.md", "```txtar\ncreate configmaps a\n```\n")
	for text, want := range map[string]string{
		"make guard TESTFLAGS=-short":                           "",
		"make gard":                                             "No rule to make target 'gard'",
		"make guard TESTFLAG=-short":                            "reads the variable TESTFLAG",
		"KUBESIM_SEEDS=5 go test ./gallery":                     "",
		"KUBESIM_SEEDLINGS=5 go test ./gallery":                 "reads the variable KUBESIM_SEEDLINGS",
		"go test ./galery":                                      "there is no package ./galery",
		"go test -run TestMistakes/double ./gallery":            "",
		"go test -run TestMisteaks ./gallery":                   "has no TestMisteaks",
		"go test ./gallery -wright":                             "no flag -wright",
		"go run ./gallery":                                      "is not a program",
		"go doc ./sim/scenario.Condition":                       "",
		"go doc ./sim/scenario.Konditions":                      "cannot find package",
		"go mod edit -replase=a=b":                              "flag provided but not defined",
		"go fmt ./gallery":                                      "no test knows go fmt",
		"(cd galery && make guard)":                             "there is no such folder",
		"kubesim serve --nodes 3":                               "",
		"kubesim serve --node 3":                                "flag provided but not defined: --node",
		"kubesim server":                                        `there is no command "server"`,
		"go run ./fake/cmd/kubesim serve --clok manual":         "flag provided but not defined: --clok",
		"kube-apiserver --feature-gates X=true":                 "",
		"kube-apiserver --feature-gatez X=true":                 "unknown flag --feature-gatez",
		"kubectl get pods --wach":                               "unknown flag: --wach",
		"kubesim run MINE.txtar":                                "",
		"kubesim run YOURS.txtar":                               "no such file",
		"node wasm/bild.mjs":                                    "there is no wasm/bild.mjs",
		"podman run localhost/kubesim:latest":                   "is not the image of a release",
		"docker run localhost/kubesim:v0.1.0":                   "no test knows the program docker",
		"make run     the page and it's server":                 "a quote is not closed",
		"KUBEBUILDER_ASSETS=$(kubesim envtset) go test ./bench": `there is no command "envtset"`,
	} {
		got := strings.Join(newLine(d, 1, tools).tryLine(t, text), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestGoFinds checks that Go code that does not compile is found.
func TestGoFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	paths, err := importedPaths()
	is.NoErr(err)
	fset := token.NewFileSet()
	var files []*ast.File
	for i, text := range []string{
		"fake.RunT(t).Expire()\n", "srv.Explode()\n", "func f() { srv.Expire(); … }\n", "x := fake.Optoins{}\n", "fake.Options{Nodes: \"3\"}\n",
	} {
		f, err := complete(fset, fmt.Sprint("block", i), text, paths)
		is.NoErr(err)
		files = append(files, f)
	}
	got := strings.Join(typeErrors(t, fset, files), "\n")
	for _, want := range []string{"srv.Explode undefined", "undefined: fake.Optoins", `cannot use "3"`} {
		is.True(strings.Contains(got, want)) // each mistake is found
	}
	is.Equal(strings.Count(got, "\n")+1, 3) // and nothing else
	_, err = complete(fset, "x", "if {\n", paths)
	is.True(err != nil)
}

func TestExcerptsFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const file = "package a\n\nfunc f() {\n\tif b(x, 3) {\n\t\tc()\n\t}\n\t// Output:\n\t//   d\n}\n"
	is.True(contains(file, "if b(x) {\n\tc()\n}\n", ", 3"))
	is.True(contains(file, "package other\n\nfunc f() {\n", ""))
	is.True(contains(file, "  d\n", ""))
	is.True(!contains(file, "if b(x) {\n\td()\n}\n", ", 3"))
	is.True(!contains(file, "d\n", "")) // a part of a line
}
