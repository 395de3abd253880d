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
	d := c.Definition
	if len(x.list) == 0 || d == nil {
		return
	}
	told := Commit{Rev: c.Rev, Namespace: c.Namespace, Name: c.Name}
	if !c.Deleted() {
		told.Object = c.Item().Bytes
	}
	told.Resource = trace.What(d.Group, d.Resource, "", "")
	for _, f := range x.list {
		f(told)
	}
}
