package patch

import (
	"encoding/json"
	"strconv"
)

// checkOperations returns the repeated and unknown members of a JSON patch's operations, or the first error that
// decoding them into the server's struct would give.
func checkOperations(patch []byte) (strict []string, err error) {
	r, err := newReader(patch)
	if err != nil {
		return nil, err
	}
	switch t := r.token().(type) {
	case nil:
		return nil, nil
	case json.Delim:
		if t == '{' {
			return nil, typeError(nil, "value of type []handlers.jsonPatchOp")
		}
	default:
		return nil, typeError(valueOf(t), "value of type []handlers.jsonPatchOp")
	}
	for i := 0; r.dec.More(); i++ {
		r.push("[" + strconv.Itoa(i) + "]")
		r.operation()
		r.pop()
	}
	if r.err != nil {
		return nil, r.err
	}
	for i := range r.strict {
		r.strict[i] = "json patch " + r.strict[i]
	}
	return r.strict, nil
}

// operation reads one element of a JSON patch.
func (r *reader) operation() {
	switch t := r.token().(type) {
	case nil:
		return
	case json.Delim:
		if t == '[' {
			r.quietly(func() any { return r.array() })
			r.fail(typeError([]any{}, "value of type handlers.jsonPatchOp"))
			return
		}
	default:
		r.fail(typeError(valueOf(t), "value of type handlers.jsonPatchOp"))
		return
	}
	had := map[string]bool{}
	for r.dec.More() {
		key := r.token().(string)
		r.pushKey(key)
		if had[key] {
			r.report("duplicate field ")
		}
		switch key {
		case "op", "path", "from":
			had[key] = true
			v := r.quietly(r.value)
			if _, ok := v.(string); !ok && v != nil {
				r.fail(typeError(v, "struct field jsonPatchOp."+key+" of type string"))
			}
		case "value":
			had[key] = true
			r.field = "jsonPatchOp.value"
			r.value()
			r.field = ""
		default:
			r.report("unknown field ")
			r.quietly(r.value)
		}
		r.pop()
	}
	r.token()
}

// quietly reads a value without reporting anything about it.
func (r *reader) quietly(read func() any) any {
	strict, err := r.strict, r.err
	v := read()
	r.strict, r.err = strict, err
	return v
}

// valueOf turns a token into a value of package object, as far as its type goes.
func valueOf(t json.Token) any {
	if _, ok := t.(json.Number); ok {
		return int64(0)
	}
	return t
}
