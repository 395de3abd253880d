package guard

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/matryer/is"
)

var (
	link    = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestLinks checks that the links in documents are valid.
func TestLinks(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(name, ".md") {
			for _, complaint := range deadLinks(all, name) {
				t.Error(complaint)
			}
		}
	}
}

// deadLinks returns a message for each link in a document that does not lead to a file, directory or heading of the project.
func deadLinks(all map[string][]byte, name string) (dead []string) {
	for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(all[name]), ""), -1) {
		target, anchor, _ := strings.Cut(m[2], "#")
		if strings.Contains(m[2], ":") {
			continue // link to another site
		}
		file := name
		if target != "" {
			file = path.Join(path.Dir(name), target)
		}
		switch {
		case !exists(all, file):
			dead = append(dead, name+": there is no "+m[2])
		case anchor != "" && !slices.Contains(anchors(string(all[file])), anchor):
			dead = append(dead, name+": "+file+" has no heading "+anchor)
		}
	}
	return dead
}

// exists reports whether a file or directory with this name exists.
func exists(all map[string][]byte, name string) bool {
	if _, ok := all[name]; ok {
		return true
	}
	_, err := os.Stat(path.Join(root, name)) // a directory or an image
	return err == nil
}

// anchors returns the anchors of a document's headings, by GitHub's rules: they contain letters, digits and hyphens.
func anchors(text string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		plain := strings.Map(func(r rune) rune {
			if r == ' ' {
				return '-'
			}
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		names = append(names, plain)
	}
	return names
}

func TestLinksFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	all := map[string][]byte{
		"a/README.md": []byte("[b](../b.md) [c](../b.md#how-it-works) [d](e/f.go) [g](../b.md#other) [h](https://example.com/x)\n```\n[i](j)\n```\n"),
		"b.md":        []byte("# How it `works`?\n"),
	}
	is.Equal(deadLinks(all, "a/README.md"), []string{"a/README.md: there is no e/f.go", "a/README.md: b.md has no heading other"})
}

// documentLines are the maximum lengths of documents that differ from the usual one, by name.
var documentLines = map[string]int{
	"README.md":           150, // should be readable in one sitting
	"sim/ARCHITECTURE.md": 600, // takes half an hour to read
}

const usualLines = 300

// TestDocumentLengths checks that documents are not too long.
func TestDocumentLengths(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	documents := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(name, ".md") {
			documents++
			if complaint := tooLong(name, all[name]); complaint != "" {
				t.Error(complaint)
			}
		}
	}
	if documents < 50 {
		t.Errorf("found %d documents: the guard looks in the wrong place", documents)
	}
}

// tooLong returns a message if a document has too many lines.
func tooLong(name string, text []byte) string {
	most := cmp.Or(documentLines[name], usualLines)
	if lines := bytes.Count(text, []byte("\n")); lines > most {
		return fmt.Sprintf("%s has %d lines, at most %d: shorten it, or move a part to a document beside what it describes and link to that", name, lines, most)
	}
	return ""
}

func TestDocumentLengthsFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	lines := func(n int) []byte { return bytes.Repeat([]byte("x\n"), n) }
	is.Equal(tooLong("README.md", lines(150)), "")
	is.True(tooLong("README.md", lines(151)) != "")
	is.Equal(tooLong("fake/README.md", lines(300)), "")
	is.True(tooLong("fake/README.md", lines(301)) != "")
}

const tour = "examples/api-tour.md"

// TestTour checks that each chapter of the tour of Kubernetes' documentation refers to an existing lesson, to a test in the named
// file, and to a recorded area.
func TestTour(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	chapters := 0
	for line := range strings.Lines(string(all[tour])) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "https://") {
			chapters++
			for _, complaint := range tourComplaints(all, line) {
				t.Error(complaint)
			}
		}
	}
	if chapters < 100 {
		t.Errorf("%s has %d chapters: the guard looks in the wrong place", tour, chapters)
	}
}

// tourComplaints returns the errors in a chapter of the tour.
func tourComplaints(all map[string][]byte, row string) (wrong []string) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	if len(cells) != 4 {
		return []string{row + ": a chapter, a lesson, a test, a recorded area"}
	}
	chapter := link.FindStringSubmatch(cells[0])[1]
	for i, check := range []func(text, file string) bool{
		func(id, file string) bool {
			return file == "sim/lesson/data/"+id+"/text.en.md" && slices.Contains(strings.Fields(string(all["sim/lesson/data/order.txt"])), id)
		},
		func(name, file string) bool {
			return strings.Contains(string(all[file]), "\nfunc "+strings.Trim(name, "`")+"(")
		},
		func(name, file string) bool {
			_, recorded := all[strings.TrimSuffix(file, ".http")+".res"]
			return strings.HasSuffix(strings.TrimSuffix(file, ".http"), name) && (recorded || !strings.HasSuffix(file, ".http") && exists(all, file))
		},
	} {
		links := link.FindAllStringSubmatch(cells[i+1], -1)
		if len(links) == 0 {
			wrong = append(wrong, chapter+": it leads to nothing in column "+[]string{"lesson", "test", "recorded"}[i])
		}
		for _, m := range links {
			if file := path.Join(path.Dir(tour), m[2]); !check(m[1], file) {
				wrong = append(wrong, chapter+": "+m[1]+" is not in "+file)
			}
		}
	}
	return wrong
}

func TestTourFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	all := map[string][]byte{
		"sim/lesson/data/order.txt": []byte("paths\n"), "sim/lesson/data/paths/text.en.md": []byte("x"), "fake/a_test.go": []byte("\nfunc TestA("),
		"sim/conformance/testdata/cases/list/a.http": []byte("x"), "sim/conformance/testdata/cases/list/b.http": []byte("x"), "sim/conformance/testdata/cases/list/b.res": []byte("x"),
	}
	const head = "| [C](https://example.com/) | [paths](../sim/lesson/data/paths/text.en.md) | "
	is.Equal(tourComplaints(all, head+"[`TestA`](../fake/a_test.go) | [list/b](../sim/conformance/testdata/cases/list/b.http) |\n"), nil)
	is.Equal(tourComplaints(all, head+"[`TestB`](../fake/a_test.go) | [list/a](../sim/conformance/testdata/cases/list/a.http) |\n"), []string{
		"C: `TestB` is not in fake/a_test.go", "C: list/a is not in sim/conformance/testdata/cases/list/a.http",
	})
	is.Equal(tourComplaints(all, head+" | [list](../sim/conformance/testdata/cases/list) |\n"), []string{"C: it leads to nothing in column test"})
}

// TestCompatTable checks that the compatibility table contains exactly the results of make compat.
func TestCompatTable(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	if complaint := compatComplaint(string(all["sim/conformance/COMPATIBILITY.md"]), string(all["sim/conformance/testdata/compat/results.txt"])); complaint != "" {
		t.Error(complaint)
	}
}

// compatComplaint describes how the table in a document differs from the results, whose columns are separated by tabs.
func compatComplaint(document, results string) string {
	_, rest, _ := strings.Cut(document, "<!-- compat: make compat writes this table -->\n")
	table, _, found := strings.Cut(rest, "<!-- end of compat -->\n")
	want := "| client or program | version | result |\n|---|---|---|\n"
	for line := range strings.Lines(results) {
		want += "| " + strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", " | ") + " |\n"
	}
	switch {
	case !found || results == "":
		return "COMPATIBILITY.md has no table of compatibility, or make compat no results"
	case table != want:
		return "the table of compatibility is not that of results.txt: make compat writes both"
	}
	return ""
}

func TestCompatTableFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const document = "<!-- compat: make compat writes this table -->\n| client or program | version | result |\n|---|---|---|\n| helm 4 | 4.3.1 | pass |\n<!-- end of compat -->\n"
	is.Equal(compatComplaint(document, "helm 4\t4.3.1\tpass\n"), "")
	is.True(compatComplaint(document, "helm 4\t4.3.1\tfails\n") != "")
	is.True(compatComplaint(document, "") != "")
}

// usedPackages are the packages that users import in their tests and programs.
var usedPackages = []string{
	"clock", "fake", "fake/ctrl", "sim", "sim/archive", "sim/auth", "sim/auth/token", "sim/checker", "sim/cron", "sim/fault", "sim/lesson",
	"sim/mvcc", "sim/object", "sim/quantity", "sim/scenario", "sim/selector", "sim/soak", "sim/trace",
}

// TestConstructorsHaveExamples checks that each constructor of usedPackages has a runnable example.
func TestConstructorsHaveExamples(t *testing.T) {
	t.Parallel()
	made, shown := 0, map[string]bool{}
	for _, s := range mustSources(t, source.isTest) {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				shown[s.dir()+" "+f.Name.Name] = true
			}
		}
	}
	for _, dir := range usedPackages {
		for _, name := range constructors(mustSources(t, func(s source) bool { return s.dir() == dir && !s.isTest() })) {
			made++
			if !shown[dir+" Example"+name] {
				t.Errorf("%s.%s has no example: write Example%s in %s/example_test.go", dir, name, name, dir)
			}
		}
	}
	if made < 50 {
		t.Errorf("found %d constructors: the guard looks in the wrong place", made)
	}
}

// constructors returns the exported functions of a package that return a value of one of its exported types, in file order.
func constructors(files []source) (names []string) {
	types := map[string]bool{}
	for _, s := range files {
		for _, d := range s.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						types[t.Name.Name] = t.Name.IsExported()
					}
				}
			}
		}
	}
	for _, s := range files {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			made := f.Type.Results.List[0].Type
			if p, ok := made.(*ast.StarExpr); ok {
				made = p.X
			}
			if id, ok := made.(*ast.Ident); ok && types[id.Name] {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

func TestConstructorsFinds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := snippet(t, `
type A struct{}
type b struct{}
func NewA() (*A, error) { return nil, nil }
func OfA() A { return A{} }
func NewB() b { return b{} }
func (A) With() A { return A{} }
func newA() A { return A{} }
func Text() string { return "" }
`)
	is.Equal(constructors([]source{s}), []string{"NewA", "OfA"})
}
