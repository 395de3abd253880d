// Package documents reads the code in the project's Markdown files. Its tests run every shell command that can run, compile every
// Go block, and check everything else as far as possible without a cluster, a container engine or an hour of time.
//
//	README.md, …  ── Read ──▶ Document
//	                            ├─ Blocks    a kind and lines                    checked by
//	                            │    go          ```go                           compile_test.go, excerpts_test.go: compiled, or as in a tested file
//	                            │    console     ```console: "$ line", output    session_test.go: run, and the output is compared
//	                            │    sh          indented by four spaces         shell_test.go: run, or checked as the table there says
//	                            │    txtar       ```txtar                        data_test.go: the scenario is run
//	                            │    yaml, json  ```yaml, ```json                data_test.go: the object is created, the lesson is taken
//	                            │    fault       ```fault                        data_test.go: each line is parsed
//	                            │    js, html    ```js, ```html                  data_test.go: node parses it; its scenarios are run
//	                            │    diff, text  ```diff, ```text                data_test.go: a drawing, an excerpt, or a line of a table
//	                            └─ Commands  `make check`, `go test ./x`, file names and names of tests within sentences:
//	                                         shell_test.go, names_test.go: checked, none is run
//
// Tests of other packages use it, too: a test whose output a document shows compares the two with Document.Block.
package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Document is a Markdown file of the project.
type Document struct {
	Name   string // slash-separated, relative to the project's root
	Blocks []Block
	// Commands are the code spans within sentences, each as a one-line block of kind "sh".
	Commands []Block
}

// A Block is a fenced or indented code block.
type Block struct {
	Line int    // number of its first line of code, counted from 1
	Kind string // info string of the fence, which may be ""; "sh" for an indented block
	Text string // without the block's indentation
}

// Block returns the text of the first block of the given kind whose text has the prefix begins. It returns an error if there is
// none.
func (d Document) Block(kind, begins string) (string, error) {
	for _, b := range d.Blocks {
		if b.Kind == kind && strings.HasPrefix(b.Text, begins) {
			return b.Text, nil
		}
	}
	return "", fmt.Errorf("%s has no block of the kind %q that begins with %q", d.Name, kind, begins)
}

// Open reads a document below the project's root.
func Open(root, name string) (Document, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return Document{}, err
	}
	return Read(name, string(text)), nil
}

// All reads the documents below the project's root, sorted by name.
func All(root string) (all []Document, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "node_modules", "dist", "testdata"}, entry.Name()) {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		d, err := Open(root, filepath.ToSlash(rel))
		all = append(all, d)
		return err
	})
	return all, err
}

var (
	fence    = regexp.MustCompile("^( *)```([^`]*)$")
	indented = regexp.MustCompile(`^ {4,}\S`)
	span     = regexp.MustCompile("`([^`]+)`")
)

// Read parses a document.
func Read(name, text string) Document {
	d := Document{Name: name}
	lines := strings.Split(text, "\n")
	sentences := slices.Clone(lines) // lines outside of blocks
	for i := 0; i < len(lines); i++ {
		begin, end, b := i, i, Block{}
		if m := fence.FindStringSubmatch(lines[i]); m != nil {
			begin, b.Kind = i+1, strings.TrimSpace(m[2])
			for end = begin; end < len(lines) && strings.TrimSpace(lines[end]) != "```"; end++ {
			}
		} else if indented.MatchString(lines[i]) && (i == 0 || strings.TrimSpace(lines[i-1]) == "") {
			b.Kind = "sh"
			for end < len(lines) && indented.MatchString(lines[end]) {
				end++
			}
		} else {
			continue
		}
		b.Line, b.Text = begin+1, unindent(lines[begin:end])
		d.Blocks = append(d.Blocks, b)
		for j := i; j <= end && j < len(lines); j++ {
			sentences[j] = ""
		}
		i = end
	}
	rest := strings.Join(sentences, "\n")
	for _, at := range span.FindAllStringSubmatchIndex(rest, -1) {
		words := strings.Join(strings.Fields(rest[at[2]:at[3]]), " ") // a span may continue on the next line
		d.Commands = append(d.Commands, Block{Line: 1 + strings.Count(rest[:at[2]], "\n"), Kind: "sh", Text: words + "\n"})
	}
	return d
}

// unindent joins lines after removing their common indentation.
func unindent(lines []string) string {
	common := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " ")); strings.TrimSpace(line) != "" && (common < 0 || n < common) {
			common = n
		}
	}
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(line[min(max(common, 0), len(line)):] + "\n")
	}
	return out.String()
}
