package celgo

import (
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/kubesim/kubesim/sim/object"
)

// decl is the CEL type of values of a schema, and how great they can get.
type decl struct {
	typ    *cel.Type
	least  int64 // bytes of the JSON of the smallest value
	most   int64 // elements of a list or map, bytes of a string
	key    *decl // of a map
	elem   *decl // of a list or map
	fields map[string]*decl
	open   bool // each field that is not in fields is an elem
}

// Sizes of values as JSON, in bytes (RFC 3339 for dates).
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

// typeNames gives the object types of one schema their names, by which the type provider finds them again.
type typeNames map[string]*decl

// declare sets the decl of n and all nodes below it. A node that expressions cannot see, because its schema does not describe its
// contents, has none. If n is an object, name is the name of its type.
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

// bounded returns a limit of a schema, or of requests where it has none.
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
		if f.decl == nil && n.properties[child] != f { // of the metadata that every object has
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

// stringMost returns how many bytes a string can have: maxLength counts characters of up to four bytes.
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

// provider finds the object types of a schema. Everything else is left to the environment's own.
type provider struct {
	types.Provider
	names typeNames
}

// FindStructType returns the type of a name.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if d, ok := p.names[name]; ok {
		return types.NewTypeTypeWithParam(d.typ), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames returns the fields of a type, sorted.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if d, ok := p.names[name]; ok {
		return object.SortedKeys(d.fields), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType returns the type of a field.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	d, ok := p.names[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := d.fields[field]
	if !ok && slices.Contains(reserved, field) { // self.namespace: the parser knows that it is no keyword there
		f, ok = d.fields["__"+field+"__"]
	}
	if !ok {
		return nil, false
	}
	return &types.FieldType{Type: f.typ}, true
}

// reserved are the words of the CEL grammar that cannot name a field.
var reserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return var void while")

var (
	escaped   = regexp.MustCompile(`__|[-./]`)
	unescaped = regexp.MustCompile(`__[^_]+__`)
	plain     = regexp.MustCompile(`^[a-zA-Z_./-][a-zA-Z0-9_./-]*$`)
)

var escapes = map[string]string{"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}

var unescapes = map[string]string{"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}

// escape returns a property's name as an expression has to write it: foo__dash__bar. Names that no expression can write
// are not ok.
func escape(name string) (string, bool) {
	if !plain.MatchString(name) {
		return "", false
	}
	if slices.Contains(reserved, name) {
		return "__" + name + "__", true
	}
	return escaped.ReplaceAllStringFunc(name, func(s string) string { return escapes[s] }), true
}

// unescape is the opposite of escape. It is not ok for sequences that escape does not make.
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

// define adds an object type with fields.
func (t typeNames) define(name string, fields map[string]*cel.Type) *decl {
	d := &decl{typ: cel.ObjectType(name), fields: map[string]*decl{}}
	for f, typ := range fields {
		d.fields[f] = &decl{typ: typ}
	}
	t[name] = d
	return d
}

// requestType is the type of request: an AdmissionRequest without its objects.
func requestType(t typeNames) *decl {
	text := cel.StringType
	kind := t.define("kubernetes.GroupVersionKind", map[string]*cel.Type{"group": text, "version": text, "kind": text}).typ
	resource := t.define("kubernetes.GroupVersionResource", map[string]*cel.Type{"group": text, "version": text, "resource": text}).typ
	user := t.define("kubernetes.UserInfo", map[string]*cel.Type{"username": text, "uid": text, "groups": cel.ListType(text),
		"extra": cel.MapType(text, cel.ListType(text))}).typ
	return t.define("kubernetes.AdmissionRequest", map[string]*cel.Type{
		"kind": kind, "resource": resource, "subResource": text, "requestKind": kind, "requestResource": resource,
		"requestSubResource": text, "name": text, "namespace": text, "operation": text, "userInfo": user,
		"dryRun": cel.BoolType, "options": cel.DynType,
	})
}

// namespaceType is the type of namespaceObject: a Namespace without some of its metadata.
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
