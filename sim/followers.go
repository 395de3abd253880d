package sim

import (
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/trace"
)

// Commit is a write to the store. It is passed to functions that are registered with OnCommit.
type Commit struct {
	Rev       uint64
	Resource  string // such as deployments.apps
	Namespace string
	Name      string
	Object    []byte // JSON; nil if it was deleted
}

// followers are the functions registered with OnCommit.
type followers struct{ list []func(Commit) }

func (x *followers) add(f func(Commit)) { x.list = append(x.list, f) }

// Committed implements commit.Listener.
func (x *followers) Committed(c *commit.Commit) {
	d := c.Definition
	if len(x.list) == 0 || d == nil {
		return
	}
	told := Commit{Rev: c.Rev, Namespace: c.Namespace, Name: c.Name}
	if !c.Deleted() {
		told.Object = c.Item().Bytes()
	}
	told.Resource = trace.What(d.Group, d.Resource, "", "")
	for _, f := range x.list {
		f(told)
	}
}
