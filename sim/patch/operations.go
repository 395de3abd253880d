package patch

// checkOperations returns the repeated and unknown members of a JSON patch's operations, or the first error that
// decoding them into the server's struct would give.
func checkOperations(patch []byte) (strict []string, err error) {
	if err := checkSyntax(patch); err != nil {
		return nil, err
	}
	switch first(patch) {
	case 'n':
		return nil, nil
	case '[':
	default:
		return nil, typeError(patch, "value of type []handlers.jsonPatchOp")
	}
	r := &reader{text: patch}
	r.each(space(patch, 0), func(_ string, i int) int { return r.operation(i) })
	for i := range r.strict {
		r.strict[i] = "json patch " + r.strict[i]
	}
	return r.strict, r.err
}

// operation reads one element of a JSON patch.
func (r *reader) operation(i int) (after int) {
	if c := r.text[i]; c != '{' {
		if c != 'n' {
			r.fail(typeError(r.text[i:], "value of type handlers.jsonPatchOp"))
		}
		return end(r.text, i)
	}
	had := map[string]bool{}
	return r.each(i, func(key string, i int) (after int) {
		if had[key] {
			r.report("duplicate field ")
		}
		switch key {
		case "op", "path", "from":
			had[key] = true
			if c := r.text[i]; c != '"' && c != 'n' {
				r.fail(typeError(r.text[i:], "struct field jsonPatchOp."+key+" of type string"))
			}
		case "value":
			had[key] = true
			r.field = "jsonPatchOp.value"
			_, after = r.value(i)
			r.field = ""
			return after
		default:
			r.report("unknown field ")
		}
		return end(r.text, i)
	})
}
