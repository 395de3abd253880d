package network

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	// LoadBalancers and Ingresses are the names of the controllers that simulate load balancers.
	LoadBalancers = "service-lb-controller"
	Ingresses     = "ingress-controller"

	// IngressDriver is the controller of IngressClasses whose Ingresses get an address.
	IngressDriver = "kubesim.io/ingress"

	ingresses      = "ingresses.networking.k8s.io"
	ingressClasses = "ingressclasses.networking.k8s.io"

	cleanup      = "service.kubernetes.io/load-balancer-cleanup" // finalizer of a Service that has a load balancer
	ingressClass = "kubernetes.io/ingress.class"                 // annotation that older Ingresses have instead of a class name

	// ingressAddress is the address of all Ingresses. Services of type LoadBalancer get the addresses after it, or after
	// ingressAddress6 if they have IPv6 addresses.
	ingressAddress  = "198.18.0.1"
	ingressAddress6 = "2001:2::1"
)

// stub returns a controller that simulates a part of a cloud provider. As kube-controller-manager has no such controller, it runs
// only if it is selected by its name.
func stub(name, component string, reconcile controller.Func, watches ...controller.Watch) controller.Controller {
	return controller.Controller{Name: name, FieldManager: "kubesim-cloud", Component: component, Watches: watches, Reconciler: reconcile,
		User: resource.User{Name: "system:serviceaccount:kube-system:" + name, Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}}}
}

// LoadBalancer gives each Service of type LoadBalancer without a loadBalancerClass an address of each of its IP families, like the
// service controller of a cloud provider (k8s.io/cloud-provider/controllers/service). Nothing listens at these addresses.
func LoadBalancer() controller.Controller {
	return stub(LoadBalancers, "service-controller", balance, controller.Watch{Resource: services})
}

func balance(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	service := api.Get(services, key.Namespace, key.Name)
	held := slices.Contains(service.Finalizers(), cleanup)
	wanted := service.String("spec", "type") == "LoadBalancer" && service.String("spec", "loadBalancerClass") == "" && service.DeletionTimestamp() == ""
	switch {
	case wanted && !held:
		_ = api.Event(service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer")
		return 0, api.Patch(services, "", key, func(live object.Object) { live.SetFinalizers(append(live.Finalizers(), cleanup)) })
	case wanted && len(service.List("status", "loadBalancer", "ingress")) == 0:
		at := freeAddresses(api, service)
		s := api.Patch(services, "status", key, func(live object.Object) { live.Set(at, "status", "loadBalancer", "ingress") })
		if s == nil {
			_ = api.Event(service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer")
		}
		return 0, s
	case !wanted && held:
		return 0, release(api, service, key)
	}
	return 0, nil
}

// release removes the address and the finalizer of a Service that no longer needs a load balancer.
func release(api *controller.Client, service object.Object, key controller.Key) *status.Status {
	_ = api.Event(service, "Normal", "DeletingLoadBalancer", "Deleting load balancer")
	s := api.Patch(services, "status", key, func(live object.Object) { live.Remove("status", "loadBalancer", "ingress") })
	if s == nil {
		s = api.Patch(services, "", key, func(live object.Object) {
			live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(name string) bool { return name == cleanup }))
		})
	}
	if s == nil {
		_ = api.Event(service, "Normal", "DeletedLoadBalancer", "Deleted load balancer")
	}
	return s
}

// freeAddresses returns the status of the address that a Service requests, or of the first ones of its IP families that no other
// Service has.
func freeAddresses(api *controller.Client, service object.Object) (all []any) {
	add := func(ip string) { all = append(all, map[string]any{"ip": ip, "ipMode": "VIP"}) }
	if at := service.String("spec", "loadBalancerIP"); at != "" {
		add(at)
		return all
	}
	used := map[string]bool{}
	api.Items(services, "", func(it *resource.Item) bool {
		for _, at := range serviceOf(it).Objects("status", "loadBalancer", "ingress") {
			used[at.String("ip")] = true
		}
		return true
	})
	for _, family := range service.Strings("spec", "ipFamilies") {
		at := netip.MustParseAddr(ingressAddress).Next()
		if family == "IPv6" {
			at = netip.MustParseAddr(ingressAddress6).Next()
		}
		for used[at.String()] {
			at = at.Next()
		}
		add(at.String())
	}
	return all
}

// Ingress gives an address to each Ingress whose IngressClass has the controller IngressDriver. Nothing listens at the address.
func Ingress() controller.Controller {
	return stub(Ingresses, Ingresses, publishIngress, controller.Watch{Resource: ingresses},
		controller.Watch{Resource: ingressClasses, Keys: func(api *controller.Client, _ *commit.Commit) (keys []controller.Key) {
			api.Items(ingresses, "", func(it *resource.Item) bool {
				keys = append(keys, controller.Key{Namespace: it.Namespace, Name: it.Name})
				return true
			})
			return keys
		}})
}

func publishIngress(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	ingress := api.Get(ingresses, key.Namespace, key.Name)
	class := ingress.String("spec", "ingressClassName")
	if class == "" {
		class = ingress.Annotations()[ingressClass]
	}
	if class == "" || api.Get(ingressClasses, "", class).String("spec", "controller") != IngressDriver ||
		len(ingress.List("status", "loadBalancer", "ingress")) > 0 {
		return 0, nil
	}
	return 0, api.Patch(ingresses, "status", key, func(live object.Object) {
		live.Set([]any{map[string]any{"ip": ingressAddress}}, "status", "loadBalancer", "ingress")
	})
}
