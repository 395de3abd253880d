package patch

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// lookup returns the field of t with the JSON name. As in encoding/json, a name that differs in case will do.
func lookup(t *schema.Type, name string) (*schema.Field, *status.Status) {
	if kind := goKind(t); kind != "struct" {
		return nil, status.Plain("merging an object in json but data type is not struct, instead is: %s", kind)
	}
	if f := t.Field(name); f != nil {
		return f, nil
	}
	for i := range t.Fields {
		if strings.EqualFold(t.Fields[i].Name, name) {
			return &t.Fields[i], nil
		}
	}
	goType := t.GoType[strings.LastIndexByte(t.GoType, '.')+1:]
	return nil, status.Plain("unable to find api field in struct %s for the json field %q", goType, name)
}

// goKind returns the kind of the Go type behind t. Types with a JSON form of their own are structs.
func goKind(t *schema.Type) string {
	switch t.Kind {
	case schema.Map:
		return "map"
	case schema.List, schema.Bytes:
		return "slice"
	case schema.String:
		return "string"
	case schema.Bool:
		return "bool"
	case schema.Int:
		return fmt.Sprintf("int%d", t.Bits)
	case schema.Float:
		return "float64"
	}
	return "struct"
}

// strategyOf returns the patch strategy of a field: merge, replace or "". retainKeys only allows a directive.
func strategyOf(f *schema.Field) (string, *status.Status) {
	strategy := ""
	for _, s := range f.PatchStrategy {
		switch {
		case s == "retainKeys":
		case strategy != "":
			return "", status.Plain("unexpected patch strategy: %v", f.PatchStrategy)
		default:
			strategy = s
		}
	}
	return strategy, nil
}

// lookupList returns how the list field of t with the name is merged.
func lookupList(t *schema.Type, name string) (*list, *status.Status) {
	f, s := lookup(t, name)
	if s != nil {
		return nil, s
	}
	strategy, s := strategyOf(f)
	if s != nil {
		return nil, s
	}
	if f.Type.Kind != schema.List {
		if f.Pointer { // a value of any form, such as the default in a JSON schema
			return &list{elem: f.Type}, nil
		}
		return nil, status.Plain("expected slice or array type, but got: struct")
	}
	if f.Type.Elem.Kind == schema.List || f.Type.Elem.Kind == schema.Bytes {
		return nil, status.Plain("unexpected slice of slice")
	}
	return &list{elem: f.Type.Elem, key: f.PatchMergeKey, merges: strategy == "merge"}, nil
}
