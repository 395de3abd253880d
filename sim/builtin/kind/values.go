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

// IsObject reports whether a value, decoded or raw, is a JSON object.
func IsObject(v any) bool {
	raw, ok := v.(object.Raw)
	if ok {
		return strings.HasPrefix(string(raw), "{")
	}
	_, ok = v.(map[string]any)
	return ok
}

// SortedSet returns the strings sorted and without duplicates.
func SortedSet(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// UnsupportedLabel returns the message of the 400 for an unknown field selector label, in the wording that most kinds use.
func UnsupportedLabel(_ schema.GVK, label string) string {
	return "field label not supported: " + label
}

// SameLabels returns field selector labels for all versions of a kind. Each label equals the name of its field.
func SameLabels(labels ...string) map[string]map[string]string {
	out := make(map[string]string, len(labels))
	for _, l := range labels {
		out[l] = l
	}
	return map[string]map[string]string{"": out}
}

// EveryVersion returns a map for Kind.Defaults with the same function for all versions of a kind.
func EveryVersion(f func(object.Object)) map[string]func(object.Object) {
	return map[string]func(object.Object){"": f}
}

// Texts returns the strings in the named field of each object in a list.
func Texts(list []object.Object, name string) []string {
	texts := make([]string, len(list))
	for i, o := range list {
		texts[i] = o.String(name)
	}
	return texts
}

// HasCondition reports whether an object has a condition of the given type whose status is state: True, False or Unknown.
func HasCondition(obj object.Object, kind, state string) bool {
	return slices.ContainsFunc(obj.Objects("status", "conditions"), func(c object.Object) bool {
		return c.String("type") == kind && c.String("status") == state
	})
}

// ObjectAt returns the object at the path of obj. If there is none, it adds an empty one and returns that.
func ObjectAt(obj object.Object, path ...string) object.Object {
	if obj.At(path...) == nil {
		obj.Set(map[string]any{}, path...)
	}
	return obj.At(path...)
}

// KeepAt sets the value at a path of obj to that in old. If old does not have one, it removes the value.
func KeepAt(obj, old object.Object, path ...string) {
	if v, _ := old.Get(path...); v != nil {
		obj.Set(object.Copy(v), path...)
	} else {
		obj.Remove(path...)
	}
}

// KeepOld sets the named top-level fields of obj to their values in old. It removes fields that old does not have.
func KeepOld(obj, old object.Object, names ...string) {
	for _, name := range names {
		if v, ok := old[name]; ok {
			obj[name] = object.Copy(v)
		} else {
			delete(obj, name)
		}
	}
}

// Decoded returns the decoded bytes of a base64-encoded field. If v is not a string, it returns nil.
func Decoded(v any) []byte {
	text, _ := v.(string)
	data, _ := base64.StdEncoding.DecodeString(text) // cannot fail: invalid base64 has been rejected before
	return data
}

// SetEmpty sets the string at the path if it is missing or "". The value is of type any, so that constants are not
// allocated.
func SetEmpty(o object.Object, value any, path ...string) {
	if o.String(path...) == "" {
		o.Set(value, path...)
	}
}

// SetZero sets the number at the path if it is missing or 0.
func SetZero(o object.Object, value int64, path ...string) {
	if o.Int64(path...) == 0 {
		o.Set(value, path...)
	}
}

// SubdomainName is the name rule of kinds that do not check generateName and that limit names by bytes.
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

// GoPointer returns the Go struct of an object for an error message. If the object is nil, it returns nil, which is printed as
// null.
func GoPointer(t gotext.Type, o object.Object) any {
	if o == nil {
		return nil
	}
	return gotext.Value(t, o)
}

// Value decodes and encodes JSON values of a type that need not be an object.
//
//	[{"type":"Pods"}]  ◀─ Read, JSON ─▶  {"value":[{"type":"Pods"}]}  ◀─ codec ─▶  []any
type Value struct{ inside *schema.Type }

// ValueOf returns a Value that decodes and encodes values of type t.
func ValueOf(t *schema.Type) Value {
	return Value{schema.NewStruct("", "", []schema.Field{{Name: "value", Type: t, Pointer: true}})}
}

// Read decodes JSON into the type. It returns nil for null and for JSON that does not match the type.
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

// JSON encodes a value, with fields in the order of the type.
func (v Value) JSON(value any) []byte {
	text := codec.Append(nil, object.Object{"value": value}, v.inside)
	return text[len(`{"value":`) : len(text)-1]
}

// IP returns the rule for an IP address in a field that is older than Kubernetes 1.33 (KEP-4858). The address need not be
// canonical. Servers without StrictIPCIDRValidation accept ambiguous addresses: leading zeros, which are not octal, and
// ::ffff:1.2.3.4 for an IPv4 address.
func IP(ctx *resource.Context) func(string) []string {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.LegacyIP
	}
	return field.LaxIP
}

// CIDR returns the rule for a network in a field that is older than Kubernetes 1.33. It corresponds to IP.
func CIDR(ctx *resource.Context) func(string) []string {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.LegacyCIDR
	}
	return field.LaxCIDR
}

// WarnIP warns about an unusual IP address in a field that uses the rule of IP.
func WarnIP(ctx *resource.Context, p field.Path, ip string) {
	warnAll(ctx, field.IPWarnings(p, ip, ctx.Since(36)))
}

// WarnCIDR warns about an unusual network in a field that uses the rule of CIDR.
func WarnCIDR(ctx *resource.Context, p field.Path, cidr string) {
	warnAll(ctx, field.CIDRWarnings(p, cidr, ctx.Since(36)))
}

func warnAll(ctx *resource.Context, warnings []string) {
	for _, text := range warnings {
		ctx.Warn(text)
	}
}
