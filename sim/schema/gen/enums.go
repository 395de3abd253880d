package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// valueSpec records the constants of enums.
func (p *pkg) valueSpec(spec ast.Spec) {
	decl, ok := spec.(*ast.ValueSpec)
	if !ok || decl.Type == nil {
		return
	}
	name, ok := decl.Type.(*ast.Ident)
	if !ok || p.types[name.Name] == nil || !p.types[name.Name].enum {
		return
	}
	for i, id := range decl.Names {
		var text string
		if i < len(decl.Values) {
			if lit, ok := decl.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text = lit.Value
			}
		}
		value, err := strconv.Unquote(text)
		if err != nil {
			p.err = fmt.Errorf("%s: the constant %s is not a string literal", p.files.Position(id.Pos()), id.Name)
			return
		}
		t := p.types[name.Name]
		t.values = append(t.values, constant{name: id.Name, value: value, comment: p.above(id.Pos())})
	}
}

// enumOf returns the enum declaration of a Go type, or nil.
func (w *walk) enumOf(t reflect.Type) *goType {
	if t.Kind() != reflect.String {
		return nil
	}
	decl, err := w.src.goType(t)
	if err != nil {
		w.errorf("%s: %v", t, err)
	}
	if decl == nil || !decl.enum {
		return nil
	}
	return decl
}

// enum returns the allowed values of a Go type. For a list or a map, it returns those of the elements. If all values are allowed,
// it returns nil.
func (w *walk) enum(t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	decl := w.enumOf(t)
	if decl == nil {
		return nil
	}
	var out []string
	for _, v := range decl.values {
		out = append(out, v.value)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// lines returns the descriptions of the enum values in the form in which they are appended to a field's comment. If two constants
// have the same value, it uses the longer comment.
func (t *goType) lines() []string {
	byValue := map[string]constant{}
	for _, v := range t.values {
		if old, ok := byValue[v.value]; !ok || len(strings.Join(old.comment, " ")) < len(strings.Join(v.comment, " ")) {
			byValue[v.value] = v
		}
	}
	if len(byValue) == 0 {
		return nil
	}
	var out []string
	for _, v := range byValue { // sorted below
		text := strings.TrimPrefix(strings.TrimSpace(strings.Join(v.comment, " ")), v.name)
		out = append(out, fmt.Sprintf(" - `%q` %s", v.value, strings.Join(strings.Fields(text), " ")))
	}
	sort.Strings(out)
	return append([]string{"", "Possible enum values:"}, out...)
}
