package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/kubesim/kubesim/fake/record"
)

//go:embed recorded.txt
var recordedText string

// writeTest writes a Go test that repeats a recording, and the recording beside it.
func (p program) writeTest(file string, entries []record.Entry) error {
	name, ok := strings.CutSuffix(filepath.Base(file), "_test.go")
	if !ok || name == "" {
		return usagef("scenario-from: --go %s: the name of a test file ends in _test.go", file)
	}
	story, err := record.NewStory(entries)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("scenario-from: %s exists: remove it, or choose another name", file)
	}
	folder := filepath.Dir(file)
	var text, recording bytes.Buffer
	if err := template.Must(template.New("").Parse(recordedText)).Execute(&text, map[string]string{
		"Package": packageOf(folder), "Name": exported(name), "File": filepath.Base(file), "Program": story.Program,
		"Recording": "testdata/" + name + ".recording",
	}); err != nil {
		return err
	}
	for _, e := range record.Reduce(entries) {
		if err := json.NewEncoder(&recording).Encode(e); err != nil {
			return err
		}
	}
	testdata := filepath.Join(folder, "testdata")
	if err := errors.Join(os.MkdirAll(testdata, 0o755), os.WriteFile(filepath.Join(testdata, name+".recording"), recording.Bytes(), 0o600),
		os.WriteFile(file, text.Bytes(), 0o644)); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "wrote %s: start your program in its function run%s\n", file, exported(name))
	return nil
}

// packageOf returns the name of the Go package in a folder, or that of a new one.
func packageOf(folder string) string {
	files, _ := filepath.Glob(filepath.Join(folder, "*.go")) // the pattern is valid
	for _, file := range files {
		if f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly); err == nil {
			return f.Name.Name
		}
	}
	return "recorded"
}

var words = regexp.MustCompile(`[A-Za-z0-9]+`)

// exported returns a name as the end of an identifier: RunTwo for run_two.
func exported(name string) (id string) {
	for _, word := range words.FindAllString(name, -1) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}
