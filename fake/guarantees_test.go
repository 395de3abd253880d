package fake_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// TestWatchGuarantees checks that over random histories of three replicas that lag, are cut off and resume, every watch
// delivers each commit after its beginning exactly once and in order, until the watch ends.
func TestWatchGuarantees(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { guarantees(t, seed) })
	}
}

// follower is a watch of a replica that begins after a revision.
type follower struct {
	*stream
	after uint64
	n     int // the replica
}

func guarantees(t *testing.T, seed uint64) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Replicas: make([]fake.ReplicaOptions, 3)})
	random := rand.New(rand.NewPCG(seed, 1))
	writer := guest{t, srv, 1, "writer"}
	var followers []follower
	var commits []uint64
	exists := map[string]bool{}
	for range 200 {
		n := 1 + random.IntN(3)
		writer.n = n
		name := string(rune('a' + random.IntN(5)))
		switch random.IntN(12) {
		case 0:
			srv.Replica(n).Lag()
		case 1:
			srv.Replica(n).Lag("configmaps")
		case 2:
			srv.Replica(n).Cut()
		case 3, 4:
			srv.Replica(n).Resume()
		case 5:
			after := srv.Revision()
			followers = append(followers, follower{guest{t, srv, n, "w"}.watch(collection + "?watch=1&resourceVersion=" + rev(after)), after, n})
		default:
			r := [3]string{"POST", "", `{"metadata":{"name":"` + name + `"}}`}
			if exists[name] {
				r = [3]string{"DELETE", "/" + name, ""}
			}
			if code, _ := writer.do(r[0], collection+r[1], r[2]); code < 300 {
				exists[name] = !exists[name]
				commits = append(commits, srv.Revision())
			}
		}
	}
	for n := range 3 {
		srv.Replica(n + 1).Resume()
		srv.Replica(n + 1).CloseWatches()
	}
	for _, f := range followers {
		var want, got []uint64
		for _, c := range commits {
			if c > f.after {
				want = append(want, c)
			}
		}
		for e, ok := f.next(); ok; e, ok = f.next() {
			got = append(got, uint64(number(t, object.Object(e.Object).ResourceVersion())))
		}
		is.Equal(got, want) // ordered, unique, without a gap
	}
}
