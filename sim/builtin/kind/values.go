package kind

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// IsObject reports whether a value, as it is or as it was written, is a JSON object.
func IsObject(v any) bool {
	raw, ok := v.(object.Raw)
	if ok {
		return strings.HasPrefix(string(raw), "{")
	}
	_, ok = v.(map[string]any)
	return ok
}

// SortedSet returns the strings in order, each once.
func SortedSet(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// UnsupportedLabel is the text of a 400 for a field selector label of most kinds that have labels of their own.
func UnsupportedLabel(label string) string { return "field label not supported: " + label }

// SameLabels maps field selector labels to fields of the same name, for every version of a kind.
func SameLabels(labels ...string) map[string]map[string]string {
	out := make(map[string]string, len(labels))
	for _, l := range labels {
		out[l] = l
	}
	return map[string]map[string]string{"": out}
}

// EveryVersion is the defaults of a kind that has the same ones in all versions.
func EveryVersion(f func(object.Object)) map[string]func(object.Object) {
	return map[string]func(object.Object){"": f}
}

// Texts returns the strings at a field of the objects of a list.
func Texts(list []object.Object, name string) []string {
	texts := make([]string, len(list))
	for i, o := range list {
		texts[i] = o.String(name)
	}
	return texts
}

// HasCondition reports whether there is a condition of a type in a state: True, False or Unknown.
func HasCondition(obj object.Object, kind, state string) bool {
	return slices.ContainsFunc(obj.Objects("status", "conditions"), func(c object.Object) bool {
		return c.String("type") == kind && c.String("status") == state
	})
}

// ObjectAt returns the object at the path, which is made where there is none.
func ObjectAt(obj object.Object, path ...string) object.Object {
	if obj.At(path...) == nil {
		obj.Set(map[string]any{}, path...)
	}
	return obj.At(path...)
}

// KeepAt gives obj the old value at a path.
func KeepAt(obj, old object.Object, path ...string) {
	if v, _ := old.Get(path...); v != nil {
		obj.Set(object.Copy(v), path...)
	} else {
		obj.Remove(path...)
	}
}

// KeepOld gives obj the old value of top-level fields.
func KeepOld(obj, old object.Object, names ...string) {
	for _, name := range names {
		if v, ok := old[name]; ok {
			obj[name] = object.Copy(v)
		} else {
			delete(obj, name)
		}
	}
}

// Decoded returns the bytes of a []byte field.
func Decoded(v any) []byte {
	text, _ := v.(string)
	data, _ := base64.StdEncoding.DecodeString(text) // what cannot be read is refused before it is an object
	return data
}

// SetEmpty sets the string at the path where it is absent or "". The value is an any, so that constants need no memory.
func SetEmpty(o object.Object, value any, path ...string) {
	if o.String(path...) == "" {
		o.Set(value, path...)
	}
}

// SetZero sets the number at the path where it is absent or 0.
func SetZero(o object.Object, value int64, path ...string) {
	if o.Int64(path...) == 0 {
		o.Set(value, path...)
	}
}

// SubdomainName is the rule for names of kinds that do not check a generateName, and count bytes.
func SubdomainName(name string, prefix bool) []string {
	if prefix {
		return nil
	}
	msgs := field.DNS1123Subdomain(name)
	if len(name) > field.DNSSubdomainMax {
		msgs[0] = field.BytesText(field.DNSSubdomainMax)
	}
	return msgs
}

// GoPointer returns a struct for the text of an error, or null.
func GoPointer(t gotext.Type, o object.Object) any {
	if o == nil {
		return nil
	}
	return gotext.Value(t, o)
}

// Value is a Go type whose values are read and printed by themselves, though they need not be objects as those of kinds.
//
//	[{"type":"Pods"}]  ◀─ Read, JSON ─▶  {"value":[{"type":"Pods"}]}  ◀─ codec ─▶  []any
type Value struct{ inside *schema.Type }

// ValueOf returns what reads and prints values of a type.
func ValueOf(t *schema.Type) Value {
	return Value{schema.NewStruct("", "", []schema.Field{{Name: "value", Type: t, Pointer: true}})}
}

// Read reads JSON as it is read into the type: nil for what does not fit, and for null.
func (v Value) Read(text string) any {
	if _, err := object.ParseValue([]byte(text)); err != nil {
		return nil
	}
	obj, _, err := codec.DecodeJSON([]byte(`{"value":`+text+"}"), v.inside)
	if err != nil {
		return nil
	}
	return obj["value"]
}

// JSON prints a value, with fields in the order of the type.
func (v Value) JSON(value any) []byte {
	text := codec.Append(nil, object.Object{"value": value}, v.inside)
	return text[len(`{"value":`) : len(text)-1]
}

// IP is the rule for an address in a field that is older than Kubernetes 1.33 (KEP-4858). The address need not be canonical. Servers
// without StrictIPCIDRValidation accept ambiguous ones: leading zeros, which are not octal, and ::ffff:1.2.3.4 for an IPv4 address.
func IP(ctx *resource.Context) func(string) []string {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.LegacyIP
	}
	return field.LaxIP
}

// CIDR is the rule for a network in such a field.
func CIDR(ctx *resource.Context) func(string) []string {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.LegacyCIDR
	}
	return field.LaxCIDR
}

// WarnIP warns about an address in such a field.
func WarnIP(ctx *resource.Context, p field.Path, ip string) {
	warnAll(ctx, field.IPWarnings(p, ip, ctx.Since(36)))
}

// WarnCIDR warns about a network in such a field.
func WarnCIDR(ctx *resource.Context, p field.Path, cidr string) {
	warnAll(ctx, field.CIDRWarnings(p, cidr, ctx.Since(36)))
}

func warnAll(ctx *resource.Context, warnings []string) {
	for _, text := range warnings {
		ctx.Warn(text)
	}
}
