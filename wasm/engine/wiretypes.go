package engine

import "github.com/kubesim/kubesim/sim/schema"

// fieldOf returns the name and type of a field of a message. A Go struct that is inlined in JSON is a nested message in protobuf. Such a
// field has no name in JSON, so the name is "(inlined)", and the type has the fields of the nested message.
func fieldOf(t *schema.Type, number int) (string, *schema.Type) {
	if t == nil {
		return "", nil
	}
	var inner []schema.Field
	for _, f := range t.Fields {
		switch {
		case len(f.Inline) == 0 && f.Proto == number:
			return f.Name, f.Type
		case len(f.Inline) > 0 && f.Inline[0] == number:
			f.Inline = f.Inline[1:]
			inner = append(inner, f)
		}
	}
	if inner == nil {
		return "", nil
	}
	return "(inlined)", schema.NewStruct("", "", inner)
}

// messageOf returns the type whose fields are in a length-delimited field of type t, or nil when it is a plain value. A
// repeated field is written once per element.
func messageOf(t *schema.Type) *schema.Type {
	if t == nil {
		return nil
	}
	switch t.Kind {
	case schema.Struct:
		return t
	case schema.List:
		if t.Message {
			return message(field(1, "items", t.Elem))
		}
		return messageOf(t.Elem)
	case schema.Map:
		return message(field(1, "key", stringType), field(2, "value", t.Elem))
	}
	return special[t.Kind]
}

// field and message describe the messages that have no JSON form of their own.
func field(number int, name string, t *schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Proto: number}
}

func message(fields ...schema.Field) *schema.Type { return schema.NewStruct("", "", fields) }

var (
	stringType = &schema.Type{Kind: schema.String, GoType: "string"}
	intType    = &schema.Type{Kind: schema.Int, GoType: "int64", Bits: 64}
	bytesType  = &schema.Type{Kind: schema.Bytes, GoType: "[]byte"}

	timestamp = message(field(1, "seconds", intType), field(2, "nanos", intType))
	rawJSON   = message(field(1, "raw", stringType))

	intOrString = message(field(1, "type", intType), field(2, "intVal", intType), field(3, "strVal", stringType))

	// special are the messages of types that are one value in JSON (generated.proto of apimachinery).
	special = map[schema.Kind]*schema.Type{
		schema.Time:         timestamp,
		schema.MicroTime:    timestamp,
		schema.Duration:     message(field(1, "duration", intType)),
		schema.Quantity:     message(field(1, "string", stringType)),
		schema.IntOrString:  intOrString,
		schema.RawExtension: rawJSON,
		schema.Any:          rawJSON,
		schema.FieldsV1:     rawJSON,
	}

	// envelope is runtime.Unknown.
	envelope = message(
		field(1, "typeMeta", message(field(1, "apiVersion", stringType), field(2, "kind", stringType))),
		field(2, "raw", bytesType), field(3, "contentEncoding", stringType), field(4, "contentType", stringType))
)
