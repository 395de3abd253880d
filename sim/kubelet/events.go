package kubelet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// recordedEvent is an event that was recorded for a pod.
type recordedEvent struct {
	Name  string
	Count int64
}

// record stores an event of the kubelet, as client-go's recorder does. field is the path of a container in its pod. An event that before
// has already is counted; if before is nil, nothing is remembered.
func (k *Kubelet) record(api *controller.Client, about object.Object, field string, kind, reason, message string, before map[string]*recordedEvent) {
	namespace := about.Namespace()
	if namespace == "" {
		namespace = "default"
	}
	now := object.Time(api.Now())
	key := strings.Join([]string{reason, field, message}, "\n")
	if old := before[key]; old != nil {
		s := api.Patch("events", "", controller.Key{Namespace: namespace, Name: old.Name}, func(live object.Object) {
			live.Set(old.Count+1, "count")
			live.Set(now, "lastTimestamp")
		})
		if s == nil {
			old.Count++
			return
		}
	}
	ref := map[string]any{"kind": about.Kind(), "name": about.Name(), "uid": about.UID()}
	for name, value := range map[string]string{"namespace": about.Namespace(), "apiVersion": about.APIVersion(), // order does not matter: a map again
		"resourceVersion": about.ResourceVersion(), "fieldPath": field} {
		if value != "" {
			ref[name] = value
		}
	}
	name := api.EventName(namespace, about.Name())
	_, s := api.Create("events", object.Object{"kind": "Event", "apiVersion": "v1",
		"metadata":       map[string]any{"name": name, "namespace": namespace},
		"involvedObject": ref, "reason": reason, "message": message, "type": kind, "count": int64(1),
		"source":             map[string]any{"component": "kubelet", "host": k.node},
		"reportingComponent": "kubelet", "reportingInstance": k.node, "firstTimestamp": now, "lastTimestamp": now})
	if s == nil && before != nil {
		before[key] = &recordedEvent{name, 1}
	}
}

// event records something about the pod, or about one of its containers.
func (w *worker) event(c *container, kind, reason, message string) {
	field := ""
	if c != nil {
		field = fmt.Sprintf("spec.%s{%s}", c.list, c.name)
	}
	if w.rec.Said == nil {
		w.rec.Said = map[string]*recordedEvent{}
	}
	w.k.record(w.api, w.pod, field, kind, reason, message, w.rec.Said)
}

// digest returns 64 hexadecimal digits that follow from some texts.
func digest(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\n")))
	return hex.EncodeToString(sum[:])
}
