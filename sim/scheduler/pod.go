package scheduler

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// pod is the scheduler's view of one version of a pod. It is immutable.
type pod struct {
	controller.Key
	uid             string
	revision        string // resourceVersion
	generation      int64
	owner           workload.SharedRef // reference to its controller
	node, nominated string
	deleting        bool
	preempted       bool              // the pod was preempted and is being deleted
	generated       map[string]string // names of the resource claims that were generated for it; "" if a claim is not needed
	created         time.Time
	*template
}

// weightedNodeTerm is a preferred NodeSelectorTerm with its weight.
type weightedNodeTerm struct {
	workload.NodeTerm
	weight int64
}

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// podOf returns the scheduler's view of a Pod object.
func (t *templates) podOf(it *resource.Item) *pod {
	obj := it.Shared()
	p := &pod{Key: controller.Key{Namespace: it.Namespace, Name: it.Name}, uid: strings.Clone(obj.UID()), revision: strings.Clone(obj.ResourceVersion()),
		generation: obj.Generation(), node: object.Keep(obj.String("spec", "nodeName")),
		nominated: object.Keep(obj.String("status", "nominatedNodeName")), deleting: obj.DeletionTimestamp() != "",
		created: workload.TimeOf(obj.String("metadata", "creationTimestamp")), owner: workload.RefOf(obj), template: t.of(it, obj)}
	if len(p.claims) > 0 {
		p.generated = map[string]string{}
		for _, s := range obj.Objects("status", "resourceClaimStatuses") {
			p.generated[s.String("name")] = s.String("resourceClaimName")
		}
	}
	if c := obj.Condition(disruptionTarget); p.deleting && c.String("status") == "True" {
		p.preempted = c.String("reason") == byScheduler
	}
	return p
}

func (p *template) readAffinity(namespace string, affinity object.Object) {
	for _, t := range affinity.Objects("nodeAffinity", preferredTerms) {
		p.preferredNodes = append(p.preferredNodes, weightedNodeTerm{workload.NodeTermOf(t.At("preference")), t.Int64("weight")})
	}
	p.with, p.rather = podTerms(namespace, affinity.At("podAffinity"))
	p.apart, p.ratherNo = podTerms(namespace, affinity.At("podAntiAffinity"))
}

func podTerms(namespace string, affinity object.Object) (required, preferred []podTerm) {
	for _, t := range affinity.Objects(requiredTerms) {
		required = append(required, podTermOf(t, namespace, hardAffinityWeight))
	}
	for _, t := range affinity.Objects(preferredTerms) {
		preferred = append(preferred, podTermOf(t.At("podAffinityTerm"), namespace, t.Int64("weight")))
	}
	return required, preferred
}

// readVolumes sets the volumes that affect scheduling, and the images that the pod needs.
func (p *template) readVolumes(spec object.Object) {
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

// normalImage returns the image with the tag latest if it has no tag or digest.
func normalImage(image string) string {
	if strings.LastIndexByte(image, ':') <= strings.LastIndexByte(image, '/') {
		return image + ":latest"
	}
	return image
}

// label returns the value of a label, and whether the pod has it. It is for selectors.
func (p *pod) label(name string) (value string, ok bool) {
	value, ok = p.labels[name]
	return value, ok
}

// isUnchanged reports whether a new version of a running pod is equal to p in all parts that the scheduler uses. Most writes of a pod
// change only its status.
func (p *pod) isUnchanged(it *resource.Item) bool {
	obj := it.Shared()
	return it.Field("spec.nodeName") == p.node && obj.UID() == p.uid && obj.Generation() == p.generation && (obj.DeletionTimestamp() != "") == p.deleting &&
		p.hasLabels(obj.Map("metadata", "labels")) && !isAllocated(obj)
}

// hasLabels reports whether labels are those of the pod.
func (p *pod) hasLabels(labels map[string]any) bool {
	if len(labels) != len(p.labels) {
		return false
	}
	for name, value := range p.labels { // order does not matter
		if labels[name] != value {
			return false
		}
	}
	return true
}

// isAllocated reports whether the status of a pod has allocated resources, which may differ from those of its spec.
func isAllocated(pod object.Object) bool {
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		if slices.ContainsFunc(pod.Objects("status", list), func(s object.Object) bool { return s.Has("allocatedResources") }) {
			return true
		}
	}
	return pod.Has("status", "allocatedResources")
}

// labelText returns the labels in the JSON of an object. They are the first field named "labels".
func labelText(text []byte) string {
	_, rest, _ := bytes.Cut(text, []byte(`"labels":{`))
	labels, _, _ := bytes.Cut(rest, []byte(`}`))
	return string(labels)
}

// about returns an object reference to the pod.
func (p *pod) about() map[string]any {
	return map[string]any{"kind": "Pod", "apiVersion": "v1", "namespace": p.Namespace, "name": p.Name, "uid": p.uid,
		"resourceVersion": p.revision}
}
