package scheduler

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
)

func aPod(name string, priority int64) *pod {
	return &pod{Key: controller.Key{Namespace: "default", Name: name}, uid: name, template: &template{priority: priority}}
}

// TestQueueAsPrinted runs random operations on two queues, one of which is encoded and decoded after each operation. Both must
// return the same pods.
func TestQueueAsPrinted(t *testing.T) {
	for seed := range uint64(30) {
		is := is.New(t)
		r := rand.New(rand.NewPCG(seed, 1))
		now := clock.Epoch()
		var a, b queue
		for i := range 200 {
			name := fmt.Sprint("p", r.IntN(12))
			op, wait := r.IntN(8), r.IntN(3)
			do := func(q *queue) string {
				x := q.get(aPod(name, 0).Key)
				switch {
				case op < 3 && x == nil:
					q.add(aPod(name, int64(i%3)), now)
				case op == 3:
					q.remove(aPod(name, 0).Key)
				case op == 4 && x != nil:
					q.nominate(x, fmt.Sprint("n", i%2))
				case op == 5:
					for _, x := range q.waitingFor(nodePorts, nodeAffinity) {
						q.retry(x, now)
					}
				case op > 5:
					if x := q.next(now); x != nil {
						q.reject(x, [][]string{{nodePorts}, {nodeAffinity, nodePorts}, nil}[wait], now)
						return x.Name
					}
				}
				return fmt.Sprint(q.ready(), len(q.nominated("n0")))
			}
			is.Equal(do(&a), do(&b)) // both queues return the same, for this seed and step
			text, err := json.Marshal(b)
			is.NoErr(err)
			b = queue{}
			is.NoErr(json.Unmarshal(text, &b))
			again, _ := json.Marshal(a)
			is.Equal(string(text), string(again))
			now = now.Add(time.Duration(r.IntN(3)) * time.Second)
		}
	}
}

func TestQueueOrder(t *testing.T) {
	is := is.New(t)
	var q queue
	now := clock.Epoch()
	for i, p := range []int64{0, 5, 0, 5} {
		q.add(aPod(fmt.Sprint("p", i), p), now.Add(time.Duration(i)*time.Second))
	}
	now = now.Add(time.Minute)
	take := func() string {
		if x := q.next(now); x != nil {
			return x.Name
		}
		return ""
	}
	is.Equal([]string{take(), take(), take()}, []string{"p1", "p3", "p0"})
	for _, name := range []string{"p1", "p3", "p0"} {
		q.reject(q.get(aPod(name, 0).Key), []string{nodePorts}, now)
	}
	is.Equal([]string{take(), take()}, []string{"p2", ""}) // the other pods wait
	for _, x := range q.waitingFor(nodePorts) {
		q.retry(x, now)
	}
	is.Equal(take(), "p1") // its pause has not ended, but no other pod is ready
	q.reject(q.get(aPod("p1", 0).Key), nil, now)
	is.Equal([]string{take(), take(), take()}, []string{"p3", "p0", ""}) // a failed pod waits for its pause
	at, ok := q.due()
	is.True(ok)
	now = at
	is.Equal(take(), "p1")
}

// TestClusterIsKeptUp changes a cluster at random. The cache must always equal one that is built from the current objects.
func TestClusterIsKeptUp(t *testing.T) {
	for seed := range uint64(30) {
		is := is.New(t)
		r := rand.New(rand.NewPCG(seed, 2))
		c := newCluster()
		for i := range 300 {
			p := aPod(fmt.Sprint("p", r.IntN(20)), 0)
			p.requests = workload.Amounts{CPU: int64(i), Others: map[string]int64{"example.com/x": int64(r.IntN(3))}}
			p.node = fmt.Sprint("n", r.IntN(4))
			if r.IntN(3) == 0 {
				p.apart = []podTerm{{}}
			}
			if r.IntN(3) > 0 {
				c.setPod(p)
			} else {
				c.removePod(p.Key)
			}
		}
		fresh := newCluster()
		for _, p := range c.pods { // order does not matter
			fresh.setPod(p)
		}
		is.Equal(len(c.terms.all), len(fresh.terms.all))
		for name, n := range c.nodes {
			same := fresh.nodes[name]
			is.Equal(len(n.pods), len(same.pods))
			is.Equal(n.used.CPU, same.used.CPU)
			is.Equal(n.used.Others["example.com/x"], same.used.Others["example.com/x"])
			is.Equal(len(n.affine), len(same.affine))
		}
	}
}

func TestEnoughNodes(t *testing.T) {
	is := is.New(t)
	var got []int
	for _, n := range []int{1, 100, 200, 1000, 5000, 10000} {
		got = append(got, enoughNodes(n))
	}
	is.Equal(got, []int{100, 100, 100, 420, 500, 500})
}
