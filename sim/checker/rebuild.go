package checker

import (
	"cmp"
	"math"
	"slices"
)

// Rebuild makes the log of a history from lists, and from streams without selectors that begin at the revisions of the lists, one of each
// per resource. It is for servers whose store cannot be read. The steps of such commits are unknown. The streams must have been
// read to their end, because the log has only the commits that they delivered.
func Rebuild(h *History, lists []*Call, full []*Stream) {
	h.From, h.Before, h.Commits = math.MaxUint64, nil, nil
	for _, l := range lists {
		h.From = min(h.From, l.Rev)
		for _, o := range l.Objects {
			h.Before = append(h.Before, Commit{ID: ID{l.Scope.Resource, o.Namespace, o.Name}, Rev: o.Rev, Object: o})
		}
	}
	for _, s := range full {
		for ev := range visibleEvents(s.Events) {
			c := Commit{ID: ID{s.Scope.Resource, ev.Object.Namespace, ev.Object.Name}, Rev: ev.Rev}
			if ev.Type != Deleted {
				c.Object = ev.Object
			}
			h.Commits = append(h.Commits, c)
		}
	}
	slices.SortStableFunc(h.Commits, func(a, b Commit) int { return cmp.Compare(a.Rev, b.Rev) })
}
