package fake_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trace"
)

// TestFaultReplicas checks that a commit can trigger faults that stop, disconnect, heal and restart a replica. The
// point of the fault determines whether the replica has already applied the commit.
func TestFaultReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Trace: 1000, Replicas: make([]fake.ReplicaOptions, 2)})
		c := client{t, srv}
		srv.Route("kubelet/", 2)
		known := func() (names string) {
			res := ask(t, srv, "kubelet/v1", "GET", mapsPath+"?resourceVersion=0", "")
			defer res.Body.Close()
			for _, item := range c.parse(read(t, res.Body)).List("items") {
				names += object.Object(item.(map[string]any)).Name()
			}
			return names
		}
		on := fault.On("create", "configmaps")
		srv.Faults.Add(
			on.Name("b").At(fault.ReplicaApplied).Replica(2).Lag(2, "configmaps"),
			on.Name("d").Resume(2),
			on.Name("e").Lag(2, ""),
			on.Name("f").Resume(2),
			on.Name("g").Cut(2),
			on.Name("h").Restart(2),
		)
		for _, step := range [][2]string{
			{"a", "a"},
			{"b", "ab"}, // applied, and the last one
			{"c", "ab"},
			{"d", "abcd"},
			{"e", "abcd"}, // stopped before it was applied
			{"f", "abcdef"},
			{"g", "abcdef"},
		} {
			c.create(step[0])
			is.Equal(known(), step[1]) // the objects in the second replica
		}
		res := ask(t, srv, "kubelet/v1", "POST", mapsPath, `{"metadata":{"name":"x"}}`)
		res.Body.Close()
		is.Equal(res.StatusCode, http.StatusInternalServerError) // it cannot write while it is disconnected
		c.create("h")
		is.Equal(known(), "abcdefgh") // a restart heals it

		applied := map[int]int{}
		for _, r := range srv.Trace().Records {
			if r.Site == trace.ReplicaApplied {
				applied[r.Replica]++
			}
		}
		is.Equal(applied[1], 8)
		is.True(applied[2] >= 6 && applied[2] < 8) // the restarted replica was filled, and did not apply every commit
	})
}

// TestFaultOneReplica checks that a fault can be limited to the watches of one replica.
func TestFaultOneReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Replicas: make([]fake.ReplicaOptions, 2)})
		c := client{t, srv}
		srv.Route("kubelet/", 2)
		srv.Faults.Add(fault.On("get", "*").Replica(2).Unavailable(), fault.On("create", "*").Replica(1).DelayAnswer(time.Second))
		c.create("a")
		for agent, want := range map[string]int{"kubelet/v1": http.StatusServiceUnavailable, "operator/v1": http.StatusOK} {
			res := ask(t, srv, agent, "GET", mapsPath+"/a", "")
			res.Body.Close()
			is.Equal(res.StatusCode, want)
		}
	})
}
