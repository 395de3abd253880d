package resource

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/devices"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// eviction implements device-taint-eviction-controller.
type eviction struct {
	memory  evictionMemory
	catalog *devices.Catalog // rebuilt from the cache
}

// evictionMemory holds the times at which pods are evicted, by pod key, and the numbers of pods that each rule has evicted, by UID.
type evictionMemory struct {
	Planned map[string]time.Time `json:",omitempty"`
	Evicted map[string]int       `json:",omitempty"`
}

// DeviceTaintEviction deletes the pods that use devices with a NoExecute taint that their requests do not tolerate, or no longer
// tolerate, and writes the status of DeviceTaintRules (pkg/controller/devicetainteviction, KEP-5055).
func DeviceTaintEviction() controller.Controller {
	e := &eviction{}
	return controller.Account("device-taint-eviction-controller", "device-taint-eviction-controller", e,
		controller.Watch{Resource: devices.Slices, Keys: e.sliceWritten}, controller.Watch{Resource: devices.Rules, Keys: e.ruleWritten},
		controller.Watch{Resource: devices.Claims, Keys: e.claimWritten}, controller.Watch{Resource: workload.Pods, Keys: e.podWritten})
}

// Memory implements controller.Rememberer.
func (e *eviction) Memory() any { return &e.memory }

// Learn implements controller.Learner.
func (e *eviction) Learn(api *controller.Client) { e.begin(api) }

// begin reads the existing slices and rules on the first call.
func (e *eviction) begin(api *controller.Client) {
	if e.catalog != nil {
		return
	}
	e.catalog = &devices.Catalog{}
	for _, slice := range api.All(devices.Slices, "") {
		e.catalog.Put(slice)
	}
	for _, rule := range api.All(devices.Rules, "") {
		e.catalog.PutRule(rule)
	}
}

// sliceWritten returns the pods of the devices in a slice's pool.
func (e *eviction) sliceWritten(api *controller.Client, c *commit.Commit) []controller.Key {
	e.begin(api)
	slice := c.Object()
	if e.catalog.Remove(c.Name); !c.Deleted() {
		e.catalog.Put(slice)
	}
	return e.podsOf(api, func(id devices.ID) bool {
		return id.Driver == slice.String("spec", "driver") && id.Pool == slice.String("spec", "pool", "name")
	})
}

// ruleWritten returns the key of a rule whose spec has changed, and all pods with devices.
func (e *eviction) ruleWritten(api *controller.Client, c *commit.Commit) []controller.Key {
	e.begin(api)
	if e.catalog.RemoveRule(c.Name); !c.Deleted() {
		e.catalog.PutRule(c.Object())
		if !c.Created() && object.Equal(c.OldObject().Map("spec"), c.Object().Map("spec")) {
			return nil
		}
	} else {
		delete(e.memory.Evicted, c.Object().UID())
	}
	return append([]controller.Key{ruleKey(c.Name)}, e.podsOf(api, func(devices.ID) bool { return true })...)
}

// podsOf returns the pods that use a device for which matches returns true.
func (e *eviction) podsOf(api *controller.Client, matches func(devices.ID) bool) (keys []controller.Key) {
	api.Items(devices.Claims, "", func(it *resource.Item) bool {
		claim := it.Shared()
		if slices.ContainsFunc(devices.Results(claim), func(r object.Object) bool { return matches(devices.IDOf(r)) }) {
			keys = append(keys, consumersOf(claim)...)
		}
		return true
	})
	return keys
}

// consumersOf returns the pods for which a claim is reserved.
func consumersOf(claim object.Object) (keys []controller.Key) {
	for _, r := range claim.Objects("status", "reservedFor") {
		if r.String("apiGroup") == "" && r.String("resource") == "pods" {
			keys = append(keys, controller.Key{Namespace: claim.Namespace(), Name: r.String("name")})
		}
	}
	return keys
}

// claimWritten returns the pods for which a claim is reserved, or was reserved before.
func (e *eviction) claimWritten(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	e.begin(api)
	if !c.Created() {
		keys = consumersOf(c.OldObject())
	}
	if !c.Deleted() {
		keys = append(keys, consumersOf(c.Object())...)
	}
	return keys
}

// podWritten returns the key of a pod with claims.
func (e *eviction) podWritten(api *controller.Client, c *commit.Commit) []controller.Key {
	e.begin(api)
	if it := c.Item(); it == nil || !workload.PodOf(it).UsesResourceClaims {
		return nil
	}
	return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
}

