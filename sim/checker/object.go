package checker

import "cmp"

// Monotone checks that no stream shows an older revision of an object after a newer one, and that a client's reads of
// the newest state do not go back to an older revision.
func Monotone(e *Evidence, report Report) {
	for _, v := range e.streams {
		last := map[ID]uint64{}
		for ev := range visibleEvents(v.Events) {
			id := v.id(ev)
			if ev.Rev < last[id] {
				report("%s: %s came after the object at %d", v, ev, last[id])
			}
			last[id] = max(last[id], ev.Rev)
		}
	}
	type reader struct {
		client string
		id     ID
	}
	last := map[reader]*Call{}
	for _, c := range e.Calls {
		if c.Verb != "get" || c.Version != "" || !c.Done() {
			continue
		}
		r := reader{c.Client, c.ID}
		if p := last[r]; p != nil && p.Returned < c.Called && c.Rev < p.Rev {
			report("%s: the object is at %d, %s had seen it at %d", c, c.Rev, p, p.Rev)
		}
		if p := last[r]; p == nil || c.Rev > p.Rev {
			last[r] = c
		}
	}
}

// eachObserved calls yield for each object that clients have received, with the stream or call that returned it. If
// deleted is true, the object is in its last state before the deletion, with the revision of the deletion.
func (e *Evidence) eachObserved(yield func(where string, id ID, o *Object, deleted bool)) {
	for _, v := range e.streams {
		for ev := range visibleEvents(v.Events) {
			yield(v.String()+": "+ev.String(), v.id(ev), ev.Object, ev.Type == Deleted)
		}
	}
	for _, c := range e.Calls {
		if c.Verb == "delete" || c.Verb == "deletecollection" || !c.Done() || e.removed(c) {
			continue
		}
		for _, o := range c.Objects {
			yield(c.String(), ID{cmp.Or(c.Resource, c.Scope.Resource), o.Namespace, o.Name}, o, false)
		}
	}
}

// removed reports whether a patch or update removed the last finalizer. The response then shows the object without the
// finalizer at the previous revision, a state that is not in the log.
func (e *Evidence) removed(c *Call) bool {
	if c.Verb != "patch" && c.Verb != "update" {
		return false
	}
	list := e.versions[c.ID]
	for i := range list {
		if list[i].rev == c.Rev && i+1 < len(list) && list[i+1].obj == nil {
			gone := e.commit(list[i+1].rev)
			return gone.Step == 0 || c.Called <= gone.Step && gone.Step <= c.Returned
		}
	}
	return false
}

// origin returns the object in the log that corresponds to a received object, or nil.
func (e *Evidence) origin(id ID, o *Object, deleted bool) *Object {
	rev := o.Rev
	if deleted {
		rev--
	}
	logged := e.at(id, rev)
	if logged == nil || !deleted && logged.Rev != o.Rev {
		return nil
	}
	return logged
}

// UIDConsistent checks that an object's uid in the log does not change and is not used for another object, and that
// clients have received the same uids.
func UIDConsistent(e *Evidence, report Report) {
	owner := map[string]ID{}
	for _, list := range [][]Commit{e.Before, e.Commits} {
		for i := range list {
			c := &list[i]
			if c.Object == nil {
				continue
			}
			before := e.at(c.ID, c.Rev-1)
			if id, taken := owner[c.Object.UID]; taken && (id != c.ID || before == nil) {
				report("%s at %d has the uid %s of %s", c.ID, c.Rev, c.Object.UID, id)
			}
			if before != nil && before.UID != c.Object.UID {
				report("%s changes its uid at %d from %s to %s", c.ID, c.Rev, before.UID, c.Object.UID)
			}
			owner[c.Object.UID] = c.ID
		}
	}
	e.eachObserved(func(where string, id ID, o *Object, deleted bool) {
		if logged := e.origin(id, o, deleted); logged != nil && logged.UID != o.UID {
			report("%s has the uid %s, not %s", where, o.UID, logged.UID)
		}
	})
}

// Faithful checks that each object that clients have received is in the log unchanged.
func Faithful(e *Evidence, report Report) {
	e.eachObserved(func(where string, id ID, o *Object, deleted bool) {
		switch logged := e.origin(id, o, deleted); {
		case logged == nil:
			report("%s: %s was never at %d", where, id, o.Rev)
		case logged.Digest != o.Digest:
			report("%s: %s at %d is another object than in the log", where, id, o.Rev)
		}
	})
}
