package scheduler

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// template is the part of a pod that pods of the same workload usually share. It is immutable.
type template struct {
	labels        map[string]string
	priority      int64
	neverPreempts bool
	scheduler     string
	gates         []string
	group         string // the name of its PodGroup

	requests         workload.Amounts
	weight           workload.Amounts // the cpu and memory that scoring counts for it on its node
	adds             workload.Amounts // the cpu and memory that scoring adds for it on a candidate node
	affinity         workload.NodeAffinity
	affinityText     string // identifies the set of nodes that its node affinity selects; empty if that is all nodes
	tolerationsText  string // the tolerations as JSON, if the pod has constraints
	preferredNodes   []weightedNodeTerm
	with, apart      []podTerm // required pod affinity, and required anti-affinity
	rather, ratherNo []podTerm // preferred pod affinity, and preferred anti-affinity
	tolerations      []workload.Toleration
	spread           []spreadConstraint
	ports            []workload.HostPort
	volumes          []object.Object // volumes that affect scheduling
	images           []string
	features         []string        // features that its node must declare
	containers       int64           // number of containers, including init containers
	claims           []object.Object // spec.resourceClaims: the dynamic resources that the pod requests
}

// templatesMax is the maximum number of cached templates. When it is reached, the cache is emptied; pods keep their templates.
const templatesMax = 4096

// templates caches the templates of pods by the JSON from which they are derived.
type templates struct {
	all map[string]*template
	key []byte // buffer for the last key
}

// of returns the template of the pod obj, whose item is it. It creates the template if it is not cached.
func (t *templates) of(it *resource.Item, obj object.Object) *template {
	text := it.Bytes()
	labels := labelText(text)
	key := append(append(append(append(t.key[:0], it.Namespace...), 0), labels...), 0)
	if at := json.Find(text, "spec"); at >= 0 {
		spec := text[at:json.End(text, at)]
		before, after, _ := bytes.Cut(spec, []byte(`"nodeName":"`+it.Field("spec.nodeName")+`",`))
		key = append(append(key, before...), after...)
	}
	t.key = appendResources(key, obj)
	if known := t.all[string(t.key)]; known != nil {
		return known
	}
	if t.all == nil || len(t.all) >= templatesMax {
		t.all = map[string]*template{}
	}
	made := readTemplate(it.Namespace, obj)
	t.all[string(t.key)] = made
	return made
}

// appendResources appends the fields of a pod's status that affect its resource usage (see workload.Requests).
func appendResources(key []byte, obj object.Object) []byte {
	if !obj.Has("status", "containerStatuses") {
		return key
	}
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, s := range obj.Objects("status", list) {
			key = append(append(key, 0), s.String("name")...)
			for _, field := range []string{"resources", "allocatedResources"} {
				key = append(append(key, 0), object.JSON(s[field])...)
			}
		}
	}
	return append(append(key, 0), obj.Condition("PodResizePending").String("reason")...)
}

// readTemplate creates the template of a pod in a namespace. The result does not keep the pod's JSON in memory.
func readTemplate(namespace string, obj object.Object) *template {
	spec := obj.At("spec").Kept()
	p := &template{labels: object.KeptStrings(obj.Labels()), priority: spec.Int64("priority"),
		neverPreempts: spec.String("preemptionPolicy") == "Never", scheduler: spec.String("schedulerName"), requests: workload.Requests(obj),
		affinity: workload.NodeAffinityOf(spec), tolerations: workload.TolerationsOf(spec), ports: workload.HostPortsOf(spec),
		claims: spec.Objects("resourceClaims")}
	p.group = spec.String("schedulingGroup", "podGroupName")
	p.weight = weight(obj, p.requests)
	p.adds = p.weight
	if spec.Has("resources") || obj.Has("status", "containerStatuses") {
		p.adds = newWeight(obj)
	}
	for _, g := range spec.Objects("schedulingGates") {
		p.gates = append(p.gates, g.String("name"))
	}
	p.readAffinity(namespace, spec.At("affinity"))
	if !p.affinity.Any() {
		p.affinityText = string(object.JSON(spec.Map("nodeSelector"))) + string(object.JSON(spec.Map("affinity", "nodeAffinity")))
	}
	for _, c := range spec.Objects("topologySpreadConstraints") {
		p.tolerationsText = string(object.JSON(spec.List("tolerations")))
		p.spread = append(p.spread, spreadConstraintOf(c, namespace, p.labels))
	}
	p.readVolumes(spec)
	p.features = requiredFeatures(spec)
	return p
}
