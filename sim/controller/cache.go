package controller

import (
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// cache is what a controller knows: the store as it is, but of resources whose informers lag the store as it was when they
// began to.
//
//	pods           ─▶ the newest view
//	services  lags ─▶ view of revision 4650   what was written since is brought by Resume, in its order
type cache struct {
	lagging map[string]*mvcc.View // by resource
}

// of returns what is known of a resource.
func (c *cache) of(resource string, newest *mvcc.View) *mvcc.View {
	if v := c.lagging[resource]; v != nil {
		return v
	}
	return newest
}

// lag makes the informers of resources lag from now on.
func (c *cache) lag(resources []string, newest *mvcc.View) {
	if c.lagging == nil {
		c.lagging = map[string]*mvcc.View{}
	}
	for _, name := range resources {
		if c.lagging[name] == nil {
			c.lagging[name] = newest
		}
	}
}

// missed returns the resources that lag.
func (c *cache) missed() []string { return object.SortedKeys(c.lagging) }
