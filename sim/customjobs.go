package sim

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

var errNoTransport = errors.New("kubesim: nothing carries requests to conversion webhooks: register a conversion function, or set a transport")

const (
	// cleanupPoll is how often the server looks whether the objects of a deleted definition are gone, cleanupMax how long
	// before it says that they are not, and cleanupRetry when it tries again (the real server's CRD finalizer).
	cleanupPoll  = 5 * time.Second
	cleanupMax   = time.Minute
	cleanupRetry = 5 * time.Millisecond

	// jobsMax bounds the jobs that one request can lead to.
	jobsMax = 100_000

	apiServices  = "apiservices.apiregistration.k8s.io"
	automanaged  = "kube-aggregator.kubernetes.io/automanaged"
	loopbackName = "kube-apiserver"
)

// customJobs are what API servers do by themselves after a commit, before anybody sees the next answer: the real server's
// controllers for CustomResourceDefinitions. They run when the Cluster's lock is given back.
//
//	commit of a definition ─▶ soon ─▶ accept its names ─▶ establish it ─▶ register its versions as APIServices
//	                                └─ it is being deleted: delete its objects, wait for them, remove the finalizer
type customJobs struct {
	soon     []func()
	cleaning map[string]*cleanup // by name of the definition

	ensure time.Time // when flow schemas and priority levels are looked at; zero: not until one changes

	// known are the definitions without their schemas, by name; nil: not read yet. Schemas can be very large.
	known map[string]object.Object
}

// cleanup is a deletion of the objects of a definition that goes on.
type cleanup struct {
	began, next time.Time
	retry       bool // next, it begins anew
}

// settle runs the jobs that wait. The lock is held.
func (c *Cluster) settle() {
	for n := 0; len(c.jobs.soon) > 0 && n < jobsMax; n++ {
		job := c.jobs.soon[0]
		c.jobs.soon = c.jobs.soon[1:]
		job()
	}
	c.jobs.soon = nil
}

// follow queues the jobs that a commit leads to.
func (c *Cluster) follow(e *mvcc.Event) {
	c.followRoles(e)
	c.followFlows(e)
	c.followServices(e)
	c.followAddresses(e)
	name, ok := strings.CutPrefix(e.Key, "/registry/"+crd.Storage+"/")
	if !ok {
		return
	}
	group := ""
	if _, after, found := strings.Cut(name, "."); found {
		group = after
	}
	if c.jobs.known != nil {
		delete(c.jobs.known, name)
		if e.KV != nil {
			c.jobs.known[name] = outline(resource.ItemOf(c.hub(crd.Storage), e.KV).Object())
		}
	}
	c.jobs.soon = append(c.jobs.soon, func() { c.tend(name, group) })
}

// outline returns a definition without its schemas.
func outline(obj object.Object) object.Object {
	for _, v := range obj.List("spec", "versions") {
		if m, ok := v.(map[string]any); ok {
			delete(m, "schema")
		}
	}
	return obj
}

// outlines returns all definitions without their schemas.
func (c *Cluster) outlines() map[string]object.Object {
	if c.jobs.known == nil {
		c.jobs.known = map[string]object.Object{}
		c.objects().Each(crd.Storage, "", func(obj object.Object) bool {
			c.jobs.known[obj.Name()] = outline(obj)
			return true
		})
	}
	return c.jobs.known
}

// tend does what a definition needs next. Each step is a commit, which calls for the next one.
func (c *Cluster) tend(name, group string) {
	if c.outlines()[name] == nil {
		delete(c.jobs.cleaning, name)
		c.register(group)
		for _, other := range c.definitions(group) {
			c.accept(other.Name(), group)
		}
		return
	}
	if c.accept(name, group) {
		for _, other := range c.definitions(group) {
			if other.Name() != name {
				c.accept(other.Name(), group)
			}
		}
		return
	}
	if c.edit(name, func(obj object.Object) bool { return crd.Establish(obj, c.now()) }) ||
		c.edit(name, func(obj object.Object) bool { return crd.Approval(obj, c.now()) }) {
		return
	}
	c.register(group)
	c.finalize(name)
}

// accept decides on the names of a definition.
func (c *Cluster) accept(name, group string) bool {
	others := c.definitions(group)
	return c.edit(name, func(obj object.Object) bool { return crd.Names(obj, others, c.now()) })
}

func (c *Cluster) definition(name string) object.Object {
	return c.objects().Get(crd.Storage, "", name)
}

// definitions returns the definitions of a group, without their schemas and not to be changed.
func (c *Cluster) definitions(group string) []object.Object {
	var all []object.Object
	known := c.outlines()
	for _, name := range object.SortedKeys(known) {
		if known[name].String("spec", "group") == group {
			all = append(all, known[name])
		}
	}
	return all
}

func (c *Cluster) objects() registry.Reader { return c.own().Reader() }

// leader is the replica whose controllers do the work: the first one that knows everything, else the first.
func (c *Cluster) leader() *Replica {
	for _, r := range c.replicas {
		if !r.lagsAll && !r.unreachable && len(r.lagging) == 0 {
			return r
		}
	}
	return c.replicas[0]
}

// ownBackend is a replica as its own controllers see it: the store is always within reach.
type ownBackend struct{ backend }

// Reachable is registry.Backend's.
func (ownBackend) Reachable() bool { return true }

// hub is the leader's definition of what is stored under a name.
func (c *Cluster) hub(storage string) *resource.Definition { return c.leader().profile.hubs[storage] }

