package field

import "github.com/kubesim/kubesim/sim/object"

// place is the position of a cursor.
//
//	report ◀─┬───────────────┬──────────────────┐
//	         root ◀─ up ─ .containers ◀─ up ─ [0] ◀─ up ─ .name
//
// Unless the field stored specifies something else, the stored value is reached by the same move from the stored value of up.
type place struct {
	value  any    // nil if missing or null
	name   string // name of the field or entry that move leads to
	up     *place
	other  *place // another place, if stored refers to one
	report *report
	move   move // leads from up to this place
	stored stored
}

// move leads from an object to a field or an entry, or from a list to an item.
type move uint32

const (
	stay    move = iota // to the same place
	toField             // .name
	toKey               // [name]
	toItem              // [0]; toItem+i leads to item i
)

// stored determines how the stored value of a place is found.
type stored uint8

const (
	alike     stored = iota // by the same move from the stored value of up
	nothing                 // there is nothing to compare with, as on create and for list items
	given                   // the value of other
	elsewhere               // the stored value of other
	orEmpty                 // like alike, but a missing value is ""
	orZero                  // like alike, but a missing value is 0
)

// unknown represents the stored value of a place if there is nothing to compare with.
type unknown struct{}

// old returns the stored value of a place, or nil if it is missing or null.
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

// updates reports whether the place has a stored value to compare with.
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

// store sets the stored value of a place. If was is nil, the place has no stored value.
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

// report contains the errors, and the memory for places. All cursors that are derived from one cursor share a report.
// Unused memory is zeroed.
type report struct {
	errs   ErrorList
	tag    tag    // tag of the rule that is being applied
	base   string // path of the first place
	places []place
}

const (
	placesMin = 16
	placesMax = 1 << 12 // the memory of a report with more places is not reused
)

// place allocates a place whose parent is up.
func (r *report) place(up *place) *place {
	n := len(r.places)
	if n == cap(r.places) {
		r.places, n = make([]place, 0, max(placesMin, 2*n)), 0 // cursors keep referring to the old places
	}
	r.places = r.places[:n+1]
	p := &r.places[n]
	p.report, p.up = r, up
	return p
}
