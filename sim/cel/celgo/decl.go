package celgo

import (
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/kubesim/kubesim/sim/object"
)

// decl is the CEL type of a schema's values, with size limits.
type decl struct {
	typ    *cel.Type
	least  int64 // minimum size of a value as JSON, in bytes
	most   int64 // maximum number of list or map elements, or of bytes of a string
	key    *decl // of a map
	elem   *decl // of a list or map
	fields map[string]*decl
	open   bool // fields that are not in fields have the type elem
}

// Sizes of JSON values in bytes (RFC 3339 for dates).
const (
	sizeNumber      = 1  // 0
	sizeBool        = 4  // true
	sizeString      = 2  // ""
	sizeDurationMin = 3  // "0"
	sizeDate        = 12 // "2006-01-02"
	sizeTimeMin     = 21 // "2006-01-02T15:04:05Z"
	sizeTimeMax     = 32
)

var (
	declBool   = &decl{typ: cel.BoolType, least: sizeBool}
	declInt    = &decl{typ: cel.IntType, least: sizeNumber}
	declDouble = &decl{typ: cel.DoubleType, least: sizeNumber}
	declKey    = &decl{typ: cel.StringType, least: sizeString}
)

// typeNames contains the decls of a schema's object types by type name, for the type provider.
type typeNames map[string]*decl

// declare sets the decl of n and of all nodes below it. If the schema does not describe the contents of a node, expressions
// cannot access the node, and it has no decl. If n is an object, name is the name of its type.
func (t typeNames) declare(n *node, name string) *decl {
	n.decl = t.declaration(n, name)
	return n.decl
}

func (t typeNames) declaration(n *node, name string) *decl {
	if n.items != nil {
		t.declare(n.items, name+".@idx")
	}
	if n.additional != nil {
		t.declare(n.additional, name+".@elem")
	}
	for _, child := range n.names {
		t.declare(n.properties[child], name+"."+child)
	}
	switch {
	case n.intOrString:
		return &decl{typ: cel.DynType, least: 1, most: n.stringMost()}
	case n.root:
		return t.object(n, name)
	}
	switch n.kind {
	case "array":
		return n.list()
	case "object":
		if n.additional != nil {
			return n.dictionary()
		}
		return t.object(n, name)
	case "string":
		return n.text()
	case "boolean":
		return declBool
	case "number":
		return declDouble
	case "integer":
		return declInt
	}
	return nil
}

func (n *node) list() *decl {
	if n.items == nil || n.items.decl == nil {
		return nil
	}
	elem := n.items.decl
	return &decl{typ: cel.ListType(elem.typ), least: 2, elem: elem, most: bounded(n.maxItems, (requestMax-2)/(elem.least+1))}
}

func (n *node) dictionary() *decl {
	elem := n.additional.decl
	if elem == nil {
		return nil
	}
	return &decl{typ: cel.MapType(cel.StringType, elem.typ), least: 2, key: declKey, elem: elem,
		most: bounded(n.maxProps, (requestMax-2)/(elem.least+6))}
}

// bounded returns a limit of a schema, or most if the schema has no limit.
func bounded(limit *int64, most int64) int64 {
	if limit != nil {
		return *limit
	}
	return most
}

func (t typeNames) object(n *node, name string) *decl {
	d := &decl{typ: cel.ObjectType(name), least: 2, fields: map[string]*decl{}}
	for _, child := range object.SortedKeys(n.fields) {
		f := n.fields[child]
		if f.decl == nil && n.properties[child] != f { // metadata fields that every object has
			t.declare(f, name+"."+child)
		}
		if f.decl == nil {
			continue
		}
		if escaped, ok := escape(child); ok {
			d.fields[escaped] = f.decl
		}
		if n.required[child] && !f.hasDefault {
			d.least += int64(len(child)) + f.decl.least + 4
		}
	}
	t[name] = d
	return d
}

func (n *node) text() *decl {
	switch n.format {
	case "byte":
		return &decl{typ: cel.BytesType, least: sizeString, most: bounded(n.maxLength, n.formatMost())}
	case "duration":
		return &decl{typ: cel.DurationType, least: sizeDurationMin, most: n.formatMost()}
	case "date":
		return &decl{typ: cel.TimestampType, least: sizeDate, most: n.formatMost()}
	case "date-time":
		return &decl{typ: cel.TimestampType, least: sizeTimeMin, most: n.formatMost()}
	}
	d := &decl{typ: cel.StringType, least: sizeString, most: n.stringMost()}
	if n.maxLength == nil && len(n.enum) > 0 {
		d.most = 0
		for _, v := range n.enum {
			s, _ := v.(string)
			d.most = max(d.most, int64(len(s)))
		}
	}
	return d
}

