package scenario

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/config"
)

// do runs lines and returns their results.
func do(t *testing.T, w *World, lines ...string) []Result {
	t.Helper()
	var out []Result
	for _, line := range lines {
		op, err := Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r, err := w.Do(op)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, r)
	}
	return out
}

func world(t *testing.T, o Options) *World {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// holds fails the test if a condition does not hold.
func holds(t *testing.T, w *World, conditions ...string) {
	t.Helper()
	for _, c := range conditions {
		if ok, why, err := w.Holds(c); !ok {
			t.Errorf("%s: %s (%v)", c, why, err)
		}
	}
}

// TestWaiting checks that a read that has to wait advances the clock. With & it does not, and gets its response when
// time has passed.
func TestWaiting(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	r := do(t, w, "! list cm --rv 9999")
	is.Equal(r[0].Lines[0], "-- 00:00:03 (+3s)")
	is.True(strings.Contains(r[0].Lines[1], "504 Timeout: Timeout: Too large resource version: 9999, current: 4004")) // after 3 s
	r = do(t, w, "list cm --rv 4005 &", "create cm a")
	is.True(r[0].Waiting)
	is.Equal(len(r[1].Lines), 2) // the list also gets its response at the commit
	is.Equal(r[1].Lines[0], "   you GET /api/v1/namespaces/default/configmaps?resourceVersion=4005 → 200 OK, 1 item: a; rv 4005")
}

// TestFrames checks that every frame has a number and a lane, and a cause before it.
func TestFrames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	do(t, w, "replicas 2", "informer i configmaps", "watch cm --name w --via 2 --rv 0", "create cm a --as alice", "tick 2m", "compact", "stop w")
	chain := map[Kind]Kind{StoreCommit: HTTPRequest, CacheApply: StoreCommit, WatchEvent: StoreCommit, HTTPResponse: HTTPRequest}
	frames := w.Frames(0)
	kinds := map[Kind]int{}
	for i, f := range frames {
		is.Equal(f.N, uint64(i+1)) // without gaps
		is.True(f.Cause < f.N)     // causes come before
		is.True(f.Lane != "")
		kinds[f.Kind]++
		if cause, ok := chain[f.Kind]; ok && f.Cause != 0 {
			is.Equal(frames[f.Cause-1].Kind, cause) // the causes
		}
	}
	is.Equal(kinds[CacheApply], 2)     // both replicas apply the commit
	is.Equal(kinds[WatchEvent], 2)     // both watches
	is.True(kinds[WatchBookmark] >= 3) // two minutes pass
	is.Equal(kinds[WatchClose], 1)
	is.Equal(kinds[StoreCompact], 1)
	is.Equal(string(frames[0].AppendJSON(nil)), `{"n":1,"vt":1767225600000,"rv":"4004","lane":"client/i","kind":"http.req","op":2,"ref":"1",`+
		`"text":"`+frames[0].Text[:4]+strings.ReplaceAll(frames[0].Text[4:], "&", `\u0026`)+`","verb":"GET","replica":1}`)
}

// TestRefused checks that an invalid operation is rejected and has no effect.
func TestRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	do(t, w, "create cm a", "watch cm --name w")
	hash, n := w.Hash(), len(w.Log())
	for line, want := range map[string]string{ // the order does not matter: none changes anything
		"seed 3":                       "seed configures the world: put it before all other lines",
		"get cmm":                      `replica 1 serves no resource "cmm"; did you mean cm?`,
		"get po --via 2":               "there is no replica 2: the number of replicas is 1",
		"create -f x.yaml":             `there is no file "x.yaml", nor any other; a scenario has files after lines such as -- x.yaml --`,
		"list cm --continue last":      "you has not read a page that another one follows; read one with --limit first",
		"watch cm --name w":            "a watch w already exists; choose another --name",
		"stop v":                       `there is no watch "v"; there are w`,
		"step op":                      `there is no actor "op", nor any other; begin with informer, pager or controller`,
		"get cm $x":                    "$x is not set; set it before: let x = .metadata.resourceVersion",
		"fault on x pods do fail Nope": "",
		"restore 1":                    "",
	} {
		op, err := Parse(line)
		is.NoErr(err)
		_, err = w.Do(op)
		is.True(err != nil) // rejected
		if want != "" {
			is.Equal(err.Error(), want)
		}
	}
	is.Equal(w.Hash(), hash)
	is.Equal(len(w.Log()), n)
}

