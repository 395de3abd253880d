package fake_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// noted is a config.Progress that counts its calls.
type noted struct{ calls atomic.Int64 }

func (n *noted) Reconciled(int, int) { n.calls.Add(1) }

// Requests are served during a long rollout. The rollout is still complete when its own request returns. The order of the goroutines
// depends on the operating system, so the test makes several attempts.
func TestRequestsDuringLongWork(t *testing.T) {
	if testing.Short() {
		t.Skip("a large cluster takes a second of CPU; make full runs this test")
	}
	const replicas, attempts = 1000, 5
	is := is.New(t)
	p := &noted{}
	c := client{t, fake.RunT(t, fake.Options{Nodes: 200, Controllers: []string{"*"}, Progress: p})}
	var served sync.Map // numbers of calls at which requests were served
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			default:
				res, err := c.srv.Transport().RoundTrip(httptest.NewRequest(http.MethodGet, c.srv.URL()+"/api/v1/pods?limit=1", nil))
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
				served.Store(p.calls.Load(), true)
			}
		}
	}()
	during := false
	for n := 0; n < attempts && !during; n++ {
		before := p.calls.Load()
		c.must(http.MethodPost, asDeployments, fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%[1]d"},
"spec":{"replicas":%[2]d,"selector":{"matchLabels":{"app":"web-%[1]d"}},"template":{"metadata":{"labels":{"app":"web-%[1]d"}},
"spec":{"containers":[{"name":"web","image":"nginx"}]}}}}`, n, replicas))
		for calls := before + 1; calls < p.calls.Load(); calls++ {
			_, answered := served.Load(calls)
			during = during || answered
		}
		is.Equal(c.must(http.MethodGet, asDeployments+fmt.Sprint("/web-", n), "").Int64("status", "replicas"), int64(replicas))
	}
	close(over)
	<-ended
	is.True(during) // requests were served after at least a thousand reconciles and before the rollout was complete
}
