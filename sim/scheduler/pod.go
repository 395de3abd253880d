package scheduler

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// pod is the scheduler's view of a pod, derived once from each version of it. It is immutable.
type pod struct {
	controller.Key
	uid             string
	revision        string // resourceVersion
	generation      int64
	labels          map[string]string
	owner           object.Object // the reference to its controller, or nil
	priority        int64
	neverPreempts   bool
	scheduler       string
	node, nominated string
	gates           []string
	deleting        bool
	preempted       bool // it is deleted for a pod of a higher priority
	created         time.Time
	labelText       string // its labels as they are printed

	requests         workload.Amounts
	weight           workload.Amounts // what its node counts for scoring
	adds             workload.Amounts // what scoring adds for it on a candidate node
	affinity         workload.NodeAffinity
	affinityText     string // names the nodes that it selects; empty for all
	tolerationsText  string // of a pod with constraints, as they are printed
	preferredNodes   []weightedNodeTerm
	with, apart      []podTerm // required pod affinity and anti-affinity
	rather, ratherNo []podTerm // and prefer
	tolerations      []workload.Toleration
	spread           []spreadConstraint
	ports            []workload.HostPort
	volumes          []object.Object // volumes that affect scheduling
	images           []string
	containers       int64 // with init containers
	claims           bool  // it asks for dynamic resources
}

// weightedNodeTerm is a preferred NodeSelectorTerm.
type weightedNodeTerm struct {
	workload.NodeTerm
	weight int64
}

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// podOf reads a pod.
func podOf(it *resource.Item) *pod {
	obj := it.Shared()
	spec := obj.At("spec")
	p := &pod{Key: controller.Key{Namespace: it.Namespace, Name: it.Name}, uid: obj.UID(), revision: obj.ResourceVersion(),
		generation: obj.Generation(), labels: obj.Labels(), owner: workload.ControllerOf(obj), priority: spec.Int64("priority"),
		neverPreempts: spec.String("preemptionPolicy") == "Never", scheduler: spec.String("schedulerName"),
		node: spec.String("nodeName"), nominated: obj.String("status", "nominatedNodeName"),
		deleting: obj.DeletionTimestamp() != "", created: workload.TimeOf(obj.String("metadata", "creationTimestamp")),
		labelText: labelText(it.Bytes), requests: workload.Requests(obj),
		affinity: workload.NodeAffinityOf(spec), tolerations: workload.TolerationsOf(spec), ports: workload.HostPortsOf(spec),
		claims: len(spec.List("resourceClaims")) > 0}
	p.weight = weight(obj, p.requests)
	p.adds = p.weight
	if spec.Has("resources") || obj.Has("status", "containerStatuses") {
		p.adds = newWeight(obj)
	}
	for _, g := range spec.Objects("schedulingGates") {
		p.gates = append(p.gates, g.String("name"))
	}
	if c := obj.Condition(disruptionTarget); p.deleting && c.String("status") == "True" {
		p.preempted = c.String("reason") == byScheduler
	}
	p.readAffinity(spec.At("affinity"))
	if !p.affinity.Any() {
		p.affinityText = string(object.JSON(spec.Map("nodeSelector"))) + string(object.JSON(spec.Map("affinity", "nodeAffinity")))
	}
	for _, c := range spec.Objects("topologySpreadConstraints") {
		p.tolerationsText = string(object.JSON(spec.List("tolerations")))
		p.spread = append(p.spread, spreadConstraintOf(c, p.Namespace, p.labels))
	}
	p.readVolumes(spec)
	return p
}

func (p *pod) readAffinity(affinity object.Object) {
	for _, t := range affinity.Objects("nodeAffinity", preferredTerms) {
		p.preferredNodes = append(p.preferredNodes, weightedNodeTerm{workload.NodeTermOf(t.At("preference")), t.Int64("weight")})
	}
	p.with, p.rather = p.podTerms(affinity.At("podAffinity"))
	p.apart, p.ratherNo = p.podTerms(affinity.At("podAntiAffinity"))
}

func (p *pod) podTerms(affinity object.Object) (required, preferred []podTerm) {
	for _, t := range affinity.Objects(requiredTerms) {
		required = append(required, podTermOf(t, p.Namespace, hardAffinityWeight))
	}
	for _, t := range affinity.Objects(preferredTerms) {
		preferred = append(preferred, podTermOf(t.At("podAffinityTerm"), p.Namespace, t.Int64("weight")))
	}
	return required, preferred
}

// readVolumes takes out the volumes that decide where a pod can run, and the images that it needs.
func (p *pod) readVolumes(spec object.Object) {
	for _, v := range spec.Objects("volumes") {
		if image := v.String("image", "reference"); image != "" {
			p.images = append(p.images, normalImage(image))
		}
		if slices.ContainsFunc(decisiveVolumes, func(name string) bool { return v.Has(name) }) {
			p.volumes = append(p.volumes, v)
		}
	}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Objects(list) {
			p.images = append(p.images, normalImage(c.String("image")))
			p.containers++
		}
	}
}

// normalImage adds the default tag to an image without one.
func normalImage(image string) string {
	if strings.LastIndexByte(image, ':') <= strings.LastIndexByte(image, '/') {
		return image + ":latest"
	}
	return image
}

// label returns the value of a label for selectors.
func (p *pod) label(name string) (value string, ok bool) {
	value, ok = p.labels[name]
	return value, ok
}

// isUnchanged reports whether a running pod is unchanged for the scheduler. Most writes of a pod change its status, and reading the whole pod
// each time would be the largest cost.
func (p *pod) isUnchanged(it *resource.Item) bool {
	return it.Field("spec.nodeName") == p.node && bytes.Contains(it.Bytes, []byte(`"deletionTimestamp":`)) == p.deleting &&
		bytes.Contains(it.Bytes, []byte(`"uid":"`+p.uid+`"`)) && labelText(it.Bytes) == p.labelText &&
		bytes.Contains(it.Bytes, []byte(`"generation":`+strconv.FormatInt(p.generation, 10)+`,`)) &&
		!bytes.Contains(it.Bytes, []byte(`"allocatedResources":`))
}

// labelText returns the labels in the text of an object: they come before everything else that is called so.
func labelText(text []byte) string {
	_, rest, _ := bytes.Cut(text, []byte(`"labels":{`))
	labels, _, _ := bytes.Cut(rest, []byte(`}`))
	return string(labels)
}

// about is a reference to the pod.
func (p *pod) about() map[string]any {
	return map[string]any{"kind": "Pod", "apiVersion": "v1", "namespace": p.Namespace, "name": p.Name, "uid": p.uid,
		"resourceVersion": p.revision}
}
