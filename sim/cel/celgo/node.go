package celgo

import (
	"maps"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
)

// node is the subset of a structural schema that rules and their types need.
type node struct {
	env          *environment
	kind, format string
	nullable     bool
	intOrString  bool
	preserve     bool // x-kubernetes-preserve-unknown-fields
	root         bool // the object itself or an embedded object, which has kind, apiVersion and metadata

	properties map[string]*node // as declared
	names      []string         // of properties, sorted
	fields     map[string]*node // as expressions see them: properties, and the fields that every object has
	additional *node
	items      *node

	enum       []any
	required   map[string]bool
	hasDefault bool
	maxItems   *int64
	maxProps   *int64
	maxLength  *int64
	listType   string
	listKeys   []string

	rules   []expr.Rule
	ruled   bool // the node, or a node below it, has rules
	untyped bool // its rules cannot be compiled; see lose
	schema  map[string]any
	decl    *decl
	checked []checkedRule // the compiled rules
	usesOld bool          // one of the rules uses oldSelf
}

// newNode converts a schema. root reports whether it is the schema of a whole object.
func newNode(env *environment, schema map[string]any, root bool) *node {
	o := object.Object(schema)
	n := &node{env: env, kind: o.String("type"), format: o.String("format"), schema: schema,
		root: root || o.True("x-kubernetes-embedded-resource"), nullable: o.True("nullable"),
		intOrString: o.True("x-kubernetes-int-or-string"), preserve: o.True("x-kubernetes-preserve-unknown-fields"),
		listType: o.String("x-kubernetes-list-type"), listKeys: o.Strings("x-kubernetes-list-map-keys"),
		enum: o.List("enum"), rules: expr.RulesOf(schema), required: map[string]bool{}}
	_, n.hasDefault = o.Get("default")
	n.maxItems, n.maxProps, n.maxLength = limit(o, "maxItems"), limit(o, "maxProperties"), limit(o, "maxLength")
	for _, name := range o.Strings("required") {
		n.required[name] = true
	}
	n.ruled = len(n.rules) > 0
	n.readChildren(o)
	if n.root {
		n.addMetadata()
	}
	return n
}

func (n *node) readChildren(o object.Object) {
	if properties := o.Map("properties"); properties != nil {
		n.properties = make(map[string]*node, len(properties))
		n.names = object.SortedKeys(properties)
		for _, name := range n.names {
			child, _ := properties[name].(map[string]any)
			n.properties[name] = n.child(child)
		}
	}
	n.fields = n.properties
	if child := o.Map("additionalProperties"); child != nil {
		n.additional = n.child(child)
	}
	if child := o.Map("items"); child != nil {
		n.items = n.child(child)
		if n.kind != "array" && n.additional == nil {
			n.items.lose()
		}
	}
}

// lose removes the type of a node that describes the items of a value which is no longer an array, for example because it
// has become an object. The definition may still contain rules for such items, and older objects may still contain the
// items. The rules of the node do not compile, and the rules of its properties are not evaluated.
func (n *node) lose() {
	n.untyped = true
	for _, below := range []*node{n.items, n.additional} {
		if below != nil {
			below.lose()
		}
	}
}

func (n *node) child(schema map[string]any) *node {
	child := newNode(n.env, schema, false)
	n.ruled = n.ruled || child.ruled
	return child
}

// limit returns a limit of a schema, or nil if it is not set. A negative limit becomes 0.
func limit(o object.Object, name string) *int64 {
	n, ok := o.Int(name)
	if !ok {
		return nil
	}
	n = max(n, 0)
	return &n
}

// addMetadata adds apiVersion, kind and the names in metadata. Expressions can access these in every object, whatever its schema.
func (n *node) addMetadata() {
	text := func() *node { return &node{env: n.env, kind: "string"} }
	m := n.properties["metadata"]
	if m != nil && m.properties["name"] != nil && m.properties["generateName"] != nil {
		return
	}
	fields := map[string]*node{}
	maps.Copy(fields, n.properties)
	names := map[string]*node{"name": text(), "generateName": text()}
	if n.env.since(37) {
		names["name"].maxLength, names["generateName"].maxLength = m.atMost("name", nameMax), m.atMost("generateName", nameMax-1)
	}
	fields["kind"], fields["apiVersion"] = text(), text()
	fields["metadata"] = &node{kind: "object", properties: names, fields: names, names: []string{"generateName", "name"}}
	n.fields = fields
}

// nameMax is the maximum length of a name. The maximum for generateName is lower, because a suffix is appended to it.
const nameMax = 253

// atMost returns the maximum length of a string property: the limit in its schema or most, whichever is lower. n may be nil.
func (n *node) atMost(property string, most int64) *int64 {
	if n != nil && n.properties[property] != nil && n.properties[property].maxLength != nil {
		most = min(most, *n.properties[property].maxLength)
	}
	return &most
}
