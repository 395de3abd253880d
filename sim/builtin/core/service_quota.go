package core

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// serviceQuota is what services use of quotas.
var serviceQuota = resource.Quota{Each: []string{"services"}, Limits: serviceLimit, Uses: serviceUses, Updates: resource.WholeUpdates}

func serviceLimit(_ *resource.Context, name string) bool {
	return name == "services.loadbalancers" || name == "services.nodeports"
}

func serviceUses(_ *resource.Context, svc object.Object) resource.Amounts {
	balancers, nodePorts := 0, 0
	spec := svc.At("spec")
	if isBalancer(spec) {
		balancers = 1
	}
	for _, port := range spec.Objects("ports") {
		if allocatesNodePorts(spec) || isBalancer(spec) && port.Int64("nodePort") != 0 {
			nodePorts++
		}
	}
	return resource.Amounts{"services.loadbalancers": resource.Count(balancers), "services.nodeports": resource.Count(nodePorts)}
}
