package check

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineInError matches the line that the YAML library names in an error.
var lineInError = regexp.MustCompile(`line (\d+): `)

// syntaxError returns the line in the file and the message of a YAML error about the document.
func (d *document) syntaxError(err error) (line int, text string) {
	text = err.Error()
	m := lineInError.FindStringSubmatch(text)
	if m == nil {
		return d.line, text
	}
	n, _ := strconv.Atoi(m[1])
	return d.line + n - 1, strings.Replace(text, m[0], "", 1)
}

// position returns the line and column of a field in the object's file. This is the position of the field's value, or of its name
// if the value has fields or items, or if named is set. The field may be a path in any of the server's formats. If the object does
// not have the field, the position is that of the nearest parent. An unknown line or column is 0.
func (o *Object) position(field string, named bool) (line, column int) {
	if o.doc == nil {
		return o.line, 0
	}
	at := o.doc.tree()
	if o.item >= 0 {
		at, _ = locate(at, "items["+strconv.Itoa(o.item)+"]", false)
	}
	if rest, ok := strings.CutPrefix(field, "spec.validation."); ok && o.rank == definitions { // of the only version
		field = "spec.versions[0].schema." + rest
	}
	if at, _ = locate(at, strings.TrimPrefix(field, "."), named); at.Line == 0 {
		return o.doc.line, 1
	}
	return o.doc.line + at.Line - 1, at.Column
}

// tree returns the root node of the parsed document.
func (d *document) tree() *yaml.Node {
	if d.root != nil {
		return d.root
	}
	d.root = &yaml.Node{}
	var file yaml.Node
	// In JSON, tabs are white space. The YAML library rejects some of them.
	if err := yaml.Unmarshal(bytes.ReplaceAll(d.text, []byte("\t"), []byte(" ")), &file); err == nil && len(file.Content) > 0 {
		d.root = file.Content[0]
	}
	return d.root
}

// firstName returns the first name of a path.
func firstName(field string) string {
	field = strings.TrimPrefix(field, ".")
	if i := strings.IndexAny(field, ".["); i >= 0 {
		return field[:i]
	}
	return field
}

// locate returns the node at a path below a node. If there is none, it returns the nearest parent and the rest of the path below
// it. For a field whose value has fields or items, it returns the node of the field's name; if named is set, it does so for every
// field.
//
//	spec.containers[0].image       a field of an item
//	metadata.annotations[a.b/c]    an entry, whose key may contain dots
//	spec.containers.image          an item without an index: the item that has most of the path
func locate(at *yaml.Node, path string, named bool) (found *yaml.Node, rest string) {
	for at.Kind == yaml.AliasNode {
		at = at.Alias
	}
	found, rest = at, path
	step := func(name, next *yaml.Node, below string) {
		node, left := locate(next, below, named)
		if len(left) >= len(rest) {
			return
		}
		if left == below && (named || below != "" || next.Kind != yaml.ScalarNode) {
			node = name
		}
		found, rest = node, left
	}
	switch at.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			if below, ok := cutName(path, at.Content[i].Value); ok {
				step(at.Content[i], at.Content[i+1], below)
			}
		}
	case yaml.SequenceNode:
		for i, item := range at.Content {
			if below, ok := cutName(path, strconv.Itoa(i)); ok && strings.HasPrefix(path, "[") {
				step(item, item, below)
			} else if path != "" && path[0] != '[' {
				step(item, item, path)
			}
		}
	}
	return found, rest
}

// cutName removes a field name from the beginning of a path, in the form name or [name]. ok is false if the path does not begin
// with it.
func cutName(path, name string) (below string, ok bool) {
	if below, ok = strings.CutPrefix(path, "["+name+"]"); !ok {
		if below, ok = strings.CutPrefix(path, name); !ok || below != "" && below[0] != '.' && below[0] != '[' {
			return "", false
		}
	}
	return strings.TrimPrefix(below, "."), true
}
