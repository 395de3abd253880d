package codec

import (
	"encoding/base64"
	"math"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"google.golang.org/protobuf/encoding/protowire"
)

// append prints the fields of m that are in the JSON object, in the order of their numbers. As Kubernetes' generated
// code does it writes Go values that are no pointers even when they are zero.
func (m *protoMessage) append(dst []byte, obj map[string]any) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if f.inner != nil {
			var at int
			dst, at = openMessage(dst, f.number)
			dst = closeMessage(f.inner.append(dst, obj), at)
			continue
		}
		dst = f.append(dst, obj[f.field.Name])
	}
	return dst
}

// append prints one field; nil stands for absent.
func (f *protoField) append(dst []byte, v any) []byte {
	t := f.field.Type
	switch t.Kind {
	case schema.List:
		if !t.Message {
			list, _ := v.([]any)
			for _, elem := range list {
				dst = appendProtoValue(dst, f.number, t.Elem, elem)
			}
			return dst
		}
		if v == nil {
			return dst
		}
	case schema.Map:
		m, _ := v.(map[string]any)
		return appendProtoMap(dst, f.number, t.Elem, m)
	case schema.Bytes:
		if v == nil {
			return dst
		}
	}
	if v == nil && f.field.Pointer {
		return dst
	}
	return appendProtoValue(dst, f.number, t, v)
}

// appendProtoMap prints a map: one message { key = 1, value = 2 } per entry, sorted by key.
func appendProtoMap(dst []byte, number protowire.Number, elem *schema.Type, m map[string]any) []byte {
	for _, key := range object.SortedKeys(m) {
		var at int
		dst, at = openMessage(dst, number)
		dst = appendProtoString(dst, 1, key)
		if v := m[key]; v != nil || elem.Kind != schema.Bytes && !elem.Message {
			dst = appendProtoValue(dst, 2, elem, v)
		}
		dst = closeMessage(dst, at)
	}
	return dst
}

// appendProtoValue prints a number and a value; nil is the zero value.
func appendProtoValue(dst []byte, number protowire.Number, t *schema.Type, v any) []byte {
	switch t.Kind {
	case schema.String:
		s, _ := v.(string)
		return appendProtoString(dst, number, s)
	case schema.Bytes:
		s, _ := v.(string)
		raw, _ := base64.StdEncoding.DecodeString(s) // what was decoded or made here is base64
		return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), raw)
	case schema.Bool:
		b, _ := v.(bool)
		return appendProtoInt(dst, number, int64(protowire.EncodeBool(b)))
	case schema.Int:
		n, _ := v.(int64)
		return appendProtoInt(dst, number, n)
	case schema.Float:
		dst = protowire.AppendTag(dst, number, protowire.Fixed64Type)
		return protowire.AppendFixed64(dst, math.Float64bits(float(v)))
	}
	dst, at := openMessage(dst, number)
	return closeMessage(appendProtoContent(dst, t, v), at)
}

// appendProtoContent prints what is inside the message of a value.
func appendProtoContent(dst []byte, t *schema.Type, v any) []byte {
	switch t.Kind {
	case schema.Struct:
		m, _ := v.(map[string]any)
		return messageOf(t).append(dst, m)
	case schema.List:
		list, _ := v.([]any)
		for _, elem := range list {
			dst = appendProtoValue(dst, 1, t.Elem, elem)
		}
		return dst
	case schema.Time:
		return appendTimestamp(dst, v, time.RFC3339)
	case schema.MicroTime:
		return appendTimestamp(dst, v, microLayout)
	case schema.Duration:
		s, _ := v.(string)
		d, _ := time.ParseDuration(s)
		return appendProtoInt(dst, 1, int64(d))
	case schema.Quantity:
		s, ok := v.(string)
		if !ok {
			s = "0"
		}
		return appendProtoString(dst, 1, s)
	case schema.IntOrString:
		return appendIntOrString(dst, v)
	case schema.Any:
		if t.Elem != nil {
			return appendSchemaUnion(dst, t, v)
		}
	}
	if v == nil { // RawExtension, FieldsV1 and JSON without content
		return dst
	}
	text := []byte(nil)
	if raw, ok := v.(object.Raw); ok {
		text = []byte(raw)
	} else {
		text = object.JSON(v)
	}
	return protowire.AppendBytes(protowire.AppendTag(dst, 1, protowire.BytesType), text)
}

// appendTimestamp prints { seconds = 1, nanos = 2 }; the zero time is empty.
func appendTimestamp(dst []byte, v any, layout string) []byte {
	s, _ := v.(string)
	t, err := time.Parse(layout, s)
	if err != nil || t.IsZero() {
		return dst
	}
	dst = appendProtoInt(dst, 1, t.Unix())
	return appendProtoInt(dst, 2, int64(t.Nanosecond()))
}

// appendIntOrString prints { type = 1, intVal = 2, strVal = 3 }.
func appendIntOrString(dst []byte, v any) []byte {
	s, isString := v.(string)
	n, _ := v.(int64)
	dst = appendProtoInt(dst, 1, int64(protowire.EncodeBool(isString)))
	return appendProtoString(appendProtoInt(dst, 2, n), 3, s)
}

// appendSchemaUnion prints the three types of apiextensions that are a schema or something else:
//
//	JSONSchemaPropsOrBool { allows = 1, schema = 2 }
//	JSONSchemaPropsOrArray { schema = 1, jSONSchemas = 2 … }     JSONSchemaPropsOrStringArray { schema = 1, property = 2 … }
func appendSchemaUnion(dst []byte, t *schema.Type, v any) []byte {
	m, isSchema := v.(map[string]any)
	if t.GoType == schemaOrBool {
		allows, _ := v.(bool)
		dst = appendProtoInt(dst, 1, int64(protowire.EncodeBool(allows || isSchema)))
		if isSchema {
			dst = appendProtoValue(dst, 2, t.Elem, m)
		}
		return dst
	}
	if isSchema {
		return appendProtoValue(dst, 1, t.Elem, m)
	}
	elem := t.Elem
	if t.GoType == schemaOrStrings {
		elem = stringType
	}
	list, _ := v.([]any)
	for _, x := range list {
		dst = appendProtoValue(dst, 2, elem, x)
	}
	return dst
}

// float reads a number of a JSON object, which may be a whole one.
func float(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	f, _ := v.(float64)
	return f
}

func appendProtoString(dst []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), s)
}

func appendProtoInt(dst []byte, number protowire.Number, n int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), uint64(n))
}

// openMessage begins a message whose length is not known yet; closeMessage, with the same index, ends it.
func openMessage(dst []byte, number protowire.Number) ([]byte, int) {
	dst = append(protowire.AppendTag(dst, number, protowire.BytesType), 0)
	return dst, len(dst)
}

// closeMessage writes the length in front of the message and moves it when that takes more than one byte.
func closeMessage(dst []byte, at int) []byte {
	length := len(dst) - at
	if more := protowire.SizeVarint(uint64(length)) - 1; more > 0 {
		dst = append(dst, make([]byte, more)...)
		copy(dst[at+more:], dst[at:at+length])
	}
	protowire.AppendVarint(dst[:at-1], uint64(length))
	return dst
}