// loopback is a request of the server to itself.
func (c *Cluster) loopback(d *resource.Definition, namespace, name string) *registry.Request {
	return registry.Loopback(d, namespace, name)
}

// own is the registry without admission.
func (c *Cluster) own() *registry.Registry {
	leader := c.leader()
	r := *leader.server.Registry
	r.Backend, r.Admission = ownBackend{backend{leader}}, nil
	return &r
}

// edit writes the status of a definition, and its metadata, if change changes them. It reports whether it did.
func (c *Cluster) edit(name string, change func(object.Object) bool) bool {
	sketch := c.outlines()[name]
	if sketch == nil || !change(sketch.Copy()) {
		return false
	}
	obj := c.definition(name)
	if obj == nil || !change(obj) {
		return false
	}
	q := c.loopback(c.hub(crd.Storage), "", name)
	q.Subresource = "status"
	_, s := c.own().Update(q, registry.Change{Kind: registry.Put,
		Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
	return s == nil
}

// finalize deletes the objects of a definition that is being deleted, and then lets it go.
func (c *Cluster) finalize(name string) {
	obj := c.outlines()[name]
	if obj == nil || obj.DeletionTimestamp() == "" || !slices.Contains(obj.Finalizers(), crd.CleanupFinalizer) || c.jobs.cleaning[name] != nil {
		return
	}
	if c.jobs.cleaning == nil {
		c.jobs.cleaning = map[string]*cleanup{}
	}
	work := &cleanup{began: c.now()}
	c.jobs.cleaning[name] = work
	c.edit(name, func(obj object.Object) bool {
		crd.SetCondition(obj, c.now(), crd.Terminating, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
		return true
	})
	if !crd.IsTrue(obj, crd.Established) {
		c.release(name, "NeverEstablished", "resource was never established")
		return
	}
	if d := c.leader().custom.Hub(name); d != nil {
		c.objects().Each(name, "", func(obj object.Object) bool {
			_, _ = c.own().Delete(c.loopback(d, obj.Namespace(), obj.Name()), registry.DeleteOptions{}) // looked at again below
			return true
		})
	}
	c.await(name, work)
}

// await lets a definition go once its objects are gone.
func (c *Cluster) await(name string, work *cleanup) {
	if c.jobs.cleaning[name] != work {
		return
	}
	left := false
	c.objects().Each(name, "", func(object.Object) bool { left = true; return false })
	if !left {
		c.release(name, "InstanceDeletionCompleted", "removed all instances")
		return
	}
	if c.now().Sub(work.began) < cleanupMax {
		c.again(name, work, cleanupPoll, false)
		return
	}
	c.edit(name, func(obj object.Object) bool {
		crd.SetCondition(obj, c.now(), crd.Terminating, "True", "InstanceDeletionCheck",
			"could not confirm zero CustomResources remaining: context deadline exceeded")
		return true
	})
	c.again(name, work, cleanupRetry, true)
}

// again goes on with a deletion after d: it looks whether the objects are gone, or begins anew.
func (c *Cluster) again(name string, work *cleanup, d time.Duration, retry bool) {
	work.next, work.retry = c.now().Add(d), retry
	c.schedule.after(d, func() {
		switch {
		case c.jobs.cleaning[name] != work:
		case retry:
			delete(c.jobs.cleaning, name)
			c.finalize(name)
		default:
			c.await(name, work)
		}
	})
}

// release removes the finalizer that keeps a definition.
func (c *Cluster) release(name, reason, message string) {
	c.edit(name, func(obj object.Object) bool {
		crd.SetCondition(obj, c.now(), crd.Terminating, "False", reason, message)
		names := obj.Finalizers()
		obj.SetFinalizers(slices.DeleteFunc(names, func(name string) bool { return name == crd.CleanupFinalizer }))
		return true
	})
}

// register keeps an APIService for each served version of a group (the real server's autoregistration).
func (c *Cluster) register(group string) {
	want := map[string]string{}
	for _, obj := range c.definitions(group) {
		for _, v := range obj.List("spec", "versions") {
			m, _ := v.(map[string]any)
			if version := object.Object(m); m["served"] == true {
				want[version.String("name")+"."+group] = version.String("name")
			}
		}
	}
	d := c.hub(apiServices)
	c.objects().Each(apiServices, "", func(obj object.Object) bool {
		name := obj.Name()
		if obj.String("spec", "group") != group || obj.Labels()[automanaged] != "true" {
			return true
		}
		if version := want[name]; version == "" {
			_, _ = c.own().Delete(c.loopback(d, "", name), registry.DeleteOptions{}) // nothing holds it
		} else if spec := registration(group, version); !object.Equal(obj["spec"], spec) {
			obj["spec"] = spec
			_, _ = c.own().Update(c.loopback(d, "", name), registry.Change{Kind: registry.Put, // of what was just read
				Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
		}
		delete(want, name)
		return true
	})
	for _, name := range object.SortedKeys(want) {
		if c.objects().Get(apiServices, "", name) != nil {
			continue
		}
		obj := object.Object{"kind": d.Kind, "apiVersion": d.GV(),
			"metadata": map[string]any{"name": name, "labels": map[string]any{automanaged: "true"}},
			"spec":     registration(group, want[name])}
		_, _ = c.own().Create(c.loopback(d, "", name), obj) // it was not there
	}
}

// registration is the spec of the APIService of a version of custom resources.
func registration(group, version string) map[string]any {
	return map[string]any{"group": group, "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)}
}
