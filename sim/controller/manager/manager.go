// Package manager holds the controllers of kube-controller-manager, a file each.
package manager

import "github.com/kubesim/kubesim/sim/controller"

// Controllers returns those that run in every cluster, unless it was made without controllers.
func Controllers() []controller.Controller { return []controller.Controller{RoleAggregation()} }
