package clients

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"k8s.io/client-go/util/workqueue"
	kclock "k8s.io/utils/clock"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// shared adapts the simulator's clock to the interface of Kubernetes code.
type shared = clock.As[kclock.Timer, kclock.Ticker]

var (
	_ kclock.WithTicker                    = shared{}
	_ kclock.WithTickerAndDelayedExecution = shared{}
)

// A work queue and the server share a clock, which the test advances manually.
func TestWorkQueueSharesTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t)
		queue := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: shared{Clock: srv.Clock}})
		defer queue.ShutDown()

		queue.AddAfter("default/web", 5*time.Minute)
		synctest.Wait() // until the queue waits for its timer
		srv.Clock.Advance(4 * time.Minute)
		synctest.Wait()
		is.Equal(queue.Len(), 0) // not yet

		srv.Clock.Advance(time.Minute)
		synctest.Wait()
		is.Equal(queue.Len(), 1) // now
	})
}
