package controller

import (
	"slices"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// cache is a controller's informer cache. It shows the newest state of the store. If the informers for a resource lag, it shows
// that resource as it was when the lag began.
//
//	pods              ─▶ the newest view
//	services, lagging ─▶ the view of revision 4650; Resume delivers later commits, in order
type cache struct {
	lagging map[string]*mvcc.View  // views of the lagging resources
	owners  map[string]*ownerIndex // by lagging resource: its ownership when the lag began, computed on first use
}

// of returns the cache's view of a resource. newest is the newest view of the store.
func (c *cache) of(resource string, newest *mvcc.View) *mvcc.View {
	if v := c.lagging[resource]; v != nil {
		return v
	}
	return newest
}

// lag makes the informers of the given resources lag. Until resume, they show the view newest.
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

// resume ends the lag of a resource and returns the view that the cache showed until then, or nil if the resource did not lag.
func (c *cache) resume(resource string) (from *mvcc.View) {
	from = c.lagging[resource]
	delete(c.lagging, resource)
	delete(c.owners, resource)
	return from
}

// owned returns the dependents of an owner in the cache. newest are the owner's current dependents.
func (c *cache) owned(uid string, newest []Ref, server Server) []Ref {
	known := slices.DeleteFunc(slices.Clone(newest), func(r Ref) bool { return c.lagging[r.Resource] != nil })
	for _, name := range c.missed() {
		o := c.owners[name]
		if o == nil {
			o = &ownerIndex{byOwner: map[string]*dependents{}}
			if d := server.Definition(name); d != nil {
				o.add(d, c.lagging[name])
			}
			if c.owners == nil {
				c.owners = map[string]*ownerIndex{}
			}
			c.owners[name] = o
		}
		if d := o.byOwner[uid]; d != nil {
			known = append(known, d.all()...)
		}
	}
	return known
}

// missed returns the lagging resources.
func (c *cache) missed() []string { return object.SortedKeys(c.lagging) }
