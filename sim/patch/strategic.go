package patch

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// The directives of a strategic merge patch.
const (
	directive       = "$patch"
	retainKeys      = "$retainKeys"
	setElementOrder = "$setElementOrder"
	deleteFromList  = "$deleteFromPrimitiveList"
)

// Strategic applies a strategic merge patch to doc, the JSON of an object of type t. Objects are merged. Lists are merged if their
// field has the patch strategy merge (by PatchMergeKey, or as sets of scalars), and otherwise replaced. Unless whole is true, the
// result omits the top-level and metadata fields that the patch does not name.
//
//	patch                                   spec.template.spec of doc           result
//	{"$setElementOrder/containers":         {"containers":                      {"containers":
//	   [{"name":"b"},{"name":"a"}],            [{"name":"a","image":"i:1"},        [{"name":"b","image":"j:2"},
//	 "containers":                              {"name":"b","image":"j:1"}]}        {"name":"a","image":"i:1"}]}
//	   [{"name":"b","image":"j:2"}]}
func Strategic(doc, patch []byte, t *schema.Type, level Level, whole bool) (*Merged, *status.Status) {
	m, strict, err := codec.DecodeJSON(patch, nil)
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	result := &Merged{}
	if level != Ignore {
		result.Strict = strict
	}
	old := map[string]any{}
	if whole {
		old = object.As(object.Raw(doc).Value())
	} else {
		result.read(old, object.Text(doc), m)
	}
	var s *status.Status
	result.Object, s = mergeMaps(old, m, t)
	result.Text = fmt.Sprintf("%+v", m)
	return result, s
}

// Merged is the result of applying a strategic merge patch.
type Merged struct {
	Object object.Object
	Left   [][]string // paths of the omitted fields of the object
	Text   string     // text of the patch in errors about the result
	Strict []string   // repeated keys of the patch
}

// read decodes those fields of doc that the patch may need, and adds them to old. at is the path of old: it is either empty or
// metadata.
func (r *Merged) read(old map[string]any, doc string, patch map[string]any, at ...string) {
	directed := false
	for key := range patch { // order does not matter
		directed = directed || strings.HasPrefix(key, "$")
	}
	for x := range json.Members(doc) {
		key := x.Name()
		v, named := patch[key]
		below, isMap := v.(map[string]any)
		switch {
		case !directed && !named:
			r.Left = append(r.Left, append(at[:len(at):len(at)], key))
		case !directed && isMap && key == "metadata" && len(at) == 0:
			meta := map[string]any{}
			r.read(meta, x.Value, below, key)
			old[key] = meta
		default:
			old[key] = object.Raw(x.Value).Value()
		}
	}
}

// The errors for invalid patches. As on the real server, a malformed directive results in 400, and any other mistake in 500.
func badRetainKeys() *status.Status { return status.BadRequest("invalid patch format of retainKeys") }

func noMergeKey(m map[string]any, key string) *status.Status {
	return status.Plain("map: %v does not contain declared merge key: %s", m, key)
}

func badDirective(value any, m map[string]any) *status.Status {
	return status.Plain("unknown patch type: %s in map: %v", value, m)
}

func badArgument(want string, v any) *status.Status {
	return status.Plain("expected a %s, but received a %s", want, goName(v))
}

// goName returns the name of a value's Go type, as printed by the real server.
func goName(v any) string {
	switch v.(type) {
	case nil:
		return "%!s(<nil>)"
	case map[string]any:
		return "map[string]interface {}"
	case []any:
		return "[]interface {}"
	}
	return fmt.Sprintf("%T", v)
}

// mergeMaps merges patch into old, which is an object of type t, and returns the result. It modifies both arguments.
func mergeMaps(old, patch map[string]any, t *schema.Type) (map[string]any, *status.Status) {
	switch v, ok := patch[directive]; {
	case !ok:
	case v == "replace":
		delete(patch, directive)
		return patch, nil
	case v == "delete":
		return map[string]any{}, nil
	default:
		return nil, badDirective(v, patch)
	}
	if old == nil {
		old = map[string]any{}
	}
	if s := applyRetainKeys(old, patch); s != nil {
		return nil, s
	}
	if s := applyElementOrders(old, patch, t); s != nil {
		return nil, s
	}
	for _, key := range object.SortedKeys(patch) {
		if s := mergeField(old, key, patch[key], t); s != nil {
			return nil, s
		}
	}
	return old, nil
}

