package server

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/status"
)

// The real server's ipallocator-repair-controller (pkg/registry/core/service/ipallocator/controller.RepairIPAddress) reconciles a
// Service or an IPAddress when it is written, and all of them every core.MendInterval. An IPAddress that a client has deleted or
// modified is restored only by the periodic check.
const (
	services  = "ipallocator-repair-controller services"
	addresses = "ipallocator-repair-controller ipaddresses"
	parents   = "ipallocator-repair-controller"

	ipAddresses = "ipaddresses.networking.k8s.io"
)

// Services creates the missing IPAddresses of a Service when the Service is written.
func Services() controller.Controller {
	return Own(services, controller.Func(mendService), controller.Watch{Resource: "services"})
}

func mendService(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	for _, m := range core.MendService(api, key.Namespace, key.Name) {
		mend(api, m)
	}
	return 0, nil
}

// Addresses checks, when an IPAddress is written, that it belongs to a Service.
func Addresses() controller.Controller {
	return Own(addresses, controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		m, again := core.MendAddress(api, key.Name, api.Now())
		mend(api, m)
		return again, nil
	}), controller.Watch{Resource: ipAddresses})
}

// Parents reconciles the Service of an IPAddress that was written, at the time of the next periodic check.
func Parents() controller.Controller {
	return Own(parents, &parenting{}, controller.Watch{Resource: "services", Listed: true},
		controller.Watch{Resource: ipAddresses, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			namespace, name := core.MendParent(c.Item())
			return []controller.Key{{Namespace: namespace, Name: name}}
		}})
}

// parenting contains the time of the next check of each Service, by the Service's key.
type parenting struct{ due map[string]time.Time }

// Memory implements controller.Rememberer.
func (p *parenting) Memory() any { return &p.due }

// Reconcile implements controller.Reconciler.
func (p *parenting) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	due, waits := p.due[key.String()]
	switch left := due.Sub(api.Now()); {
	case waits && left > 0:
		return left, nil
	case waits:
		delete(p.due, key.String())
		return mendService(api, key)
	case len(core.MendService(api, key.Namespace, key.Name)) == 0:
		return 0, nil
	}
	if p.due == nil {
		p.due = map[string]time.Time{}
	}
	p.due[key.String()] = api.Now().Add(core.MendInterval)
	return core.MendInterval, nil
}

// mend applies an AddressRepair and records its event.
func mend(api *controller.Client, m core.AddressRepair) {
	if m.Event != nil {
		api.RecordEvent(m.Event)
	}
	if m.Delete != "" {
		_ = api.Delete(ipAddresses, controller.Key{Name: m.Delete}, controller.Preconditions{}) // may fail if a finalizer keeps the object
	}
	if m.Create != nil {
		_, _ = api.Create(ipAddresses, m.Create) // an error is not handled: the next write of the Service causes another attempt
	}
}
