package resource

// Looks is the order in which a kind's own validation looks at an object, one letter for each look. Before an update,
// every object's metadata is checked as that of a new object with any name, then as that of an update; the looks come
// on top, so causes repeat. After a create without errors, metadata is checked as that of an object with any name.
//
//	n  metadata as that of a new object, with the kind's rule for names
//	u  metadata as that of an update
//	v  what the kind asks for before another look at metadata: Strategy.ValidateFirst
//	k  what the kind itself asks for: Strategy.Validate or Strategy.ValidateUpdate
type Looks string

// Looks of most kinds.
const (
	LooksNew    Looks = "nk"
	LooksUpdate Looks = "uk"
)

// LooksOf returns the looks of the kind's own validation at an object.
func (s *Strategy) LooksOf(ctx *Context, update bool) Looks {
	switch {
	case s.Looks != nil:
		return s.Looks(ctx, update)
	case update:
		return LooksUpdate
	}
	return LooksNew
}
