//go:build page

package server

import (
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
)

// This build, for the web page, omits coordinated leader election because of its size.

// Leadership is the name of the controller that makes one API server the leader.
const Leadership = "leader-election-controller"

func leaderElection(*config.Cluster, Machines) []controller.Controller { return nil }
