package pack

// Size returns the number of bytes of the text or, if it is packed, of its instructions.
func (t *Text) Size() int { return len(t.form.Load().bytes) }
