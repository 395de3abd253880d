//go:build page

package scheduler

import "github.com/kubesim/kubesim/sim/controller"

// groupWatches returns nil in the web page, whose servers do not have PodGroups.
func (s *Scheduler) groupWatches(watcher) []controller.Watch { return nil }

// awaitGroup returns the pod.
func (s *Scheduler) awaitGroup(_ *controller.Client, p *pod) *pod { return p }

// releaseGroup does nothing.
func (s *Scheduler) releaseGroup(*controller.Client, controller.Key) {}

// placeGroup returns false, because no pod is in a group.
func (s *Scheduler) placeGroup(*controller.Client, *queued, *pod) bool { return false }
