package main

import (
	"reflect"
	"strings"
)

// proseOf returns the descriptions in the published OpenAPI by definition and field: those of each published definition and its
// fields, and of the kinds that define query parameters (ListOptions, PodLogOptions …).
func proseOf(from *walk) (map[string]map[string]string, error) {
	p := prose{src: from.src, texts: map[string]map[string]string{}}
	for _, name := range sortedKeys(from.named) {
		if from.named[name].Published || strings.HasSuffix(name, "Options") {
			p.definition(name, from.goTypes[name])
		}
	}
	return p.texts, p.err
}

// prose collects descriptions by definition and field. The field "" is the definition itself.
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

// fields adds the descriptions of the JSON fields of a struct, including those of inlined structs.
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

// describe converts a comment to a description in the style of the published OpenAPI: it joins lines to paragraphs, keeps indented
// lines separate, and omits markers and notes for developers.
func describe(comment []string) string {
	var text []byte
	chop := func() { // removes the trailing space or line break
		if len(text) > 0 {
			text = text[:len(text)-1]
		}
	}
	for _, line := range comment {
		if line == "---" {
			break // the rest is for developers
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
