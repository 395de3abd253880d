package checker

import "slices"

// Accounted checks that each successful write is in the log, that no two creates claim the same commit, and that each
// commit is in a response or can be the result of a write whose response does not contain it.
func Accounted(e *Evidence, report Report) {
	claimed := map[uint64]*Call{}
	for _, c := range e.Calls {
		if !c.Done() || c.Rev == 0 || c.Verb != "create" && c.Verb != "update" && c.Verb != "patch" {
			continue
		}
		made := e.commit(c.Rev)
		switch {
		case c.Rev <= e.From:
		case made == nil || made.ID != c.ID || made.Object == nil:
			report("%s: there is no commit %d of it", c, c.Rev)
		case c.Verb == "create" && e.at(c.ID, c.Rev-1) != nil:
			report("%s: at %d it was there already", c, c.Rev)
		case c.Verb == "create" && claimed[c.Rev] != nil && claimed[c.Rev].Verb == "create":
			report("%s and %s made one object, at %d", c, claimed[c.Rev], c.Rev)
		case made.Step != 0 && c.Verb == "create" && (made.Step < c.Called || made.Step > c.Returned):
			report("%s: its commit %d was not made between request and answer", c, c.Rev)
		}
		if claimed[c.Rev] == nil || c.Verb == "create" {
			claimed[c.Rev] = c
		}
	}
	by := map[ID][]*Call{}
	var wide []*Call
	for _, c := range e.Calls {
		switch {
		case c.Verb == "deletecollection":
			wide = append(wide, c)
		case c.Write():
			by[c.ID] = append(by[c.ID], c)
		}
	}
	for i := range e.Commits {
		c := &e.Commits[i]
		if claimed[c.Rev] == nil && !e.explained(c, by[c.ID], wide) {
			report("commit %d of %s: no write was answered with it, and none is without an answer", c.Rev, c.ID)
		}
	}
}

// explained reports whether one of the calls may have caused a commit that no response contains.
func (e *Evidence) explained(c *Commit, calls, wide []*Call) bool {
	during := func(w *Call) bool {
		return c.Step == 0 || w.Called <= c.Step && (w.Returned == 0 || c.Step <= w.Returned)
	}
	if c.Object == nil && slices.Contains(e.Expiring, c.Resource) {
		return true
	}
	return slices.ContainsFunc(calls, func(w *Call) bool { // a patch or update that removes the last finalizer also removes the object
		return during(w) && (w.Unknown() || w.Done() && (ends(c) && w.Verb == "delete" || c.Object == nil && w.Verb != "create"))
	}) || slices.ContainsFunc(wide, func(w *Call) bool {
		return ends(c) && during(w) && w.Scope.Resource == c.Resource && (w.Unknown() || w.Done())
	})
}

// ends reports whether a commit deletes an object or begins its deletion.
func ends(c *Commit) bool { return c.Object == nil || c.Object.Terminating }

// NoLostUpdate checks that a write based on a revision directly follows that revision, without another write in
// between. It skips a PUT that created its object: kinds that allow this ignore the revision.
func NoLostUpdate(e *Evidence, report Report) {
	for _, c := range e.Calls {
		switch {
		case c.Based == 0 || !c.Done() || c.Code == 201 || c.Rev == c.Based:
		case c.Verb == "delete":
			e.deletedFrom(report, c)
		case c.Verb != "update" && c.Verb != "patch":
		default:
			if before := e.at(c.ID, c.Rev-1); before == nil {
				report("%s: it is based on %d and made %d of an object that was not there", c, c.Based, c.Rev)
			} else if before.Rev != c.Based {
				report("%s: it is based on %d and made %d, over %d of another client", c, c.Based, c.Rev, before.Rev)
			}
		}
	}
}

// deletedFrom checks that a delete deleted, or began to delete, the object at the revision that it specified.
func (e *Evidence) deletedFrom(report Report, c *Call) {
	for i, v := range e.versions[c.ID] {
		if v.rev != c.Based {
			continue
		}
		if v.obj != nil && v.obj.Terminating {
			return // the deletion had begun earlier
		}
		if i+1 < len(e.versions[c.ID]) {
			if next := e.versions[c.ID][i+1].obj; next == nil || next.Terminating {
				return
			}
		}
	}
	report("%s: it is to remove the object at %d, which was never removed", c, c.Based)
}