// Reconcile evicts a pod, or schedules its eviction for when its requests no longer tolerate the taints.
func (e *eviction) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	e.begin(api)
	if name, ok := strings.CutPrefix(key.Name, rulePrefix); ok {
		return e.syncRule(api, name)
	}
	pod := api.GetShared(workload.Pods, key.Namespace, key.Name)
	_, planned := e.memory.Planned[key.String()]
	if pod == nil || pod.DeletionTimestamp() != "" || !api.Profile().Gates["DRADeviceTaints"] {
		delete(e.memory.Planned, key.String())
		return 0, nil
	}
	at, rules := e.evictionOf(api, pod)
	evicts := rules != nil
	for _, name := range object.SortedKeys(rules) {
		api.EnqueueAfter(ruleKey(rules[name]), ruleStatusPeriod)
	}
	switch {
	case !evicts && planned:
		delete(e.memory.Planned, key.String())
		recordEviction(api, pod, "Cancelling deletion")
		fallthrough
	case !evicts:
		return 0, nil
	case at.After(api.Now()):
		if e.memory.Planned == nil {
			e.memory.Planned = map[string]time.Time{}
		}
		e.memory.Planned[key.String()] = at
		return at.Sub(api.Now()), nil
	}
	delete(e.memory.Planned, key.String())
	recordEviction(api, pod, "Marking for deletion")
	s := api.Patch(workload.Pods, "status", key, func(live object.Object) {
		if controller.SetCondition(live, api.Now(), "DisruptionTarget", "True", "DeletionByDeviceTaintManager",
			"Device Taint manager: deleting due to NoExecute taint") {
			live.Condition("DisruptionTarget")["observedGeneration"] = live.Generation()
		}
	})
	if s == nil {
		s = api.Delete(workload.Pods, key, controller.Preconditions{UID: pod.UID()})
	}
	if s == nil {
		for uid := range rules { // order does not matter
			increment(&e.memory.Evicted, uid)
		}
	}
	return 0, workload.Found(s)
}

// increment increments a counter in a map that may be nil.
func increment(counters *map[string]int, key string) {
	if *counters == nil {
		*counters = map[string]int{}
	}
	(*counters)[key]++
}

// recordEviction records an event about a pod. It refers to the pod without its resourceVersion.
func recordEviction(api *controller.Client, pod object.Object, message string) {
	about := object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": pod.Name(), "namespace": pod.Namespace(), "uid": pod.UID()}}
	_ = api.Event(about, "Normal", "DeviceTaintManagerEviction", message)
}

// evictionOf returns the time at which a pod has to be evicted, and the names of the rules that are a reason, by UID. If the pod need
// not be evicted, rules is nil (podEvictionTime).
func (e *eviction) evictionOf(api *controller.Client, pod object.Object) (at time.Time, rules map[string]string) {
	if pod.String("spec", "nodeName") == "" {
		return at, nil
	}
	for _, r := range devicesOf(api, pod) {
		for _, taint := range e.catalog.Evicting(devices.IDOf(r), hasTaintRules(api)) {
			when, tolerated := endOf(taint.Object, r.Objects("tolerations"))
			if tolerated {
				continue
			}
			if rules == nil || when.Before(at) {
				at = when
			}
			if rules == nil {
				rules = map[string]string{}
			}
			if taint.Rule != "" {
				rules[taint.Rule] = taint.RuleName
			}
		}
	}
	return at, rules
}

// hasTaintRules reports whether the taints of DeviceTaintRules are in effect.
func hasTaintRules(api *controller.Client) bool {
	on, known := api.Profile().Gates["DRADeviceTaintRules"]
	return on || !known && api.Since(37)
}

// endOf returns the time until which tolerations allow a taint. If that is for ever, tolerated is true.
func endOf(taint object.Object, tolerations []object.Object) (at time.Time, tolerated bool) {
	at = workload.TimeOf(taint.String("timeAdded"))
	least, limited := int64(0), false
	for _, t := range tolerations {
		if t.String("effect") != "NoExecute" || !devices.Tolerates(t, taint) {
			continue
		}
		seconds, ok := t.Int("tolerationSeconds")
		if !ok {
			return at, true
		}
		if seconds = max(seconds, 0); !limited || seconds < least {
			least, limited = seconds, true
		}
	}
	return at.Add(time.Duration(least) * time.Second), false
}
