package main

import (
	"reflect"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// encodeProse returns the file of the descriptions in the published OpenAPI: of each published definition and of its
// fields, and of the kinds whose fields are parameters (ListOptions, PodLogOptions …).
func encodeProse(minor string, from *walk) ([]byte, error) {
	p := prose{src: from.src, texts: map[string]map[string]string{}}
	for _, name := range sortedKeys(from.named) {
		if from.named[name].Published || strings.HasSuffix(name, "Options") {
			p.definition(name, from.goTypes[name])
		}
	}
	return schema.EncodeDocs(minor, p.texts), p.err
}

// prose collects descriptions by definition and field; "" is the definition itself.
type prose struct {
	src   *source
	texts map[string]map[string]string
	err   error
}

func (p *prose) definition(name string, t reflect.Type) {
	out := map[string]string{}
	if decl := p.decl(t); decl != nil {
		add(out, "", describe(decl.comment))
	}
	if _, isLeaf := leaves[name]; !isLeaf && t.Kind() == reflect.Struct {
		p.fields(t, out)
	}
	p.texts[name] = out
}

func (p *prose) decl(t reflect.Type) *goType {
	decl, err := p.src.goType(t)
	if err != nil && p.err == nil {
		p.err = err
	}
	return decl
}

// fields describes the JSON fields of a struct, including those of structs that are inlined in it.
func (p *prose) fields(t reflect.Type, out map[string]string) {
	decl := p.decl(t)
	if decl == nil {
		return
	}
	for i := range t.NumField() {
		g := t.Field(i)
		name, _, _ := strings.Cut(g.Tag.Get("json"), ",")
		switch {
		case name == "-" || !g.IsExported():
		case name == "":
			p.fields(g.Type, out)
		default:
			comment := decl.fields[g.Name]
			if e, _ := deref(g.Type); e.Kind() == reflect.String {
				if enum := p.decl(e); enum != nil && enum.enum {
					comment = append(comment[:len(comment):len(comment)], enum.lines()...)
				}
			}
			add(out, name, describe(comment))
		}
	}
}

func add(out map[string]string, name, text string) {
	if text != "" {
		out[name] = text
	}
}

// describe converts a comment to a description as in the published OpenAPI: lines are joined to paragraphs, indented lines stay
// separate, and markers and notes for programmers are left out.
func describe(comment []string) string {
	var text []byte
	chop := func() { // the blank or the line break at the end
		if len(text) > 0 {
			text = text[:len(text)-1]
		}
	}
	for _, line := range comment {
		if line == "---" {
			break // the rest is for programmers
		}
		line = strings.TrimRight(line, " ")
		first := strings.TrimLeft(line, " ")
		switch {
		case line == "":
			chop()
			text = append(text, "\n\n"...)
		case strings.HasPrefix(first, "TODO"), strings.HasPrefix(first, "+"):
		case line[0] == ' ' || line[0] == '\t':
			chop()
			text = append(text, "\n"+line+"\n"...)
		default:
			text = append(text, line+" "...)
		}
	}
	return strings.TrimSpace(string(text))
}
