package bugs

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubesim/kubesim/sim/fault"
)

// journal records when each leader last worked.
type journal struct {
	mu   sync.Mutex
	last map[string]time.Time
	both int // number of times that one worked within a second of the other
}

func (j *journal) work(name, other string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if at, ok := j.last[other]; ok && time.Since(at) < time.Second {
		j.both++
	}
	j.last[name] = time.Now()
}

func (j *journal) at(name string) time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last[name]
}

// candidate works every second while it leads. In the version with the bug, the work begins when it becomes the leader and ends
// with its process.
type candidate struct {
	name, other string
	fixed       bool
	*journal
}

func (c *candidate) run(process context.Context, client kubernetes.Interface, done *sync.WaitGroup) {
	defer done.Done()
	leaderelection.RunOrDie(process, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: object("controller"), Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: c.name}},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				until := process
				if c.fixed {
					until = leading // ends when the lease can no longer be renewed, before another candidate can acquire it
				}
				done.Add(1)
				defer done.Done()
				for until.Err() == nil {
					c.work(c.name, c.other)
					select {
					case <-time.After(time.Second):
					case <-until.Done():
					}
				}
			},
			OnStoppedLeading: func() {},
		},
	})
}

// The leader's requests hang, for example for hours behind a broken proxy. After ten seconds the leader gives up its lease in time,
// and five seconds later the other candidate leads. But the work of the old leader continues, because it has the context of the
// process instead of that of its term: two controllers write, each with its own cache. See kubernetes/kubernetes#23731 and #67651,
// cilium/cilium#42920, vmware-tanzu/nsx-operator#1558.
//
// The fix is to use OnStartedLeading's context, or to end the process in OnStoppedLeading.
func TestTwoLeaders(t *testing.T) {
	both(t, func(w world, fixed bool) {
		j := &journal{last: map[string]time.Time{}}
		process, kill := context.WithCancel(w.t.Context())
		var done sync.WaitGroup
		w.t.Cleanup(func() {
			kill()
			done.Wait()
		})
		for _, names := range [][2]string{{"one", "two"}, {"two", "one"}} {
			c := &candidate{names[0], names[1], fixed, j}
			done.Add(1)
			go c.run(process, kubernetes.NewForConfigOrDie(config(w.srv, c.name)), &done)
			settle(time.Minute) // the first one leads
		}
		w.is.True(time.Since(j.at("one")) <= time.Second)
		w.is.True(j.at("two").IsZero())

		w.srv.Faults.Add(fault.On("get,update", "leases").Client("one").DelayRequest(24 * time.Hour))
		settle(5 * time.Minute)
		w.is.True(time.Since(j.at("two")) <= time.Second)        // the other one has taken over
		w.is.Equal(time.Since(j.at("one")) > time.Minute, fixed) // and the first one has stopped
		w.is.Equal(j.both == 0, fixed)                           // they never worked at the same time
	})
}
