package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
)

// source provides data that reflection does not provide, from the Go source of the types' packages: comments, and the
// constants of a type. It reads the source from the module cache, in the versions with which this program was built.
//
//	module k8s.io/api ──▶ directory in the module cache
//	package k8s.io/api/core/v1 ──▶ type Pod ──▶ comment, field Spec ──▶ comment
//	                               type PodPhase ──▶ comment, constants "Pending", "Running" …, each with a comment
type source struct {
	modules  map[string]string // directory by module path
	packages map[string]map[string]*goType
}

// goType is a type declaration. Its comments are lines without slashes; "" is an empty line.
type goType struct {
	comment []string
	fields  map[string][]string // comment by Go name
	values  []constant          // constants of a type with the marker +enum that is not an alias, in source order
	enum    bool
	of      *ast.SelectorExpr // the type of another version of which this type is a copy (type X v1.X); nil if it is none
}

// constant is a string constant of an enum.
type constant struct {
	name, value string
	comment     []string
}

func newSource() (*source, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fmt.Errorf("built without module information")
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOMODCACHE: %w", err)
	}
	s := &source{modules: map[string]string{}, packages: map[string]map[string]*goType{}}
	for _, m := range info.Deps {
		s.modules[m.Path] = filepath.Join(strings.TrimSpace(string(cache)), filepath.FromSlash(m.Path)+"@"+m.Version)
	}
	return s, nil
}

// goType returns the declaration of a named type. For types without a declaration, such as string, it returns nil.
func (s *source) goType(t reflect.Type) (*goType, error) {
	if t.Name() == "" || t.PkgPath() == "" {
		return nil, nil
	}
	types, ok := s.packages[t.PkgPath()]
	if !ok {
		var err error
		if types, err = s.parse(t.PkgPath()); err != nil {
			return nil, err
		}
		s.packages[t.PkgPath()] = types
	}
	decl := types[t.Name()]
	if decl == nil {
		return nil, fmt.Errorf("%s has no type %s", t.PkgPath(), t.Name())
	}
	if decl.of != nil && decl.fields == nil {
		other, err := s.parse(path.Join(path.Dir(t.PkgPath()), fmt.Sprint(decl.of.X)))
		if err != nil {
			return nil, err
		}
		decl.fields = other[decl.of.Sel.Name].fields
	}
	return decl, nil
}

// dir returns the directory that contains the source of a package. It returns an error if no module contains the package.
func (s *source) dir(path string) (string, error) {
	for module, dir := range s.modules { // at most one of the modules contains the package
		if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			return filepath.Join(dir, filepath.FromSlash(rest)), nil
		}
	}
	return "", fmt.Errorf("no module has the package %s", path)
}

// parse parses all type declarations in a package.
func (s *source) parse(path string) (map[string]*goType, error) {
	dir, err := s.dir(path)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go")) // sorted
	if err != nil {
		return nil, err
	}
	p := pkg{files: token.NewFileSet(), types: map[string]*goType{}}
	var parsed []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	p.each(parsed, token.TYPE, p.typeSpec)
	p.each(parsed, token.CONST, p.valueSpec) // after the types, because enums must be known
	return p.types, p.err
}

// pkg is a package that is being parsed.
type pkg struct {
	files    *token.FileSet
	types    map[string]*goType
	comments map[int][]string // of the file, by the line on which they end
	err      error
}

// each calls f for every top-level declaration of a kind, such as token.TYPE, in all files.
func (p *pkg) each(parsed []*ast.File, kind token.Token, f func(ast.Spec)) {
	for _, file := range parsed {
		p.comments = map[int][]string{}
		for _, group := range file.Comments {
			text := strings.TrimRight(group.Text(), "\n")
			p.comments[p.files.Position(group.End()).Line] = strings.Split(text, "\n")
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == kind {
				for _, spec := range gen.Specs {
					f(spec)
				}
			}
		}
	}
}

// above returns the comment that ends on the preceding line. Like the real generator, it treats that as the comment of a
// declaration even if it is on the same line as the previous declaration.
func (p *pkg) above(pos token.Pos) []string { return p.comments[p.files.Position(pos).Line-1] }

func (p *pkg) typeSpec(spec ast.Spec) {
	decl, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	t := &goType{comment: p.above(decl.Name.Pos())}
	t.of, _ = decl.Type.(*ast.SelectorExpr)
	for _, line := range t.comment {
		t.enum = t.enum || !decl.Assign.IsValid() && strings.TrimSpace(line) == "+enum"
	}
	if s, ok := decl.Type.(*ast.StructType); ok {
		t.fields = map[string][]string{}
		for _, field := range s.Fields.List {
			names := field.Names
			if len(names) == 0 {
				names = []*ast.Ident{embeddedName(field.Type)}
			}
			for _, name := range names {
				t.fields[name.Name] = p.above(field.Pos())
			}
		}
	}
	p.types[decl.Name.Name] = t
}

// embeddedName returns the name of an embedded field, which is the name of its type.
func embeddedName(t ast.Expr) *ast.Ident {
	switch t := t.(type) {
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	case *ast.Ident:
		return t
	}
	return ast.NewIdent("")
}