// stringMost returns the maximum number of bytes in a string. maxLength counts characters, each of which has up to four
// bytes.
func (n *node) stringMost() int64 {
	if n.maxLength != nil {
		return *n.maxLength * 4
	}
	return n.formatMost()
}

func (n *node) formatMost() int64 {
	if n.intOrString {
		return requestMax - 2
	}
	switch n.format {
	case "duration", "date-time":
		return sizeTimeMax
	case "date":
		return sizeDate
	}
	return requestMax - 2
}

// provider provides the object types of a schema. The environment provides all other types.
type provider struct {
	types.Provider
	names typeNames
}

// FindStructType returns the object type with the given name.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if d, ok := p.names[name]; ok {
		return types.NewTypeTypeWithParam(d.typ), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames returns the names of a type's fields, sorted.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if d, ok := p.names[name]; ok {
		return object.SortedKeys(d.fields), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType returns the type of a field of an object type.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	d, ok := p.names[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := d.fields[field]
	if !ok && slices.Contains(reserved, field) { // as in self.namespace, where the parser recognizes that it is not a keyword
		f, ok = d.fields["__"+field+"__"]
	}
	if !ok {
		return nil, false
	}
	return &types.FieldType{Type: f.typ}, true
}

// reserved are the reserved words of the CEL grammar, which cannot be field names.
var reserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return var void while")

var (
	escaped   = regexp.MustCompile(`__|[-./]`)
	unescaped = regexp.MustCompile(`__[^_]+__`)
	plain     = regexp.MustCompile(`^[a-zA-Z_./-][a-zA-Z0-9_./-]*$`)
)

var escapes = map[string]string{"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}

var unescapes = map[string]string{"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}

// escape returns the form of a property name in expressions: foo__dash__bar. ok is false for names that expressions
// cannot refer to.
func escape(name string) (string, bool) {
	if !plain.MatchString(name) {
		return "", false
	}
	if slices.Contains(reserved, name) {
		return "__" + name + "__", true
	}
	return escaped.ReplaceAllStringFunc(name, func(s string) string { return escapes[s] }), true
}

// unescape is the inverse of escape. ok is false for sequences that escape does not produce.
func unescape(name string) (string, bool) {
	ok := true
	out := unescaped.ReplaceAllStringFunc(name, func(s string) string {
		if c, known := unescapes[s]; known {
			return c
		}
		word := s[2 : len(s)-2]
		ok = ok && len(s) == len(name) && slices.Contains(reserved, word)
		return word
	})
	return out, ok
}

// define adds an object type with the given fields.
func (t typeNames) define(name string, fields map[string]*cel.Type) *decl {
	d := &decl{typ: cel.ObjectType(name), fields: map[string]*decl{}}
	for f, typ := range fields {
		d.fields[f] = &decl{typ: typ}
	}
	t[name] = d
	return d
}

// requestType returns the type of request: an AdmissionRequest without its objects.
func requestType(t typeNames) *decl {
	text := cel.StringType
	kind := t.define("kubernetes.GroupVersionKind", map[string]*cel.Type{"group": text, "version": text, "kind": text}).typ
	resource := t.define("kubernetes.GroupVersionResource", map[string]*cel.Type{"group": text, "version": text, "resource": text}).typ
	user := userType(t)
	return t.define("kubernetes.AdmissionRequest", map[string]*cel.Type{
		"kind": kind, "resource": resource, "subResource": text, "requestKind": kind, "requestResource": resource,
		"requestSubResource": text, "name": text, "namespace": text, "operation": text, "userInfo": user,
		"dryRun": cel.BoolType, "options": cel.DynType,
	})
}

// namespaceType returns the type of namespaceObject: a Namespace without some of its metadata.
func namespaceType(t typeNames) *decl {
	text, stamp := cel.StringType, cel.TimestampType
	spec := t.define("kubernetes.NamespaceSpec", map[string]*cel.Type{"finalizers": cel.ListType(text)}).typ
	condition := t.define("kubernetes.NamespaceCondition", map[string]*cel.Type{"status": text, "type": text,
		"lastTransitionTime": stamp, "message": text, "reason": text}).typ
	status := t.define("kubernetes.NamespaceStatus", map[string]*cel.Type{"conditions": cel.ListType(condition), "phase": text}).typ
	metadata := t.define("kubernetes.NamespaceMetadata", map[string]*cel.Type{"name": text, "generateName": text,
		"namespace": text, "labels": cel.MapType(text, text), "annotations": cel.MapType(text, text), "UID": text,
		"creationTimestamp": stamp, "deletionGracePeriodSeconds": cel.IntType, "deletionTimestamp": stamp,
		"generation": cel.IntType, "resourceVersion": text, "finalizers": cel.ListType(text)}).typ
	return t.define("kubernetes.Namespace", map[string]*cel.Type{"metadata": metadata, "spec": spec, "status": status})
}
