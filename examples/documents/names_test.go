package documents

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	pathSpan = regexp.MustCompile(`^[\w./-]+\.(go|mjs|ts|tsx|md|txtar|yaml|txt|http)$`)
	testSpan = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)
)

// missing are files that documents name although the project does not contain them, with the reasons.
var missing = map[string]string{
	"schema/gen/kinds_since38.go":   "the next minor will have it",
	"builtin/gotext/types-1.38.txt": "the next minor will have it",
	"web.test.mjs":                  "the reader writes it",
}

// variable matches a part of a path that is a placeholder for one of several names.
var variable = regexp.MustCompile(`\b(AREA|LANGUAGE|NAME)\b`)

// TestNames checks that the files and tests that documents name within sentences exist.
func TestNames(t *testing.T) {
	t.Parallel()
	var files []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "node_modules", "dist"}, entry.Name()) {
			return fs.SkipDir
		}
		files = append(files, "/"+filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := sourceText()
	if err != nil {
		t.Fatal(err)
	}
	declaredTests := map[string]bool{}
	for _, m := range declared.FindAllSubmatch(text, -1) {
		declaredTests[string(m[1])] = true
	}
	for _, d := range all(t) {
		for _, span := range d.Commands {
			name := strings.TrimSpace(span.Text)
			isName := func(file string) bool { return strings.HasSuffix(file, "/"+strings.TrimPrefix(name, "./")) }
			switch {
			case pathSpan.MatchString(name) && missing[name] == "" && !variable.MatchString(name) && !slices.ContainsFunc(files, isName):
				t.Errorf("%s:%d: there is no file %s", d.Name, span.Line, name)
			case testSpan.MatchString(name) && !declaredTests[name]:
				t.Errorf("%s:%d: there is no test %s", d.Name, span.Line, name)
			}
		}
	}
}

// inMakefile matches a command in the Makefile that runs some tests of the project's packages.
var inMakefile = regexp.MustCompile(`\$\(GO\) test .*?-run '([^']*)' (\./[\w/ .]*)`)

// TestMakefile checks that the tests that the Makefile names exist, because go test does not report an error if no test matches.
func TestMakefile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := inMakefile.FindAllStringSubmatch(strings.ReplaceAll(string(text), "$$", "$"), -1)
	if len(found) < 5 {
		t.Fatalf("found %d lines: the test looks in the wrong place", len(found))
	}
	for _, m := range found {
		var tests []byte
		for _, dir := range strings.Fields(m[2]) {
			if !strings.HasSuffix(dir, "...") {
				text, err := testText(filepath.Join(root, dir), false)
				if err != nil {
					t.Errorf("Makefile: %s: %v", m[0], err)
				}
				tests = append(tests, text...)
			}
		}
		if len(tests) > 0 && !declares(tests, m[1]) {
			t.Errorf("Makefile: %s: there is no such test", m[0])
		}
	}
}
