package network

import (
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// tracker contains, by service and UID, the generations of the slices that a controller has written. A cache with older generations
// is out of date (endpointslice/util.EndpointSliceTracker).
type tracker map[string]map[string]int64

// goes represents the generation of a slice that has been deleted.
const goes = -1

func (t *tracker) note(key controller.Key, uid string, generation int64) {
	if *t == nil {
		*t = tracker{}
	}
	if (*t)[key.String()] == nil {
		(*t)[key.String()] = map[string]int64{}
	}
	(*t)[key.String()][uid] = generation
}

// forget removes the records of a service.
func (t *tracker) forget(key controller.Key) { delete(*t, key.String()) }

// stale reports whether the cached slices of a service are out of date: some are missing, deleted or of older generations.
func (t *tracker) stale(key controller.Key, have []*slice) bool {
	written, missing := (*t)[key.String()], 0
	for _, generation := range written { // order does not matter: a count
		if generation != goes {
			missing++
		}
	}
	for _, s := range have {
		switch generation, known := written[s.UID()]; {
		case known && (generation == goes || generation > s.Generation()):
			return true
		case known:
			missing--
		}
	}
	return missing > 0
}

// outOfDate returns the error of a reconcile whose cache is out of date.
func outOfDate() *status.Status {
	return status.Plain("EndpointSlice informer cache is out of date")
}

// watches returns watches of the slices that a controller manages. The keys are the services of slices that another client has
// written.
func (t *tracker) watches(manager string, watch controller.Watch) []controller.Watch {
	managed := func(it *resource.Item) bool {
		by, _ := it.Label(managedBy)
		return by == manager
	}
	watch.Resource, watch.Others = endpointSlices, true
	watch.Keys = func(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
		now, before := c.Item(), c.Before()
		generation, known := (*t)[serviceKey(now).String()][identityOf(now).uid]
		switch {
		case c.Deleted():
			if !managed(now) || !known || generation == goes {
				return nil
			}
		case before != nil && serviceKey(now) != serviceKey(before):
			return append(keys, serviceKey(now), serviceKey(before))
		case before != nil && managed(now) != managed(before):
		case !managed(now) || known && identityOf(now).generation <= generation:
			return nil
		}
		return append(keys, serviceKey(now))
	}
	return []controller.Watch{watch, {Resource: endpointSlices, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Deleted() {
			delete((*t)[serviceKey(c.Item()).String()], identityOf(c.Item()).uid)
		}
		return nil
	}}}
}

// serviceKey returns the key of the service of a slice.
func serviceKey(it *resource.Item) controller.Key {
	name, _ := it.Label(serviceName)
	return controller.Key{Namespace: it.Namespace, Name: name}
}

// identity is the UID and generation of a slice.
type identity struct {
	uid        string
	generation int64
}

func identityOf(it *resource.Item) identity {
	return resource.Derived(it, func(obj object.Object) identity { return identity{obj.UID(), obj.Generation()} })
}

// triggers contains, by service, the last observed change times of the endpoints' sources (endpointslice/util.TriggerTimeTracker).
// The times are in the format of objects, to the second and in UTC, so that they can be compared as strings.
type triggers map[string]*trigger

type trigger struct {
	Service string            `json:",omitempty"` // creation time of the service
	Pods    map[string]string `json:",omitempty"` // times of the last readiness changes of pods, by name
}

// last returns the time of the first change since its previous call, or "" if there was none.
func (t *triggers) last(s *service, pods []*pod) (first string) {
	key := controller.Key{Namespace: s.Namespace(), Name: s.Name()}.String()
	before := (*t)[key]
	known := before != nil
	if !known {
		before = &trigger{}
	}
	now := &trigger{Service: s.String("metadata", "creationTimestamp"), Pods: make(map[string]string, len(pods))}
	earlier := func(at string) {
		if first == "" || at < first {
			first = at
		}
	}
	for _, p := range pods {
		if p.readyChanged == "" {
			continue
		}
		if now.Pods[p.name] = p.readyChanged; p.readyChanged > before.Pods[p.name] {
			earlier(p.readyChanged)
		}
	}
	if now.Service > before.Service {
		earlier(now.Service)
	}
	if *t == nil {
		*t = triggers{}
	}
	(*t)[key] = now
	if !known {
		return now.Service
	}
	return first
}

// annotate sets the trigger time of an object. If at is empty, it removes the trigger time.
func annotate(annotations map[string]any, at string) {
	if delete(annotations, triggerTime); at != "" {
		annotations[triggerTime] = at
	}
}

// setMap sets a map in the metadata, or removes the field if the map is empty.
func setMap(obj object.Object, field string, values map[string]any) {
	if len(values) == 0 {
		obj.Remove("metadata", field)
		return
	}
	obj.SetMeta(field, values)
}
