package quantity

// Of reads a quantity that decoding has checked; anything else is 0.
func Of(v any) Quantity {
	text, _ := v.(string)
	q, err := Parse(text)
	if err != nil {
		return Quantity{}
	}
	return q
}
