package sim

import (
	"time"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// ensureInterval is how often API servers look whether the flow schemas and priority levels that they made are as they
// made them (PostStartHook of the group flowcontrol.apiserver.k8s.io).
const ensureInterval = time.Minute

// followFlows queues what a commit of a flow schema or priority level leads to: conditions at once, and within a minute
// what API servers made is put back.
func (c *Cluster) followFlows(e *commit.Commit) {
	if e.Storage != flowcontrol.Schemas && e.Storage != flowcontrol.Levels {
		return
	}
	c.jobs.soon = append(c.jobs.soon, c.markDangling)
	if c.jobs.ensure.IsZero() && !c.options.Bare {
		c.ensureAt(c.now().Add(ensureInterval))
	}
}

// markDangling says in the status of each flow schema whether its priority level exists.
func (c *Cluster) markDangling() {
	reader := c.own().Reader()
	d := c.hub(flowcontrol.Schemas)
	reader.Each(flowcontrol.Schemas, "", func(schema object.Object) bool {
		found := reader.Item(flowcontrol.Levels, "", flowcontrol.Level(schema)) != nil
		if condition, changes := flowcontrol.Dangling(schema, found); changes {
			condition["lastTransitionTime"] = object.Time(c.now())
			c.applyStatus(d, schema.Name(), map[string]any{"conditions": []any{condition}})
		}
		return true
	})
}

// applyStatus applies the status of a flow schema. One that went away meanwhile needs none.
func (c *Cluster) applyStatus(d *resource.Definition, name string, content map[string]any) {
	q := c.loopback(d, "", name)
	q.Manager, q.Subresource = flowcontrol.Consumer, "status"
	_ = c.applyOwn(q, "status", content)
}

// ensureAt puts back at a time what API servers made.
func (c *Cluster) ensureAt(at time.Time) {
	c.jobs.ensure = at
	c.schedule.After(max(at.Sub(c.now()), 0), func() {
		if c.jobs.ensure.Equal(at) {
			c.ensure()
			c.jobs.ensure = time.Time{} // what was just written needs no other look
		}
	})
}

// ensure puts back what API servers made of flow schemas and priority levels, and deletes what only says so.
func (c *Cluster) ensure() {
	for _, storage := range []string{flowcontrol.Levels, flowcontrol.Schemas} {
		d := c.hub(storage)
		made, err := boot.Objects(c.leader().profile.set.Minor(), d.Kind)
		if err != nil {
			panic("sim: what API servers make cannot be read any more: " + err.Error()) // it was read at the start
		}
		for _, name := range object.SortedKeys(made) {
			c.ensureOne(d, made[name])
		}
		c.own().Reader().Each(storage, "", func(obj object.Object) bool {
			if made[obj.Name()] == nil && flowcontrol.Unwanted(obj) {
				_, _ = c.own().Delete(c.loopback(d, "", obj.Name()), registry.DeleteOptions{}) // a finalizer may hold it
			}
			return true
		})
	}
}

// ensureOne makes sure that one object is there and as it was made.
func (c *Cluster) ensureOne(d *resource.Definition, made object.Object) {
	q := c.loopback(d, "", made.Name())
	q.Manager = flowcontrol.Producer
	current := c.own().Reader().Get(d.Storage, "", made.Name())
	if current == nil {
		_, _ = c.own().Create(q, object.Object{"kind": d.Kind, "apiVersion": d.GV(), "spec": object.Copy(made["spec"]), // it was not there
			"metadata": map[string]any{"name": made.Name(), "annotations": object.Copy(made.Metadata()["annotations"])}})
		return
	}
	if flowcontrol.Revise(current, made) {
		_, _ = c.own().Update(q, registry.Change{Kind: registry.Put, // the lock is held: nobody was faster
			Make: func(object.Object) (object.Object, *status.Status) { return current, nil }})
	}
}
