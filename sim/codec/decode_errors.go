package codec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// step is one step of the way from the document to a value: a field of a struct, a key of a map, an element.
type step struct {
	name    string
	index   int
	element bool

	field *schema.Field // of a field of a struct
	owner *schema.Type  // the struct
}

type path []step

// String returns the way as unknown fields are reported: spec.containers[0].
func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.element:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// context returns the struct and the fields that errors of encoding/json name. Keys and elements are not part of it,
// but the names of embedded structs are.
func (p path) context() (structName, fields string) {
	var names []string
	for _, s := range p {
		if s.owner != nil {
			names = append(append(names, embedded(s.owner, s.field)...), s.name)
			structName = s.owner.GoType[strings.LastIndexByte(s.owner.GoType, '.')+1:]
		}
	}
	return structName, strings.Join(names, ".")
}

// embeddedNames are the Go names of structs that are embedded in others, by the name of the outer one. If an embedded struct embeds
// another one, a field has as many names as Inline has numbers.
var embeddedNames = map[string][]string{
	"ConfigMapEnvSource":            {"LocalObjectReference"},
	"ConfigMapKeySelector":          {"LocalObjectReference"},
	"ConfigMapProjection":           {"LocalObjectReference"},
	"ConfigMapVolumeSource":         {"LocalObjectReference"},
	"SecretEnvSource":               {"LocalObjectReference"},
	"SecretKeySelector":             {"LocalObjectReference"},
	"SecretProjection":              {"LocalObjectReference"},
	"DeviceAllocationConfiguration": {"DeviceConfiguration"},
	"DeviceClaimConfiguration":      {"DeviceConfiguration"},
	"DeviceClassConfiguration":      {"DeviceConfiguration"},
	"EphemeralContainer":            {"EphemeralContainerCommon"},
	"IngressRule":                   {"IngressRuleValue"},
	"NamedRuleWithOperations":       {"RuleWithOperations", "Rule"},
	"RuleWithOperations":            {"Rule"},
	"PersistentVolumeSpec":          {"PersistentVolumeSource"},
	"Probe":                         {"ProbeHandler"},
	"Volume":                        {"VolumeSource"},
}

// embedded returns the Go names of the embedded structs around a field.
func embedded(owner *schema.Type, f *schema.Field) []string {
	if n := len(f.Inline); n > 0 {
		names := embeddedNames[owner.GoType[strings.LastIndexByte(owner.GoType, '.')+1:]]
		return names[:min(n, len(names))]
	}
	if f.Proto == 0 && (f.Name == "kind" || f.Name == "apiVersion") {
		return []string{"TypeMeta"}
	}
	return nil
}

// typeError is a JSON value that does not fit a Go type.
type typeError struct {
	value      string // its description: "string", "number 1.5"
	goType     string
	structName string
	fields     string
}

func (e *typeError) Error() string {
	into := " into Go value of type "
	if e.structName != "" || e.fields != "" {
		into = " into Go struct field " + e.structName + "." + e.fields + " of type "
	}
	return "json: cannot unmarshal " + e.value + into + e.goType
}

// mismatch reads over a value that does not fit and remembers the error. It returns old.
func (d *decoder) mismatch(t *schema.Type, old any) any {
	what := jsonType(d.Next())
	if d.Skip(); !d.Bad {
		d.wrong(what, t.GoType)
	}
	return old
}

// jsonType returns how an error calls the value that begins with c.
func jsonType(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	}
	return "number"
}

// wrong remembers a value of a wrong type.
func (d *decoder) wrong(what, goType string) {
	if d.first == nil {
		d.first = d.typeError(what, goType)
	}
}

func (d *decoder) typeError(what, goType string) *typeError {
	structName, fields := d.where.context()
	return &typeError{value: what, goType: goType, structName: structName, fields: fields}
}

// stop remembers the error of a value that reads itself.
func (d *decoder) stop(err error) {
	if d.fatal == nil {
		d.fatal = err
	}
}

// maxStrict is how many unknown and repeated fields are reported.
const maxStrict = 100

// report remembers an unknown or repeated field, and whether it had not done so before.
func (d *decoder) report(problem, at string) bool {
	if d.lenient > 0 || len(d.strict) >= maxStrict {
		return false
	}
	text := problem + " " + strconv.Quote(at)
	if slices.Contains(d.strict, text) {
		return false
	}
	d.strict = append(d.strict, text)
	return true
}

// to returns the path to a key of the object that is read.
func (d *decoder) to(key string) string {
	if len(d.where) == 0 {
		return key
	}
	return d.where.String() + "." + key
}
