package guard

import (
	"bytes"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFunction = 70  // lines
	maxFile     = 400 // lines
)

// longFunctions are functions that may be longer, with the reason: "dir/file.go name" -> reason.
var longFunctions = map[string]string{}

func everywhere(source) bool { return true }

func byHand(s source) bool { return !ast.IsGenerated(s.ast) }

func program(s source) bool { return byHand(s) && !s.isTest() }

func TestFunctionLength(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(longFunctions)
	for _, s := range mustSources(t, program) {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1
			name := s.name + " " + f.Name.Name
			if n > maxFunction && longFunctions[name] == "" {
				t.Errorf("%s: %s has %d lines, at most %d: let it decide and move the work into functions with names",
					s.at(f), f.Name.Name, n, maxFunction)
			}
			if n > maxFunction {
				delete(unused, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("%s no longer needs its exception in longFunctions", name)
	}
}

func TestFileLength(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, byHand) {
		if s.lines > maxFile {
			t.Errorf("%s has %d lines, at most %d: split it by what its parts are about", s.name, s.lines, maxFile)
		}
	}
}

func TestPackageComments(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range mustSources(t, func(s source) bool { return !s.isTest() }) {
		documented[s.dir()] = documented[s.dir()] || s.ast.Doc != nil
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			t.Errorf("package %s has no package comment: say in doc.go what it is for and draw its data", dir)
		}
	}
}

// vague matches package names that do not describe their contents.
var vague = regexp.MustCompile(`^(utils?|common|helpers?|types|misc|base|shared|lib)$`)

func TestPackageNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range mustSources(t, everywhere) {
		name := strings.TrimSuffix(s.ast.Name.Name, "_test")
		if (vague.MatchString(name) || strings.Contains(name, "_")) && !seen[s.dir()] {
			t.Errorf("package %s in %s: name it after what it holds, one lower-case noun", name, s.dir())
		}
		seen[s.dir()] = true
	}
}

// leftover matches notes that should have been resolved. The words are spelled so that this file does not match.
var leftover = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

func TestLeftovers(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, everywhere) {
		for _, group := range s.ast.Comments {
			if word := leftover.FindString(group.Text()); word != "" {
				t.Errorf("%s: %s in a comment: do it now, or write an issue", s.at(group), word)
			}
		}
	}
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`(^|/)(Makefile|run|[^/]*\.(md|sh|js|mjs|html|css|yml|yaml|txtar))$`)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !written.MatchString(name) || strings.Contains(name, "testdata/") {
			continue
		}
		if word := leftover.Find(all[name]); word != nil {
			t.Errorf("%s: %s: do it now, or write an issue", name, word)
		}
	}
}

// outside matches a path to a directory next to the project, which users do not have.
var (
	outside       = regexp.MustCompile(`(\.\./|/work/)` + `shared\b`)
	outsideFolder = []byte("/sha" + "red") // is contained in each match, and can be found faster
)

func TestProjectIsSelfContained(t *testing.T) {
	t.Parallel()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Contains(all[name], outsideFolder) {
			continue
		}
		if found := outside.Find(all[name]); found != nil {
			t.Errorf("%s refers to %s: what the project uses, it contains", name, found)
		}
	}
}
