package fieldmanager

import (
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// kind describes how the parts of a value are owned.
type kind uint8

const (
	scalar     kind = iota // owned as a whole
	structure              // each declared field is owned separately
	dictionary             // each key is owned separately
	list                   // owned as a whole, but compared item by item
	set                    // each value is owned separately
	listMap                // each item is owned separately; its key fields identify it
	deduced                // depends on the value: objects key by key, all others as a whole
)

// shape describes the structure of a type for field ownership. Shapes of structures refer to each other like their types, and may
// form cycles. A shape is immutable once it is built.
type shape struct {
	kind   kind
	atomic bool // for structure, dictionary and deduced: owned as a whole
	accept accept
	typed  bool // the value is a Go struct in the real server: absent fields have their zero value

	name   string         // for structure: its name in errors and in structured-merge-diff's schema
	fields []member       // sorted by name
	index  map[string]int // name → position in fields
	elem   *shape         // for dictionary and lists: an element; for structure: an undeclared field, or nil if none is allowed
	keys   []*member      // for listMap: the key fields, sorted by name
	given  []string       // for listMap: the names of the key fields in the order of their declaration
}

// accept is the set of values that a scalar accepts.
type accept uint8

const (
	anything accept = iota // IntOrString: objects and lists too
	anyScalar
	numeric
	text
	boolean
)

// member is a field of a structure.
type member struct {
	name    string
	path    string // its path element: "f:" + name
	text    []byte // the path element as a member of FieldsV1: ,"f:name":
	shape   *shape
	zero    any              // the value of an absent field of a Go struct
	def     any              // default of an absent key field, or nil
	show    schema.PrintRule // when a field of a Go struct is encoded
	pointer bool             // nil is not the zero value

	optional bool // a key field that items may omit
}

// model is the shape of one kind. The first apply also builds its schema for structured-merge-diff.
type model struct {
	root *shape
	once sync.Once
	smd  *typed.ParseableType
	gaps bool // items of some list map may omit a key field
}

// builtin holds the models of Go types, which all Clusters of the process share.
var builtin struct {
	sync.Mutex
	models map[*schema.Type]*model
	shapes map[*schema.Type]*shape // of structures: kinds share them
}

// customLimit is the maximum number of types of custom resources that a Manager caches. Every change of a definition creates new
// ones.
const customLimit = 1000

// model returns the model of a type. For a custom resource without a schema, t is nil.
func (m *Manager) model(t *schema.Type, custom bool) *model {
	switch {
	case t == nil:
		return untypedModel
	case custom:
		if m.custom[t] == nil {
			if len(m.custom) >= customLimit {
				clear(m.custom)
			}
			b := builder{shapes: map[*schema.Type]*shape{}}
			m.custom[t] = &model{root: b.of(t, nil)}
		}
		return m.custom[t]
	}
	builtin.Lock()
	defer builtin.Unlock()
	if builtin.models == nil {
		builtin.models, builtin.shapes = map[*schema.Type]*model{}, map[*schema.Type]*shape{}
	}
	if builtin.models[t] == nil {
		b := builder{shapes: builtin.shapes, typed: true}
		builtin.models[t] = &model{root: b.of(t, nil)}
	}
	return builtin.models[t]
}

// untypedModel is the model of custom resources without a schema: objects are owned key by key, and lists as a whole.
var untypedModel = &model{root: free}

var (
	free = &shape{kind: deduced}               // a value without a schema
	raw  = &shape{kind: deduced, atomic: true} // such a value, but owned as a whole
)

// builder builds the shapes of types.
type builder struct {
	shapes map[*schema.Type]*shape
	typed  bool
}

// of returns the shape of a type. f is the field that has the type, or nil for an element or a whole object.
func (b *builder) of(t *schema.Type, f *schema.Field) *shape {
	switch t.Kind {
	case schema.Struct:
		s := b.structure(t)
		if f != nil && f.MapType != "" && (f.MapType == "atomic") != s.atomic {
			own := *s
			own.atomic = f.MapType == "atomic"
			s = &own
		}
		return s
	case schema.Map:
		mapType := t.MapType
		if f != nil {
			mapType = f.MapType
		}
		return &shape{kind: dictionary, typed: b.typed, atomic: mapType == "atomic", elem: b.of(t.Elem, nil)}
	case schema.List:
		return b.list(t, f)
	case schema.Any, schema.FieldsV1:
		return free
	case schema.RawExtension:
		return raw
	}
	return &shape{kind: scalar, accept: accepts(t.Kind), typed: b.typed}
}

func accepts(k schema.Kind) accept {
	switch k {
	case schema.Int, schema.Float:
		return numeric
	case schema.String, schema.Bytes, schema.Duration:
		return text
	case schema.Bool:
		return boolean
	case schema.IntOrString:
		return anything
	}
	return anyScalar
}

func (b *builder) structure(t *schema.Type) *shape {
	if s := b.shapes[t]; s != nil {
		return s
	}
	s := &shape{kind: structure, typed: b.typed, atomic: t.MapType == "atomic", name: t.Name}
	b.shapes[t] = s // before its fields: a type may contain itself
	s.fields = make([]member, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		s.fields[i] = member{name: f.Name, path: "f:" + f.Name, text: appendField(nil, f.Name),
			zero: zero(f), def: f.Default, show: f.PrintRule(), pointer: f.Pointer}
	}
	slices.SortStableFunc(s.fields, func(a, b member) int { return strings.Compare(a.name, b.name) })
	s.index = make(map[string]int, len(s.fields))
	for i := range s.fields {
		s.index[s.fields[i].name] = i
	}
	for i := range s.fields {
		f := t.Field(s.fields[i].name)
		s.fields[i].shape = b.of(f.Type, f)
	}
	switch {
	case t.Elem != nil: // a custom resource that keeps undeclared fields
		s.elem = b.of(t.Elem, nil)
	case len(t.Fields) == 0:
		s.elem = free
	}
	return s
}

// list returns the shape of a list. If the list has no list type, its patch strategy determines the shape, as in the real server.
func (b *builder) list(t *schema.Type, f *schema.Field) *shape {
	s := &shape{kind: list, typed: b.typed, elem: b.of(t.Elem, nil)}
	listType, keys := t.ListType, t.MapKeys
	if f != nil && listType == "" {
		listType, keys = f.ListType, f.MapKeys
	}
	switch {
	case listType == "set":
		s.kind = set
	case listType == "map":
		s.kind = listMap
	case f != nil && listType == "" && slices.Contains(f.PatchStrategy, "merge"):
		if s.kind = set; f.PatchMergeKey != "" {
			s.kind, keys = listMap, []string{f.PatchMergeKey}
		}
	}
	if s.kind == listMap {
		s.keyed(keys)
	}
	return s
}

// keyed sets the key fields that identify the items of a list.
func (s *shape) keyed(keys []string) {
	s.given = keys
	for _, name := range slices.Sorted(slices.Values(keys)) {
		key := s.elem.field(name)
		if key == nil {
			key = &member{name: name, shape: free, show: schema.NotNil}
		}
		key.optional = key.def == nil && !(s.typed && key.show == schema.Always)
		s.keys = append(s.keys, key)
	}
}

// field returns the declared field with the name, or nil.
func (s *shape) field(name string) *member {
	if i, ok := s.index[name]; ok {
		return &s.fields[i]
	}
	return nil
}

// child returns the shape of the named field or key, or nil if it is not allowed.
func (s *shape) child(name string) *shape {
	if f := s.field(name); f != nil {
		return f.shape
	}
	if s.kind == deduced {
		return s
	}
	return s.elem
}

// zero returns the zero value of a field as JSON. nil means null.
func zero(f *schema.Field) any {
	switch {
	case f.Pointer:
		return nil
	case f.Type.Kind == schema.Struct:
		return leaf
	}
	return codec.Zero(f.Type)
}

// in returns the value of the field in an object, and whether the object has the field. A Go struct also has zero values.
func (f *member) in(m map[string]any, typed bool) (any, bool) {
	v, ok := m[f.name]
	switch {
	case !typed:
		return v, ok
	case v == nil && f.show == schema.Always:
		return f.zero, true
	case v == nil:
		return nil, false
	}
	switch f.show {
	case schema.NotEmpty:
		return v, !object.Blank(v)
	case schema.NotZero:
		return v, !f.shape.isZero(v, f.zero)
	}
	return v, true
}

// isZero reports whether v is the zero value of its Go type.
func (s *shape) isZero(v, zero any) bool {
	if s.kind != structure {
		return object.Blank(v) || v == zero
	}
	m, _ := v.(map[string]any)
	for i := range s.fields {
		f := &s.fields[i]
		if x := m[f.name]; x != nil && (f.pointer || !f.shape.isZero(x, f.zero)) {
			return false
		}
	}
	return true
}
