package sim_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/wire"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func ask(c *sim.Cluster, method, path, body string) (text string) {
	q := &apiserver.Request{Method: method, Path: path, Header: wire.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
		Query: url.Values{}}
	c.Server(1).Start(q, func(a *apiserver.Answer) { text = string(a.Body.Bytes()) })
	return text
}

// A fork has a copy of the controllers' pending work, internal state and disturbances: a definition whose controller was stopped is
// established in the fork when the controller is started there, and only in the fork.
func TestForkOfControllers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := sim.New(sim.Options{})
	is.NoErr(err)
	const stopped = "EstablishingController"
	c.Control(func(m *controller.Manager) { is.NoErr(m.Stop(stopped)) })
	ask(c, "POST", definitions, `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets",
		"kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	established := func(c *sim.Cluster) bool {
		return strings.Contains(ask(c, "GET", definitions+"/widgets.example.com", ""), `"reason":"InitialNamesAccepted"`)
	}
	is.True(!established(c))
	f := c.Fork()
	f.Control(func(m *controller.Manager) { is.NoErr(m.Start(stopped)) })
	is.True(established(f))
	is.True(!established(c)) // which is independent of the fork
	c.Control(func(m *controller.Manager) { is.NoErr(m.Start(stopped)) })
	is.True(established(c))
	is.Equal(f.Revision(), c.Revision()) // the same commits, at another time
}

// A State contains the start times of waiting reconciles, so that the finalizer of a definition gives up in a fork at the same time
// as in the Cluster.
func TestForkOfFinalizing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := sim.New(sim.Options{})
	is.NoErr(err)
	ask(c, "POST", definitions, `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets",
		"kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	ask(c, "POST", "/apis/example.com/v1/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","finalizers":["a.b/c"]}}`)
	ask(c, "DELETE", definitions+"/widgets.example.com", "")
	c.Clock().(*clock.Manual).Advance(12 * time.Second)
	f := c.Fork()
	for _, x := range []*sim.Cluster{c, f} {
		x.Clock().(*clock.Manual).Advance(47 * time.Second)
		is.True(strings.Contains(ask(x, "GET", definitions+"/widgets.example.com", ""), "InstanceDeletionInProgress"))
		x.Clock().(*clock.Manual).Advance(time.Second)
		is.True(strings.Contains(ask(x, "GET", definitions+"/widgets.example.com", ""), "could not confirm zero")) // a minute after
	}
	is.Equal(f.Revision(), c.Revision())
	c.Control(func(m *controller.Manager) {
		next, ok := m.Next()
		is.True(ok)
		is.Equal(next.Sub(c.Clock().Now()), 5*time.Millisecond) // it tries again
	})
}

// Controllers of kube-controller-manager react to a write when the ReactionTime has passed. Those in the API server react at once.
func TestReactionTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := sim.New(sim.Options{Controllers: []string{"replicaset-controller"}, ReactionTime: 10 * time.Millisecond})
	is.NoErr(err)
	ask(c, "POST", definitions, `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets",
		"kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	is.True(strings.Contains(ask(c, "GET", definitions+"/widgets.example.com", ""), `"reason":"InitialNamesAccepted"`))
	ask(c, "POST", "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	pods := func() int {
		return strings.Count(ask(c, "GET", "/api/v1/namespaces/default/pods", ""), `"generateName":"r-"`)
	}
	c.Clock().(*clock.Manual).Advance(9 * time.Millisecond)
	is.Equal(pods(), 0)
	c.Clock().(*clock.Manual).Advance(time.Millisecond)
	is.Equal(pods(), 1)
}
