package controller

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// A controller whose informers lag could act again on what it has changed itself. Since 1.36 those of Controller.Awaits do
// not: what is to be reconciled fails, and is tried again, until the cache is as new as what was written for it
// (pkg/controller/util/consistency; the feature gates StaleControllerConsistency…).

// sync reconciles a key, if the controller has seen what it has written for it before.
func (l *loop) sync(key Key) (again time.Duration, failed *status.Status) {
	if behind := l.cache.behind(key); behind != "" && l.client.Since(36) {
		return 0, status.Plain("the cache is not as new as what was written of %s", behind)
	}
	return l.Reconcile(&l.client, key)
}

// wrote notes that something was written for the key that is being reconciled, where the controller waits for that.
func (c *Client) wrote(of string) {
	if l := c.loop; len(l.cache.lagging) > 0 && c.manager.running == l && slices.Contains(l.Awaits, of) {
		l.cache.write(of, c.manager.item.Key)
	}
}

// write notes that a resource was written for a key, which the cache will not know until it does not lag any more.
func (c *cache) write(resource string, key Key) {
	if c.lagging[resource] == nil || slices.Contains(c.wrote[resource], key) {
		return
	}
	if c.wrote == nil {
		c.wrote = map[string][]Key{}
	}
	c.wrote[resource] = append(c.wrote[resource], key)
}

// behind returns a resource of which the cache does not know what was written for a key; "": there is none.
func (c *cache) behind(key Key) string {
	for _, name := range object.SortedKeys(c.wrote) {
		if slices.Contains(c.wrote[name], key) {
			return name
		}
	}
	return ""
}

// written returns a copy of what was noted; nil: nothing was.
func (c *cache) written() map[string][]Key {
	if len(c.wrote) == 0 {
		return nil
	}
	all := map[string][]Key{}
	for name, keys := range c.wrote { // order does not matter: a map again
		all[name] = slices.Clone(keys)
	}
	return all
}