// mergeField applies a patch's value v for one key to old, an object of type t. A nil v deletes the key. If the key begins with
// deleteFromList, the elements of v are removed from the list of scalars whose name follows.
func mergeField(old map[string]any, key string, v any, t *schema.Type) *status.Status {
	deleting := strings.HasPrefix(key, deleteFromList)
	if deleting {
		name, ok := strings.CutPrefix(key, deleteFromList+"/")
		if !ok {
			return status.BadRequest("invalid patch format of primitive list")
		}
		if name != "" {
			key = name
		}
	}
	if v == nil {
		delete(old, key)
		return nil
	}
	have, ok := old[key]
	if !ok || !sameType(have, v) {
		if !deleting {
			dropNulls(v)
			set(old, key, v)
		}
		return nil
	}
	var s *status.Status
	switch have := have.(type) {
	case map[string]any:
		old[key], s = mergeMapField(have, v.(map[string]any), key, t)
	case []any:
		old[key], s = mergeListField(have, v.([]any), key, t, deleting)
	default:
		old[key] = v
	}
	return s
}

func mergeMapField(old, patch map[string]any, key string, t *schema.Type) (any, *status.Status) {
	f, s := lookup(t, key)
	if s != nil {
		return nil, s
	}
	if strategy, s := strategyOf(f); s != nil || strategy == "replace" {
		return patch, s
	}
	return mergeMaps(old, patch, f.Type)
}

func mergeListField(old, patch []any, key string, t *schema.Type, deleting bool) (any, *status.Status) {
	l, s := lookupList(t, key)
	if s != nil {
		return nil, s
	}
	if !l.merges && !deleting {
		return patch, nil
	}
	return l.merge(old, patch, deleting)
}

// set sets a field that old does not have yet. It omits objects in the value that are directives.
func set(old map[string]any, key string, v any) {
	if clean, keep := withoutDirectives(v); keep {
		old[key] = clean
	} else {
		delete(old, key)
	}
}

// withoutDirectives removes all objects with a $patch directive from v. If v itself is such an object, keep is false.
func withoutDirectives(v any) (clean any, keep bool) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v[directive]; ok {
			return nil, false
		}
		for _, key := range object.SortedKeys(v) {
			set(v, key, v[key])
		}
		return v, true
	case []any:
		out := make([]any, 0, len(v))
		for _, x := range v {
			if clean, keep := withoutDirectives(x); keep {
				out = append(out, clean)
			}
		}
		return out, true
	}
	return v, true
}

// dropNulls removes the null members of all objects in v.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v { // order does not matter
			if x == nil {
				delete(v, key)
			} else {
				dropNulls(x)
			}
		}
	case []any:
		for _, x := range v {
			dropNulls(x)
		}
	}
}

// applyRetainKeys removes the fields of old that are not in $retainKeys. The patch must not set any other fields. Otherwise it
// returns an error.
func applyRetainKeys(old, patch map[string]any) *status.Status {
	v, ok := patch[retainKeys]
	if !ok {
		return nil
	}
	delete(patch, retainKeys)
	list, ok := v.([]any)
	if !ok {
		return badRetainKeys()
	}
	retained := map[string]bool{}
	for _, name := range object.Strings(list) {
		retained[name] = true
	}
	for key, v := range patch { // order does not matter
		if v != nil && !retained[key] && !strings.HasPrefix(key, deleteFromList) && !strings.HasPrefix(key, setElementOrder) {
			return badRetainKeys()
		}
	}
	for key := range old { // order does not matter
		if !retained[key] {
			delete(old, key)
		}
	}
	return nil
}

// sameType reports whether two values have the same Go type. null has no type.
func sameType(a, b any) bool { return a != nil && reflect.TypeOf(a) == reflect.TypeOf(b) }

// lookup returns the field of t with the given JSON name. As in encoding/json, case is ignored.
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

// goKind returns the kind of the Go type that corresponds to t. Types with their own JSON encoding are structs.
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

// strategyOf returns the patch strategy of a field: merge, replace or "". The strategy retainKeys only enables a directive.
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

// lookupList returns the merge strategy of a list field of t.
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
		if f.Pointer { // an arbitrary value, such as the default in a JSON schema
			return &list{elem: f.Type}, nil
		}
		return nil, status.Plain("expected slice or array type, but got: struct")
	}
	if f.Type.Elem.Kind == schema.List || f.Type.Elem.Kind == schema.Bytes {
		return nil, status.Plain("unexpected slice of slice")
	}
	return &list{elem: f.Type.Elem, key: f.PatchMergeKey, merges: strategy == "merge"}, nil
}
