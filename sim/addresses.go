package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	services    = "services"
	ipAddresses = "ipaddresses.networking.k8s.io"
	eventsGroup = "events.k8s.io"

	// eventTime is the form of MicroTime.
	eventTime = "2006-01-02T15:04:05.000000Z07:00"
)

// followAddresses queues what API servers do about services and IPAddresses that do not belong together. An IPAddress
// that somebody deletes or changes is missed only when everything is looked at, or when its service is written.
func (c *Cluster) followAddresses(e *mvcc.Event) {
	storage := storageOf(e.Key)
	if storage != services && storage != ipAddresses {
		return
	}
	kv, d := e.KV, c.hub(storage)
	if kv == nil {
		kv = e.Prev
	}
	it := resource.ItemOf(d, kv)
	c.jobs.soon = append(c.jobs.soon, func() {
		if storage == services {
			c.mendService(it.Namespace, it.Name)
			return
		}
		c.mendAddress(it.Name)
		c.mendLater(builtin.MendParent(it))
	})
}

// mendLater looks at a service when everything is looked at, if there is something to be done about it.
func (c *Cluster) mendLater(namespace, name string) {
	if len(builtin.MendService(c.objects(), namespace, name)) > 0 {
		c.schedule.after(builtin.MendInterval, func() { c.mendService(namespace, name) })
	}
}

func (c *Cluster) mendService(namespace, name string) {
	for _, m := range builtin.MendService(c.objects(), namespace, name) {
		c.mend(m)
	}
}

func (c *Cluster) mendAddress(name string) {
	m, again := builtin.MendAddress(c.objects(), name, c.now())
	if again > 0 {
		c.schedule.after(again, func() { c.mendAddress(name) })
	}
	c.mend(m)
}

// mend does what is to be done, and tells.
func (c *Cluster) mend(m builtin.Mending) {
	d := c.hub(ipAddresses)
	if m.Event != nil {
		c.tell(m.Event)
	}
	if m.Delete != "" {
		_, _ = c.own().Delete(c.loopback(d, "", m.Delete), registry.DeleteOptions{}) // a finalizer may hold it
	}
	if m.Create != nil {
		_, _ = c.own().Create(c.loopback(d, "", m.Create.Name()), m.Create) // tried again when its service is written
	}
}

// tell stores an Event of a part of the server. Its name has the time in it, so that there is one of a kind.
func (c *Cluster) tell(event object.Object) {
	var d *resource.Definition
	for _, served := range c.leader().profile.served {
		if served.Group == eventsGroup && served.Storage == "events" {
			d = served
		}
	}
	if d == nil { // --runtime-config has it off
		return
	}
	now := c.now()
	event.Set(fmt.Sprintf("%s.%x", event.String("regarding", "name"), now.UnixNano()), "metadata", "name")
	event["eventTime"] = now.UTC().Format(eventTime)
	event["reportingInstance"] = event.String("reportingController") + "-" + boot.Host
	_, _ = c.own().Create(c.loopback(d, event.Namespace(), event.Name()), event) // nobody hears it twice
}

// mendAll does what servers do that have just started.
func (c *Cluster) mendAll() {
	c.objects().Items(services, "", func(it *resource.Item) bool {
		c.jobs.soon = append(c.jobs.soon, func() { c.mendService(it.Namespace, it.Name) })
		return true
	})
	c.objects().Items(ipAddresses, "", func(it *resource.Item) bool {
		c.jobs.soon = append(c.jobs.soon, func() { c.mendAddress(it.Name) })
		return true
	})
}

// rememberAddresses goes on looking after the IPAddresses of a store that was read.
func (c *Cluster) rememberAddresses() {
	c.objects().Items(ipAddresses, "", func(it *resource.Item) bool {
		if _, again := builtin.MendAddress(c.objects(), it.Name, c.now()); again > 0 {
			c.schedule.after(again, func() { c.mendAddress(it.Name) })
		}
		return true
	})
	c.objects().Items(services, "", func(it *resource.Item) bool {
		c.mendLater(it.Namespace, it.Name)
		return true
	})
}
