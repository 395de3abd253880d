//go:build page

package scheduler

import (
	"github.com/kubesim/kubesim/sim/controller"
)

// This build, for the web page, omits plugin DynamicResources because of its size. Pods with resource claims are not scheduled.

type (
	deviceMemory struct{}
	claimState   struct{}
)

func (s *Scheduler) deviceWatches(watcher) []controller.Watch { return nil }

func (s *Scheduler) learnDevices(*controller.Client) {}

func (s *Scheduler) lacksClaims(*pod) bool { return false }

func (c *cycle) prepareClaims() verdict {
	return final("this build of kubesim does not allocate dynamic resources")
}

func (s *Scheduler) usesDevices(_ *controller.Client, p *pod) bool { return len(p.claims) > 0 }

func (s *Scheduler) isDelegated(*controller.Client, string, *node) bool { return false }

func extendedHint(*cycle, *event) bool { return false }

func filterClaims(*cycle, *node) verdict { return verdict{} }

func claimsHint(*cycle, *event) bool { return false }

func scoreClaims(*cycle, []*node) ([]int64, bool) { return nil, false }

func (c *cycle) bindClaims(*node) (why string) { return "" }

func (s *Scheduler) devicesReady(*controller.Client, *pod) (ready bool, why string) { return true, "" }

func (s *Scheduler) unreserve(*controller.Client, *pod) {}

func (c *cycle) deallocate() string { return "no new claims to deallocate" }
