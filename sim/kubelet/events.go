package kubelet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// recordedEvent holds the name and the count of an Event that was recorded for a pod.
type recordedEvent struct {
	Name  string
	Count int64
}

// record creates an event about an object, as client-go's recorder does. field is the path of a container in its pod. before
// contains the events recorded earlier. If it contains the same event, record increments that event's count instead; otherwise
// it adds the new event.
func (k *Kubelet) record(api *controller.Client, about object.Object, field string, kind, reason, message string, before *few[recordedEvent]) {
	namespace := about.Namespace()
	if namespace == "" {
		namespace = "default"
	}
	now := object.Time(api.Now())
	key := strings.Join([]string{reason, field, message}, "\n")
	if old, known := before.lookup(key); known {
		s := api.Patch("events", "", controller.Key{Namespace: namespace, Name: old.Name}, func(live object.Object) {
			live.Set(old.Count+1, "count")
			live.Set(now, "lastTimestamp")
		})
		if s == nil {
			before.set(key, recordedEvent{old.Name, old.Count + 1})
			return
		}
	}
	ref := map[string]any{"kind": about.Kind(), "name": about.Name(), "uid": about.UID()}
	for _, f := range [...]struct{ name, value string }{{"namespace", about.Namespace()}, {"apiVersion", about.APIVersion()},
		{"resourceVersion", about.ResourceVersion()}, {"fieldPath", field}} {
		if f.value != "" {
			ref[f.name] = f.value
		}
	}
	name := api.EventName(namespace, about.Name())
	created, s := api.Create("events", object.Object{"kind": "Event", "apiVersion": "v1",
		"metadata":       map[string]any{"name": name, "namespace": namespace},
		"involvedObject": ref, "reason": reason, "message": message, "type": kind, "count": int64(1),
		"source":             map[string]any{"component": "kubelet", "host": k.node},
		"reportingComponent": "kubelet", "reportingInstance": k.node, "firstTimestamp": now, "lastTimestamp": now})
	if s == nil {
		before.set(object.Keep(key), recordedEvent{created.Name, 1}) // most pods have the same events
	}
}

// event records an event about the pod, or about a container if c is not nil.
func (w *worker) event(c *container, kind, reason, message string) {
	field := ""
	if c != nil {
		field = fmt.Sprintf("spec.%s{%s}", c.list, c.name)
	}
	w.k.record(w.api, w.pod, field, kind, reason, message, &w.rec.Said)
}

// digest returns 64 hexadecimal digits that are derived from the given strings.
func digest(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\n")))
	return hex.EncodeToString(sum[:])
}
