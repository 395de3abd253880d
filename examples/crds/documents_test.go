package crds

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// document is an object in a file of a module.
type document struct {
	where  string // file:line, relative to the module
	object *unstructured.Unstructured
}

// documents reads all objects in the matching files, sorted by file name. It skips documents that are not objects, because the
// pages of a book also contain fragments.
func documents(tb testing.TB, p project, patterns []string) []document {
	tb.Helper()
	key := p.module + " " + strings.Join(patterns, " ")
	known, ok := read.Load(key)
	if !ok {
		known, _ = read.LoadOrStore(key, readDocuments(tb, p, patterns))
	}
	docs := slices.Clone(known.([]document))
	for i := range docs {
		docs[i].object = docs[i].object.DeepCopy()
	}
	return docs
}

// read caches the results of documents, because parsing the YAML takes longer than installing it.
var read sync.Map // module and patterns -> []document

func readDocuments(tb testing.TB, p project, patterns []string) (docs []document) {
	tb.Helper()
	dir := moduleDir(tb, p.module)
	for _, file := range files(tb, dir, patterns) {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, part := range parts(data, filepath.Ext(file) == ".md") {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(part.text, &u.Object); err != nil || u.GetAPIVersion() == "" || u.GetKind() == "" {
				continue
			}
			docs = append(docs, document{fmt.Sprintf("%s:%d", filepath.ToSlash(name), part.line), u})
		}
	}
	return docs
}

// files returns the matching files, sorted and without duplicates.
func files(tb testing.TB, dir string, patterns []string) (names []string) {
	tb.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			tb.Fatalf("%s: no file matches %s (%v): is it another version of the project?", dir, pattern, err)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// part is a YAML document in a file.
type part struct {
	line int // number of its first line, counted from 1
	text []byte
}

// parts splits a file into YAML documents. In Markdown, only fenced blocks of yaml are used.
func parts(data []byte, markdown bool) (out []part) {
	inside, line := !markdown, 0
	begin := func() { out = append(out, part{line: line + 1}) }
	if inside {
		begin()
	}
	for text := range bytes.Lines(data) {
		line++
		trimmed := strings.TrimSpace(string(text))
		switch {
		case markdown && strings.HasPrefix(trimmed, "```"):
			if inside = !inside && strings.HasPrefix(trimmed, "```y"); inside {
				begin()
			}
		case inside && (trimmed == "---" || strings.HasPrefix(trimmed, "--- ")):
			begin()
		case inside:
			last := &out[len(out)-1]
			last.text = append(last.text, text...)
		}
	}
	return out
}

// FuzzParts checks that the parts of any file occur in it in order, and that their line numbers are right.
func FuzzParts(f *testing.F) {
	f.Add("a: 1\n---\nb: 2\n--- # more\nc: 3", false)
	f.Add("text\n```yaml\na: 1\n---\nb: 2\n```\ntext\n```go\nx\n```\n", true)
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		lines, at := strings.SplitAfter(text, "\n"), 0
		for _, p := range parts([]byte(text), markdown) {
			if p.line <= at || p.line > len(lines)+1 {
				t.Fatalf("a part begins in line %d, after line %d, of %d", p.line, at, len(lines))
			}
			at = p.line - 1 + strings.Count(string(p.text), "\n")
			if rest := strings.Join(lines[p.line-1:], ""); !strings.HasPrefix(rest, string(p.text)) {
				t.Fatalf("line %d does not begin %q", p.line, p.text)
			}
		}
	})
}
