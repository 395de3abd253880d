package ctrl

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// starting lets a manager stop while it starts. By itself, a manager that waits for its caches does not stop. If its context ends, it
// waits in a loop that never yields the processor (runnableGroup.Start), and the caches of a crashed process are never filled.
//
//	process ends ─▶ the caches count as filled ─▶ the start goes on ─▶ the manager's context ends
type starting struct {
	process context.Context
	begun   chan struct{} // closed when the caches are filled
}

// newStarting changes the options of a process's manager. The manager must be started by run.
func newStarting(process context.Context, o *manager.Options) *starting {
	s := &starting{process, make(chan struct{})}
	newCache := o.NewCache
	if newCache == nil {
		newCache = cache.New
	}
	o.NewCache = func(cfg *rest.Config, options cache.Options) (cache.Cache, error) {
		c, err := newCache(cfg, options)
		return &startingCache{c, s}, err
	}
	return s
}

// goesOn is the time that a start has after the end of its process.
const goesOn = time.Millisecond

// run runs the manager until the process ends.
func (s *starting) run(mgr manager.Manager) error {
	if err := mgr.Add(s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.process))
	defer cancel()
	defer context.AfterFunc(s.process, func() {
		if !s.hasBegun() {
			time.Sleep(goesOn)
		}
		cancel()
	})()
	return mgr.Start(ctx)
}

func (s *starting) hasBegun() bool {
	select {
	case <-s.begun:
		return true
	default:
		return false
	}
}

// Start implements manager.Runnable.
func (s *starting) Start(context.Context) error {
	close(s.begun)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. Runnables without leader election start after the caches.
func (s *starting) NeedLeaderElection() bool { return false }

// startingCache is a cache that counts as filled if its process ends during the start.
type startingCache struct {
	cache.Cache
	start *starting
}

// WaitForCacheSync implements cache.Informers.
func (c *startingCache) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.start.process, cancel)()
	return c.Cache.WaitForCacheSync(ctx) || c.start.process.Err() != nil && !c.start.hasBegun()
}
