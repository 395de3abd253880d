package campaign

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/fault"
)

// class is a kind of write of a client in the run without faults. Plans draw a class first and then one of its writes, so that a
// single update of a status is drawn as often as one of hundreds of creates.
type class struct {
	shape
	writes []place // in order
}

// place is the place of a write in a run.
type place struct {
	nth int           // the number of the write among those of its client, counted from 1
	key string        // of the object
	at  time.Duration // virtual time since the beginning of the run
}

// classes returns the classes of the writes that steps count, sorted.
func classes(writes []Write) (list []class) {
	sent := map[string]int{}
	for i := range writes {
		w := &writes[i]
		if strings.HasPrefix(w.What, "events") || strings.HasPrefix(w.What, "leases.") {
			continue
		}
		sent[w.Client]++
		at := slices.IndexFunc(list, func(k class) bool { return k.shape == w.shape() })
		if at < 0 {
			at = len(list)
			list = append(list, class{shape: w.shape()})
		}
		list[at].writes = append(list[at].writes, place{sent[w.Client], w.Key, w.At})
	}
	slices.SortFunc(list, func(a, b class) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.resource, b.resource), cmp.Compare(a.verb, b.verb))
	})
	return list
}

// object returns the resource of the written objects, without a subresource.
func (k *class) object() string {
	name, _, _ := strings.Cut(k.resource, "/")
	return name
}

// of returns the classes of a client.
func of(client string, all []class) []class {
	return slices.DeleteFunc(slices.Clone(all), func(k class) bool { return k.client != client })
}

// draw draws the index of a write: the first, the last or any other one, with equal probability.
func (k *class) draw(r *rand.Rand) int {
	switch r.IntN(3) {
	case 0:
		return 0
	case 1:
		return len(k.writes) - 1
	}
	return r.IntN(len(k.writes))
}

// longest is the maximum number of consecutive writes that fail.
const longest = 5

// burst draws failures of consecutive writes of a class, or of those of one object. The errors have no Retry-After header, because
// the client libraries would repeat the requests.
func (c *Campaign) burst(r *rand.Rand) Item {
	k := &c.classes[r.IntN(len(c.classes))]
	i := k.draw(r)
	t := fault.On(k.verb, k.resource).Client(k.client)
	if key := k.writes[i].key; r.IntN(3) == 0 && key != "" {
		namespace, name, namespaced := strings.Cut(key, "/")
		if !namespaced {
			namespace, name = "", namespace
		}
		earlier := 0
		for _, w := range k.writes[:i] {
			if w.key == key {
				earlier++
			}
		}
		t, i = t.Namespace(namespace).Name(name), earlier
	}
	t = t.Nth(i + 1).Every(1).Times(1 + r.IntN(longest))
	faults := []fault.Fault{t.Timeout(), t.Unavailable(), t.CommitThenFail(fault.Timeout)}
	if k.verb == "update" || k.verb == "patch" {
		faults = append(faults, t.Conflict())
	}
	if c.limits.Level >= fault.Degraded {
		faults = append(faults, t.Internal())
	}
	return Item{Fault: &faults[r.IntN(len(faults))]}
}
