package soak

// Minimise returns a short list of the ops that still fails: it leaves out ever smaller parts as long as that is so
// (Zeller's delta debugging). runs is how often fails may be asked.
func Minimise(ops []Op, runs int, fails func([]Op) bool) []Op {
	parts := 2
	for len(ops) > 1 && runs > 0 {
		size := (len(ops) + parts - 1) / parts
		smaller := false
		for at := 0; at < len(ops) && runs > 0; {
			rest := append(append([]Op(nil), ops[:at]...), ops[min(at+size, len(ops)):]...)
			runs--
			if len(rest) > 0 && fails(rest) {
				ops, smaller = rest, true
			} else {
				at += size
			}
		}
		switch {
		case smaller:
			parts = max(parts-1, 2)
		case size == 1:
			return ops
		default:
			parts = min(parts*2, len(ops))
		}
	}
	return ops
}
