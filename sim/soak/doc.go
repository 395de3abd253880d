// Package soak sends random requests to a simulated cluster with random disturbances, and checks the responses and
// events with package checker.
//
//	seed ─ Swarm ─▶ Config ─ Generate ─▶ [Op Op Op …] ─ Run ─▶ scenario.World ─▶ Result ─ checker.Check ─▶ violations
//	                                        ▲                                                           │
//	                                        └──────────── Shrink: fewer ops ◀───────────────────────────┘
//
// An op is an operation of package scenario: a client's request, or a disturbance of the cluster. It does not depend on
// earlier responses, so a list of ops stays valid if some are removed. Values from earlier responses (the base
// revision, a page, the revision from which a watch continues) are taken from the client's memory when the request is
// sent.
//
//	? create configmaps o2 --as c1 -n default --set metadata.labels.app=l1 --set 'data={"n":"7"}' &
//	? watch configmaps --as c2 -n default --bookmarks --rv seen --send-initial-events true --at-most 4 &
//	? list leases.coordination.k8s.io --as c1 -n kube-public --limit 2 --rv -20 --rv-match Exact &
//	lag 2 configmaps
//	fault on create configmaps probability=0.3 times=2 do commit-then-fail Timeout
//	pause 75s
//
// A run is single-threaded: the World calls the API servers directly and advances the clock itself. The same Config
// produces the same bytes, natively and as js/wasm; Result.Hash covers them. After the last op, all disturbances end
// and the clock advances until no events are pending; then streams must be complete. Result.Scenario returns the run as
// a file for kubesim run and the page.
package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trouble"
)

// Config configures a run. Swarm draws one from a seed.
type Config struct {
	Seed     uint64
	Ops      int
	Clients  int
	Replicas int
	Names    int // the number of objects per collection
	Work     []string
	Trouble  []string // the disturbances of the cluster
	Calm     int      // the average number of ops per disturbance
	Faults   int      // the maximum number of faults that the disturbance "fault" adds at once; they are Legal
	Extra    []string // faults in text form, added at the beginning
}

// work maps the verbs of clients to their weights.
var work = map[string]int{
	"create": 6, "update": 4, "patch": 4, "apply": 3, "delete": 3, "deletecollection": 1, "get": 3, "list": 4, "page": 3,
	"watch": 4, "stop": 1,
}

// troubles maps the disturbances of a cluster to their weights.
var troubles = map[string]int{
	"advance": 10, "compact": 2, "expire": 1, "hold": 1, "release": 2, "route": 2, "fault": 3, "clear": 1, "fork": 1, "reload": 1,
	trouble.Lag.Name: 3, trouble.Cut.Name: 1, trouble.Resume.Name: 4, trouble.Restart.Name: 1, trouble.Stall.Name: 1, trouble.Close.Name: 1,
}

// Swarm draws the Config of a run with the given number of ops: the verbs, the kinds of disturbances, and the numbers
// of clients, replicas and names. Runs with few kinds reach states that runs with all kinds do not reach.
func Swarm(seed uint64, ops int) Config {
	r := rand.New(rand.NewPCG(seed, 0x737761726d))
	c := Config{Seed: seed, Ops: ops, Clients: 1 + r.IntN(4), Replicas: 1 + r.IntN(3), Names: 1 + r.IntN(6),
		Calm: []int{2, 4, 8, 20}[r.IntN(4)], Faults: 1 + r.IntN(8)}
	c.Work = some(r, work, "create", "list", "watch")
	c.Trouble = some(r, troubles, "advance", trouble.Resume.Name, "release")
	return c
}

// some draws about three quarters of the names, including all names in always.
func some(r *rand.Rand, all map[string]int, always ...string) []string {
	var out []string
	for _, name := range object.SortedKeys(all) {
		if r.IntN(4) > 0 || slices.Contains(always, name) {
			out = append(out, name)
		}
	}
	return out
}

// String returns the Config in one line.
func (c Config) String() string {
	return fmt.Sprintf("seed %d: %d ops, %d clients, %d replicas, %d names; work %s; trouble 1/%d %s", c.Seed, c.Ops, c.Clients,
		c.Replicas, c.Names, strings.Join(c.Work, ","), c.Calm, strings.Join(c.Trouble, ","))
}
