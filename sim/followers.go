package sim

import (
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/trace"
)

// Commit is one write of the store as those see it who keep its log.
type Commit struct {
	Rev       uint64
	Resource  string // deployments.apps
	Namespace string
	Name      string
	Object    []byte // as it is printed; nil: it was deleted
}

// followers are those who follow the log.
type followers struct{ list []func(Commit) }

// Committed is commit.Listener's.
func (x *followers) Committed(c *commit.Commit) {
	if len(x.list) == 0 {
		return
	}
	it := c.Item()
	if it == nil {
		return
	}
	d := c.Definition
	told := Commit{Rev: c.Rev, Resource: trace.What(d.Group, d.Resource, "", ""), Namespace: it.Namespace, Name: it.Name}
	if !c.Deleted() {
		told.Object = it.Bytes
	}
	for _, f := range x.list {
		f(told)
	}
}
