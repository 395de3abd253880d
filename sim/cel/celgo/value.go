package celgo

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
)

// valueOf converts a JSON value to the form that expressions use. n is its schema. If n is nil, the type is derived from the
// value, as for the objects in policies.
func valueOf(v any, n *node) ref.Val {
	if n == nil {
		return untyped(v)
	}
	if made, ok := v.(ref.Val); ok { // an element of a sum of lists
		return made
	}
	if v == nil {
		if n.nullable {
			return types.NullValue
		}
		return types.NewErr("invalid data, got null for schema with nullable=false")
	}
	if n.intOrString {
		switch v := v.(type) {
		case string:
			return types.String(v)
		case int64:
			return types.Int(v)
		}
		return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	}
	switch n.kind {
	case "object":
		m, ok := v.(map[string]any)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		return &mapVal{value: m, node: n}
	case "array":
		l, ok := v.([]any)
		if !ok {
			return types.NewErr("invalid data, expected an array for the provided schema with type=array")
		}
		if n.items == nil {
			return types.NewErr("invalid array type, expected Items with a non-empty Schema")
		}
		return &listVal{value: l, node: n}
	}
	if n.kind == "" && n.preserve {
		return &unknownVal{v}
	}
	return scalar(v, n)
}

// structOf converts a value of a built-in kind to the form that expressions use since 1.37, because servers no longer convert
// it to JSON first (apiserver/pkg/cel/common.SchemalessTypedToVal).
func structOf(v any) ref.Val {
	switch v := untyped(v).(type) {
	case *mapVal:
		v.ofStruct = true
		return v
	case *listVal:
		v.ofStruct = true
		return v
	default:
		return v
	}
}

func untyped(v any) ref.Val {
	switch v := v.(type) {
	case nil:
		return types.NullValue
	case ref.Val:
		return v
	case string:
		return types.String(v)
	case int64:
		return types.Int(v)
	case float64:
		return types.Double(v)
	case bool:
		return types.Bool(v)
	case map[string]any:
		return &mapVal{value: v}
	case object.Object:
		return &mapVal{value: v}
	case []any:
		return &listVal{value: v}
	case object.Raw:
		return untyped(v.Value())
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

func scalar(v any, n *node) ref.Val {
	switch n.kind {
	case "string":
		s, ok := v.(string)
		if !ok {
			return types.NewErr("invalid data, expected string, got %T", v)
		}
		return formatted(s, n.format)
	case "number":
		switch v := v.(type) {
		case int64:
			return types.Double(v)
		case float64:
			return types.Double(v)
		}
		return types.NewErr("invalid data, expected float, got %T", v)
	case "integer":
		if v, ok := v.(int64); ok {
			return types.Int(v)
		}
		return types.NewErr("invalid data, expected int, got %T", v)
	case "boolean":
		if v, ok := v.(bool); ok {
			return types.Bool(v)
		}
		return types.NewErr("invalid data, expected bool, got %T", v)
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with "+
		"x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", n.kind)
}

// formatted converts a string in a format that has a separate CEL type.
func formatted(s, format string) ref.Val {
	var v ref.Val
	var err error
	what := format + " formatted string"
	switch format {
	case "duration":
		var d types.Duration
		d.Duration, err = parseDuration(s)
		v, what = d, format
	case "date":
		var t types.Timestamp
		t.Time, err = time.Parse(time.DateOnly, s)
		v = t
	case "date-time":
		var t types.Timestamp
		t.Time, err = parseTime(s)
		v = t
	case "byte":
		var b types.Bytes
		b, err = base64.URLEncoding.DecodeString(s)
		v = b
	default:
		return types.String(s)
	}
	if err != nil {
		return types.NewErr("Invalid %s %s: %v", what, s, err)
	}
	return v
}

// jsonOf converts the result of an expression to a JSON value. Durations, timestamps and the Kubernetes types become
// strings.
func jsonOf(v ref.Val) (any, *expr.Error) {
	switch v := v.(type) {
	case *mapVal, *listVal, *unknownVal, types.Bool, types.Int, types.Double, types.String:
		return v.Value(), nil
	case *objectVal:
		return v.json()
	case types.Null:
		return nil, nil
	case types.Uint:
		return int64(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	}
	return jsonOfAggregate(v)
}

// durationPart matches a number with a unit. OpenAPI formats allow it in addition to Go durations: "3 days".
var durationPart = regexp.MustCompile(`(\d+)\s*([A-Za-zµ]+)`)

// units are the names of duration units: names that must match exactly, and a prefix that more letters may follow.
var units = []struct {
	names  []string
	prefix string
	unit   time.Duration
}{
	{[]string{"ns"}, "nano", time.Nanosecond},
	{[]string{"us", "µs"}, "micro", time.Microsecond},
	{[]string{"ms"}, "milli", time.Millisecond},
	{[]string{"s"}, "sec", time.Second},
	{[]string{"m"}, "min", time.Minute},
	{[]string{"h", "hr"}, "hour", time.Hour},
	{[]string{"d"}, "day", 24 * time.Hour},
	{[]string{"w", "wk"}, "week", 7 * 24 * time.Hour},
}

func parseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	var sum time.Duration
	found := false
	for _, part := range durationPart.FindAllStringSubmatch(s, -1) {
		n, err := strconv.Atoi(part[1])
		if err != nil {
			return 0, err
		}
		if unit, ok := unitOf(strings.ToLower(part[2])); ok {
			sum += time.Duration(n) * unit
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("unable to parse %s as duration", s)
	}
	return sum, nil
}

func unitOf(name string) (time.Duration, bool) {
	for _, u := range units {
		if strings.HasPrefix(name, u.prefix) || slices.Contains(u.names, name) {
			return u.unit, true
		}
	}
	return 0, false
}

// parseTime parses a timestamp. If it has no time zone, it is in UTC. An empty string is 1970-01-01.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02T15:04:05", s)
}
