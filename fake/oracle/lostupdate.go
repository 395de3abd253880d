package oracle

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// lostUpdates records which revision of each object each client has seen, and checks the writes that do not specify the
// revision on which they are based.
//
//	client A reads revision 7 ──────────────────────────── A patches spec.size, knowing only revision 7
//	                   client B writes spec.size, revision 8 ┘  B's change is lost
type lostUpdates struct {
	clients []string
	known   map[reader]uint64     // the newest revision that a client has seen of an object, by its key in the trace
	lists   map[reader]uint64     // the revision of the newest list that a client has seen, by namespace
	past    map[string][]*version // the states of each written object, by its key in the store
}

type reader struct{ client, resource, key string }

// version is a state of an object and the client that wrote it.
type version struct {
	item *resource.Item
	by   string
}

// versionsMax is the maximum number of states kept per object.
const versionsMax = 64

// NoLostUpdates makes a test fail if a client overwrites another client's change without having seen it. This happens
// if the client has read an older state of the object, and then changes a field that has changed since, by a patch or
// by an update without a resourceVersion. The failure names both clients and the lost change. Writes with a
// resourceVersion cannot lose updates, because the server rejects them on a conflict, and server-side apply is not
// based on a state that was read. clients are prefixes of the User-Agents whose writes are checked; if there are none,
// all writes are checked.
func (o *Oracles) NoLostUpdates(clients ...string) {
	x := &lostUpdates{clients: clients, known: map[reader]uint64{}, lists: map[reader]uint64{}, past: map[string][]*version{}}
	o.observer.begun().promise(&promise{name: "a lost update", wrote: x.wrote, answer: x.answered, event: x.delivered})
}

// delivered records the revision of an event that the watch's client has received.
func (x *lostUpdates) delivered(watch *apiserver.Exchange, eventType, key string, rev uint64) {
	if eventType == "ADDED" || eventType == "MODIFIED" {
		x.learn(watch, key, rev)
	}
}

// answered records the revision that a client has received in a response.
func (x *lostUpdates) answered(r *observe.Reply) error {
	switch {
	case r.AnswerRev == 0 || r.Code >= 300:
	case r.Verb == "list":
		at := reader{r.UserAgent, trace.What(r.Group, r.Resource, "", ""), r.Namespace}
		x.lists[at] = max(x.lists[at], r.AnswerRev)
	default:
		x.learn(r.Exchange, r.Key, r.AnswerRev)
	}
	return nil
}

func (x *lostUpdates) learn(e *apiserver.Exchange, key string, rev uint64) {
	at := reader{e.UserAgent, trace.What(e.Group, e.Resource, "", ""), key}
	x.known[at] = max(x.known[at], rev)
}

// wrote checks a commit and records the new state.
func (x *lostUpdates) wrote(view View) error {
	w := view.Write
	past := x.past[w.key]
	if len(past) == 0 && w.before != nil {
		past = append(past, &version{item: w.before})
	}
	err := x.check(w, past)
	if w.after == nil {
		delete(x.past, w.key)
		return err
	}
	x.past[w.key] = append(past[max(0, len(past)-versionsMax+1):], &version{w.after, w.Client})
	return err
}

// check compares the changes of a write with the changes that other clients have made since the writer read the object.
// It returns an error if the write overwrites one of them without a resourceVersion.
func (x *lostUpdates) check(w *Write, past []*version) error {
	e := w.by.Exchange
	if e == nil || w.before == nil || w.after == nil || !x.counts(w.Client) || (w.Verb != "update" && w.Verb != "patch") ||
		e.Applies() || e.Conditional() {
		return nil
	}
	base, since := x.base(w, past)
	if base == nil {
		return nil
	}
	var others []string
	for _, v := range since {
		if v.by != w.Client {
			others = append(others, clientName(v.by))
		}
	}
	if len(others) == 0 {
		return nil
	}
	theirs := object.Diff(base.Object(), w.Before())
	for _, mine := range object.Diff(w.Before(), w.After()) {
		for _, c := range theirs {
			if !trace.Routine(mine.Path) && overlap(mine.Path, c.Path) {
				return fmt.Errorf("%s has read revision %d of %s %s/%s and overwrites a later write by %s, without a resourceVersion:\n"+
					"    lost: %s", clientName(w.Client), base.Rev, w.Resource, w.Namespace, w.Name, others[len(others)-1], c)
			}
		}
	}
	return nil
}

func (x *lostUpdates) counts(client string) bool {
	for _, prefix := range x.clients {
		if strings.HasPrefix(client, prefix) {
			return true
		}
	}
	return len(x.clients) == 0
}

// base returns the state that the writer has seen, and the later states. If the writer has not read the object or has
// seen the newest state, base returns nil.
func (x *lostUpdates) base(w *Write, past []*version) (base *resource.Item, since []*version) {
	known := x.known[reader{w.Client, w.Resource, trace.Key(w.Namespace, w.Name)}]
	known = max(known, x.lists[reader{w.Client, w.Resource, w.Namespace}], x.lists[reader{w.Client, w.Resource, ""}])
	for i, v := range past {
		if v.item.Rev <= known {
			base, since = v.item, past[i+1:]
		}
	}
	if len(since) == 0 {
		return nil, nil
	}
	return base, since
}

// overlap reports whether the paths are equal or one is below the other.
func overlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
