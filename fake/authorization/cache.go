package authorization

import (
	"container/list"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// cacheMax is the largest number of cached decisions of a webhook.
const cacheMax = 8192

// cache contains the decisions of a webhook, each until a time of the Cluster's clock. If it is full, the decision that has not been
// used for the longest time is removed.
type cache struct {
	mu     sync.Mutex
	byKey  map[string]*list.Element
	recent *list.List // of *cached; the front was used last
}

type cached struct {
	key    string
	status object.Object
	until  time.Time
}

func newCache() *cache { return &cache{byKey: map[string]*list.Element{}, recent: list.New()} }

// get returns the status in a review's response. ok is false if there is none, or if it has expired at the time now.
func (c *cache) get(key string, now time.Time) (status object.Object, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil, false
	}
	x := e.Value.(*cached)
	if !now.Before(x.until) {
		c.remove(e)
		return nil, false
	}
	c.recent.MoveToFront(e)
	return x.status, true
}

// add adds a status for a duration. If the duration is 0, it does nothing.
func (c *cache) add(key string, status object.Object, now time.Time, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.remove(e)
	}
	c.byKey[key] = c.recent.PushFront(&cached{key, status, now.Add(ttl)})
	if c.recent.Len() > cacheMax {
		c.remove(c.recent.Back())
	}
}

func (c *cache) remove(e *list.Element) {
	c.recent.Remove(e)
	delete(c.byKey, e.Value.(*cached).key)
}