// TestStanding checks that never evaluates its condition after every commit, even in the middle of an operation.
func TestStanding(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	do(t, w, "create cm a", "create cm b", "create cm c", "never count cm == 2", "once cm/a absent do create cm d")
	r := do(t, w, "delete cm --all")
	is.Equal(r[0].Failure, "this must never hold: count cm == 2: count cm is 2") // it held at only one revision
	holds(t, w, "cm/d exists", "count cm == 1")
}

// FuzzWorld checks that the same log produces the same frames, and that running a log in two parts is the same as
// running it at once.
func FuzzWorld(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(30))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		log := randomLog(seed, int(n))
		run := func() *World {
			w := world(t, Options{Cluster: config.Cluster{Seed: seed}, Files: map[string]string{"r.yaml": "rules: [{for: configmaps, when: .data.seen absent, " +
				`do: "patch configmaps {{name}} -p '{data: {seen: yes}}'"}]`}})
			for _, op := range log {
				if _, err := w.Do(op); err != nil {
					continue // the operation is invalid here, and is skipped in all runs
				}
			}
			return w
		}
		a, b := run(), run()
		if a.Hash() != b.Hash() {
			t.Fatalf("two runs differ: %s", firstDifference(a.Frames(0), b.Frames(0)))
		}
		c := world(t, a.options)
		for _, op := range a.Log() {
			if _, err := c.Do(op); err != nil {
				t.Fatalf("%s is in the log and is refused: %v", op, err)
			}
		}
		if a.Hash() != c.Hash() {
			t.Fatalf("the log gives another world: %s", firstDifference(a.Frames(0), c.Frames(0)))
		}
	})
}

// randomLog draws operations.
func randomLog(seed uint64, n int) []Op {
	r := rand.New(rand.NewPCG(seed, 1))
	lines := []string{"create cm a", "create cm b --as bob", "delete cm a", "delete cm --all", "list cm --rv 0", "list cm --limit 1", "list cm --continue last &",
		"list cm --rv 4020 &", "watch cm --rv 4004", "watch cm --initial-events --via 2", "informer i cm", "informer j cm --list-watch", "pager p cm --limit 1",
		"controller k -f r.yaml", "step p", "step k", "crash i", "start i", "crash k", "start k", "tick 3s", "tick next", "tick 1m", "tick quiet", "settle",
		"compact", "expire", "lag 2", "cut 2", "resume 2", "restart 1", "restart 2", "hold i", "release i", "hold k", "release k", "route i 2", "route k 2", "close 1",
		"stall 2 45s", "restore 4006", "fault on update configmaps times=2 do fail Conflict", "fault on watch configmaps do close", "fault clear",
		"patch cm b -p '{data: {k: v}}'", "jump k 1h", "once cm/b exists do crash i"}
	var out []Op
	for _, line := range append([]string{"replicas 2"}, make([]string, n)...) {
		if line == "" {
			line = lines[r.IntN(len(lines))]
		}
		if op, err := Parse(line); err == nil {
			out = append(out, op)
		}
	}
	return out
}

// TestFaultsAtPoints checks that a fault can act on the cluster at each point, even while a response or an event is
// being sent.
func TestFaultsAtPoints(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"request.arrived", "request.decided", "request.validated", "store.committed", "replica.applied",
		"watch.sent", "request.answered"} {
		t.Run(point, func(t *testing.T) {
			is := is.New(t)
			w := world(t, Options{Cluster: config.Cluster{Seed: 1}})
			verb := "create"
			if point == "watch.sent" {
				verb = "watch"
			}
			do(t, w, "create configmap a", "watch configmaps --name w",
				"fault on "+verb+" configmaps at="+point+" times=1 do compact",
				"fault on "+verb+" configmaps at="+point+" times=1 do lag 1",
				"create configmap b", "create configmap c")
			is.True(w.Cluster().Compacted() > 0)                            // the store is compacted
			is.Equal(w.Cluster().Replica(1).State().Lagging, []string{"*"}) // the replica lags
		})
	}
}
