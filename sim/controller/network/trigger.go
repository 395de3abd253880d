package network

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// triggers remembers, by service, when what it was last seen to be made of changed
// (endpointslice/util.TriggerTimeTracker). Times are as objects have them, to the second and in UTC, so that they compare as
// texts.
type triggers map[string]*trigger

type trigger struct {
	Service string            `json:",omitempty"` // when it was made
	Pods    map[string]string `json:",omitempty"` // when they became ready, or ceased to be, by name
}

// last returns when the first of the changes since it was last asked was made, "" if there were none.
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

// annotate says on an object when what it is about changed.
func annotate(annotations map[string]any, at string) {
	if delete(annotations, triggerTime); at != "" {
		annotations[triggerTime] = at
	}
}

// setMap sets a map of metadata, or removes it when it is empty.
func setMap(obj object.Object, field string, values map[string]any) {
	if len(values) == 0 {
		obj.Remove("metadata", field)
		return
	}
	obj.SetMeta(field, values)
}
