package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/observe"
)

// evidence is the number of recent writes in the report of a livelock.
const evidence = 8

// instant counts the writes at one instant of the server's clock: the writes of each object, and how often a client
// creates objects of a resource after deleting some. The second count detects a loop whose objects get new names.
type instant struct {
	at      time.Time
	objects map[string]int
	circles map[circle]*recreations
	last    []*Write // the last writes of the suspected livelock
	key     string   // the object or circle with too many writes, or ""
	over    bool     // the livelock has been reported
}

type circle struct{ client, storage, namespace string }

// recreations counts creations after a deletion.
type recreations struct {
	n       int
	deleted bool
}

// wrote counts a write. When a count reaches limit, it returns the report of a livelock. Otherwise it returns "". A
// negative limit means that there is no limit.
func (x *instant) wrote(e *commit.Commit, by *observe.Actor, record uint64, limit int) (report string) {
	if limit < 0 || x.over || e.Definition == nil {
		return ""
	}
	if x.objects == nil || !e.At.Equal(x.at) {
		*x = instant{at: e.At, objects: map[string]int{}, circles: map[circle]*recreations{}}
	}
	x.objects[e.Key]++
	n, key := x.objects[e.Key], e.Key
	c := circle{by.Client, e.Storage, e.Namespace}
	switch t := x.circles[c]; {
	case t == nil && e.Deleted():
		x.circles[c] = &recreations{deleted: true}
	case t != nil && e.Deleted():
		t.deleted = true
	case t != nil && e.Created() && t.deleted:
		t.deleted = false
		t.n++
	}
	if t := x.circles[c]; t != nil && t.n > n {
		n, key = t.n, strings.Join([]string{c.client, c.storage, c.namespace}, " ")
	}
	if n <= limit-evidence {
		return ""
	}
	if x.key == "" || x.key == key {
		x.key = key
		x.last = append(x.last[max(0, len(x.last)-evidence+1):], newWrite(e, by, record))
	}
	if n < limit || x.key != key {
		return ""
	}
	x.over = true
	return x.report(n)
}

// report describes the last writes and their clients.
func (x *instant) report(n int) string {
	var b strings.Builder
	w := x.last[len(x.last)-1]
	fmt.Fprintf(&b, "%s %s/%s was written %d times while time stood still at %s", w.Resource, w.Namespace, w.Name, n, stamp(x.at))
	var names []string
	for _, w := range slices.Backward(x.last) {
		who := fmt.Sprint(w.author(), w.Verb, w.Subresource)
		if slices.Contains(names, who) || len(names) == 2 {
			continue
		}
		names = append(names, who)
		fmt.Fprintf(&b, "\n    %s\n%s", w, indented(w.Diff(), "        "))
	}
	if len(names) == 1 && len(x.last) > 1 {
		w = x.last[len(x.last)-2]
		fmt.Fprintf(&b, "\n    %s\n%s", w, indented(w.Diff(), "        "))
	}
	b.WriteString("\n    Their writes get 429 from now on, so that time can go on (Options.MaxWritesPerInstant).")
	return b.String()
}

// actors returns the clients of the last writes.
func (x *instant) actors() (all []*observe.Actor) {
	for _, w := range x.last {
		if !slices.ContainsFunc(all, func(p *observe.Actor) bool { return p.Client == w.by.Client && p.Own == w.by.Own }) {
			all = append(all, w.by)
		}
	}
	return all
}

// stamp formats a time of the server's clock.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z") }
