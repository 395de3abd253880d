package field

import "github.com/kubesim/kubesim/sim/object"

// place is the position of a cursor.
//
//	report ◀─┬───────────────┬──────────────────┐
//	         root ◀─ up ─ .containers ◀─ up ─ [0] ◀─ up ─ .name
//
// The stored value follows from the move that led here, unless stored is set.
type place struct {
	value  any    // nil if absent or null
	name   string // of the field or entry that move leads to
	up     *place
	other  *place // of stored: see there
	report *report
	move   move // how it was come to from up
	stored stored
}

// A move leads from an object to a field or an entry, or from a list to an item.
type move uint32

const (
	stay    move = iota // to the same place
	toField             // .name
	toKey               // [name]
	toItem              // [0]; the place above it leads to the following items
)

// stored is how the stored value of a place is found.
type stored uint8

const (
	alike     stored = iota // by the same move from the stored value of up
	nothing                 // nothing to compare with, as on create, and in the items of lists
	given                   // the value of other
	elsewhere               // the stored value of other
	orEmpty                 // as alike, but an absent value is ""
	orZero                  // as alike, but an absent value is 0
)

// unknown is the stored value of a place without anything to compare with.
type unknown struct{}

// old returns the stored value of a place, or nil if it is absent or null.
func (p *place) old() any {
	switch p.stored {
	case nothing:
		return unknown{}
	case given:
		return p.other.value
	case elsewhere:
		return p.other.old()
	}
	old := p.up.old()
	if p.move != stay {
		switch m := old.(type) {
		case map[string]any:
			old = m[p.name]
		case unknown:
		default:
			old = nil
		}
	}
	switch {
	case old != nil:
	case p.stored == orEmpty:
		return ""
	case p.stored == orZero:
		return int64(0)
	}
	return old
}

// updates reports whether the stored value of a place is known.
func (p *place) updates() bool {
	switch p.stored {
	case nothing:
		return false
	case given:
		return true
	case elsewhere:
		return p.other.updates()
	}
	return p.up.updates()
}

// store sets the stored value of a place; nil means absent.
func (p *place) store(was object.Object) {
	if was == nil {
		p.stored = nothing
		return
	}
	p.stored, p.other = given, p.report.place(nil)
	p.other.value = map[string]any(was)
}

func (p *place) path() Path {
	if p.up == nil {
		return Root(p.report.base)
	}
	switch up := p.up.path(); p.move {
	case stay:
		return up
	case toField:
		return up.Child(p.name)
	case toKey:
		return up.Key(p.name)
	default:
		return up.Index(int(p.move - toItem))
	}
}

// report is shared by all cursors that come from one: the errors, and the memory of places. Unused memory is empty.
type report struct {
	errs   ErrorList
	tag    tag    // of the rule that runs
	base   string // the path of the first place
	places []place
}

const (
	placesMin = 16
	placesMax = 1 << 12 // a larger report is not kept
)

// place returns a place for a value.
func (r *report) place(up *place) *place {
	n := len(r.places)
	if n == cap(r.places) {
		r.places, n = make([]place, 0, max(placesMin, 2*n)), 0 // cursors keep the old places
	}
	r.places = r.places[:n+1]
	p := &r.places[n]
	p.report, p.up = r, up
	return p
}
