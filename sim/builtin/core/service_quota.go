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
	ports := svc.List("spec", "ports")
	kind := svc.String("spec", "type")
	if kind == "LoadBalancer" {
		balancers = 1
	}
	allocate, said := svc.Bool("spec", "allocateLoadBalancerNodePorts")
	for _, port := range ports {
		asked, _ := object.As(port).Int("nodePort")
		if kind == "NodePort" || kind == "LoadBalancer" && (!said || allocate || asked != 0) {
			nodePorts++
		}
	}
	return resource.Amounts{"services.loadbalancers": resource.Count(balancers), "services.nodeports": resource.Count(nodePorts)}
}
