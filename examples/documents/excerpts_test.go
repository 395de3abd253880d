package documents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// excerpts are blocks that are parts of tested files, line by line. leftOut is what the file contains within these lines but the
// document does not. A block of kind text is the output of an example, which is a comment in the file.
var excerpts = []struct{ document, kind, begins, file, leftOut string }{
	{"README.md", "go", "package operator", "examples/operator/readme_test.go", "\t\tcheckReadme(t, srv)\n"},
	{"README.md", "go", "fake.Explore(", "examples/explore/readme_test.go", ", Found: keep"},
	{"fake/guide/time.md", "text", "kubesim: never", "fake/example_report_test.go", ""},
}

func isExcerpt(d Document, b Block) bool {
	for _, x := range excerpts {
		if x.document == d.Name && x.kind == b.Kind && strings.HasPrefix(b.Text, x.begins) {
			return true
		}
	}
	return false
}

// TestExcerpts compares excerpts with their files.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	for _, x := range excerpts {
		d, err := Open(root, x.document)
		if err != nil {
			t.Fatal(err)
		}
		block, err := d.Block(x.kind, x.begins)
		if err != nil {
			t.Errorf("%v: take its line out of excerpts (examples/documents/excerpts_test.go)", err)
			continue
		}
		file, err := os.ReadFile(filepath.Join(root, x.file))
		if err != nil {
			t.Fatal(err)
		}
		if !contains(string(file), block, x.leftOut) {
			t.Errorf("%s: %s does not have the lines that begin with %q: change both alike", x.document, x.file, x.begins)
		}
	}
}

// contains reports whether a file contains the lines of a block, regardless of their indentation and of the file's package clause.
func contains(file, block, leftOut string) bool {
	if leftOut != "" {
		file = strings.ReplaceAll(file, leftOut, "")
	}
	if strings.HasPrefix(block, "package ") {
		_, block, _ = strings.Cut(block, "\n")
	}
	return strings.Contains("\n"+flat(file), "\n"+flat(block))
}

// flat returns a text without leading tabs and comment markers.
func flat(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimPrefix(strings.TrimLeft(line, "\t"), "// "))
	}
	return out.String()
}
