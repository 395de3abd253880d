package codec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// step is one step of the path from the document to a value: a struct field, a map key or a list element.
type step struct {
	name    string
	index   int
	element bool

	field *schema.Field // the struct field, or nil for a map key or a list element
	owner *schema.Type  // the struct that contains field
}

type path []step

// String returns the path in the form of errors about unknown fields: spec.containers[0].
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

// context returns the struct name and the field path for an encoding/json error message. The path omits map keys and list elements
// and includes embedded structs.
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

// embeddedNames maps the name of a Go struct to the names of the structs that are embedded in it. If an embedded struct embeds
// another one, a field is in as many of them as Field.Inline has numbers.
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

// embedded returns the Go names of the embedded structs that contain a field.
func embedded(owner *schema.Type, f *schema.Field) []string {
	if n := len(f.Inline); n > 0 {
		names := embeddedNames[owner.GoType[strings.LastIndexByte(owner.GoType, '.')+1:]]
		return names[:min(n, len(names))]
	}
	if f.Proto == 0 && (f.Name == "kind" || f.Name == "apiVersion") {
		return []string{"TypeMeta"}
	}
	if owner.Name == unversioned {
		return []string{metaName(owner)}
	}
	return nil
}

// typeError is the error for a JSON value that does not fit a Go type (json.UnmarshalTypeError).
type typeError struct {
	value      string // description of the value: "string", "number 1.5"
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

// mismatch skips a value that does not fit, records the error, and returns old.
func (d *decoder) mismatch(t *schema.Type, old any) any {
	what := jsonType(d.Next())
	if d.Skip(); !d.Bad {
		d.wrong(what, t.GoType)
	}
	return old
}

// jsonType returns the name that error messages use for the type of a value that begins with c.
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

// wrong records the error for a value of a wrong type if it is the first such error. what describes the value.
func (d *decoder) wrong(what, goType string) {
	if d.first == nil {
		d.first = d.typeError(what, goType)
	}
}

func (d *decoder) typeError(what, goType string) *typeError {
	structName, fields := d.where.context()
	return &typeError{value: what, goType: goType, structName: structName, fields: fields}
}

// stop records the error of a value whose Go type has its own UnmarshalJSON, if it is the first such error.
func (d *decoder) stop(err error) {
	if d.fatal == nil {
		d.fatal = err
	}
}

// maxStrict is the maximum number of unknown and repeated fields that are reported.
const maxStrict = 100

// report records a problem of a field, unknown or repeated; at is its path. It returns false if the field was already recorded, or
// must not be reported.
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

// to returns the path of a key of the object that is being decoded.
func (d *decoder) to(key string) string {
	if len(d.where) == 0 {
		return key
	}
	return d.where.String() + "." + key
}
