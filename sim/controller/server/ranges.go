package server

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	serviceCIDRs = "servicecidrs.networking.k8s.io"
	ranges       = "kubernetes-service-cidr-controller"
	defaultRange = "kubernetes" // name of the ServiceCIDR of the configured ranges

	// rangesPeriod is the interval at which an API server checks the default ServiceCIDR.
	rangesPeriod = 10 * time.Second
)

// Ranges maintains the ServiceCIDR kubernetes: it creates it again after it has been deleted, and adds the range of a second IP family
// when API servers start with one (kube-apiserver, defaultservicecidr). A real server checks it every ten seconds from its start, this
// controller ten seconds after a deletion.
func Ranges(cidrs []string) controller.Controller {
	r := &ranger{cidrs: cidrs}
	return Own(ranges, r, controller.Watch{Resource: serviceCIDRs, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Name != defaultRange || !c.Deleted() && c.Prev != nil {
			return nil
		}
		return []controller.Key{{Name: c.Name}}
	}})
}

type ranger struct {
	cidrs  []string
	memory struct {
		Missing time.Time `json:",omitzero"` // time at which the ServiceCIDR was found missing
	}
}

// Memory implements controller.Rememberer.
func (r *ranger) Memory() any { return &r.memory }

// Reconcile implements controller.Reconciler.
func (r *ranger) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	obj := api.Live(serviceCIDRs, "", key.Name)
	if obj == nil {
		if r.memory.Missing.IsZero() {
			r.memory.Missing = api.Now()
		}
		if left := r.memory.Missing.Add(rangesPeriod).Sub(api.Now()); left > 0 {
			return left, nil
		}
		made, s := api.Create(serviceCIDRs, object.Object{"metadata": map[string]any{"name": key.Name},
			"spec": map[string]any{"cidrs": object.FromStrings(r.cidrs)}})
		if s != nil {
			return 0, s
		}
		obj = made.Object()
	}
	r.memory.Missing = time.Time{}
	has := obj.Strings("spec", "cidrs")
	if len(r.cidrs) == 2 && slices.Equal(has, r.cidrs[:1]) {
		obj.Set(object.FromStrings(r.cidrs), "spec", "cidrs")
		_, s := api.Update(serviceCIDRs, "", obj)
		return 0, s
	}
	if !slices.Equal(has, r.cidrs) || obj.DeletionTimestamp() != "" || obj.Condition("Ready") != nil {
		return 0, nil
	}
	_, s := api.As(ranges).Apply(serviceCIDRs, "status", key, object.Object{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "", "message": "Kubernetes default Service CIDR is ready",
			"lastTransitionTime": object.Time(api.Now())}}}})
	return 0, s
}
