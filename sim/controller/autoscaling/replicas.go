package autoscaling

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// These are the defaults of kube-controller-manager's flags.
const (
	defaultTolerance = 0.1             // --horizontal-pod-autoscaler-tolerance
	initialization   = 5 * time.Minute // --horizontal-pod-autoscaler-cpu-initialization-period
	readinessDelay   = 30 * time.Second
)

// tolerance is the allowed deviation of the usage from its target, as a fraction of the target.
type tolerance struct{ down, up float64 }

func (t tolerance) within(ratio float64) bool { return 1-t.down <= ratio && ratio <= 1+t.up }

// pod holds the fields of a Pod that the calculation reads.
type pod struct {
	*resource.Item
	*podFacts
}

type podFacts struct {
	phase       string
	deleting    bool
	condition   string // the status of Ready, or "" if there is no such condition
	readySince  time.Time
	started     time.Time
	requests    []request
	podRequests map[string]int64 // pod-level requests in thousandths, or nil
}

// request contains the requests of a container, in thousandths.
type request struct {
	container string
	amounts   map[string]int64
}

func podOf(it *resource.Item) *pod { return &pod{it, resource.Derived(it, readPod)} }

func readPod(obj object.Object) *podFacts {
	ready := obj.Condition("Ready")
	f := &podFacts{phase: obj.String("status", "phase"), deleting: obj.DeletionTimestamp() != "", condition: ready.String("status"),
		readySince: workload.TimeOf(ready.String("lastTransitionTime")), started: workload.TimeOf(obj.String("status", "startTime"))}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range obj.Objects("spec", list) {
			if list == "containers" || c.String("restartPolicy") == "Always" {
				f.requests = append(f.requests, request{c.String("name"), amounts(c.Map("resources", "requests"))})
			}
		}
	}
	if whole := obj.Map("spec", "resources", "requests"); len(whole) > 0 {
		f.podRequests = amounts(whole)
	}
	return f
}

func amounts(of map[string]any) map[string]int64 {
	all := map[string]int64{}
	for name, v := range of { // order does not matter
		all[name] = quantity.Of(v).MilliValue()
	}
	return all
}

// request returns the request of a pod, or of one of its containers, for a resource (calculateRequests).
func (p *pod) request(resource, container string) (sum int64, err error) {
	if container == "" && p.podRequests != nil {
		n, ok := p.podRequests[resource]
		if !ok {
			return 0, fmt.Errorf("missing pod-level request for %s in Pod %s", resource, p.Name)
		}
		return n, nil
	}
	for _, r := range p.requests {
		if container != "" && container != r.container {
			continue
		}
		n, ok := r.amounts[resource]
		if !ok {
			return 0, fmt.Errorf("missing request for %s in container %s of Pod %s", resource, r.container, p.Name)
		}
		if sum += n; container != "" {
			return sum, nil
		}
	}
	if container != "" {
		return 0, fmt.Errorf("container %s not found in Pod %s", container, p.Name)
	}
	return sum, nil
}

// sample is a metric of a pod in thousandths.
type sample struct {
	value  int64
	at     time.Time
	window time.Duration
}

// group classifies pods by their samples (groupPods).
type group struct {
	ready            int
	unready, missing []string // names of pods
}

// groupPods classifies pods, and removes the samples of pods that must be ignored.
func groupPods(pods []*pod, samples map[string]sample, resource string, now time.Time) (g group) {
	for _, p := range pods {
		s, found := samples[p.Name]
		switch {
		case p.deleting || p.phase == "Failed":
			delete(samples, p.Name)
		case p.phase == "Pending" || found && resource == "cpu" && p.warmingUp(s, now):
			delete(samples, p.Name)
			g.unready = append(g.unready, p.Name)
		case !found:
			g.missing = append(g.missing, p.Name)
		default:
			g.ready++
		}
	}
	return g
}

// warmingUp reports whether a pod's CPU usage is not meaningful yet: the pod has never been ready, or was ready for less than the
// window of the sample.
func (p *pod) warmingUp(s sample, now time.Time) bool {
	switch {
	case p.condition == "" || p.started.IsZero():
		return true
	case p.started.Add(initialization).After(now):
		return p.condition == "False" || s.at.Before(p.readySince.Add(s.window))
	}
	return p.condition == "False" && p.started.Add(readinessDelay).After(p.readySince)
}

// target is the value with which a metric of pods is compared: a number in thousandths, or a percentage of the pods' requests.
type target struct {
	value    int64
	requests map[string]int64 // nil if value is not a percentage
}

// use is the usage of the pods that have a sample.
type use struct {
	ratio   float64 // usage as a fraction of the target
	percent int64   // usage as a percentage of the requests
	average int64
}

func (t target) use(samples map[string]sample) (u use, err error) {
	total, requested, n := int64(0), int64(0), int64(0)
	for name, s := range samples { // order does not matter: a sum
		if t.requests != nil {
			r, ok := t.requests[name]
			if !ok {
				continue
			}
			requested += r
		}
		total += s.value
		n++
	}
	if t.requests == nil {
		u.average = total / n
		u.ratio = float64(u.average) / float64(t.value)
		return u, nil
	}
	if requested == 0 {
		return u, errors.New("no metrics returned matched known pods")
	}
	u.percent, u.average = int64(int32(total*100/requested)), total/n
	u.ratio = float64(u.percent) / float64(t.value)
	return u, nil
}

// instead returns the usage that is assumed for the named pod if it has no sample and the target is scaled down.
func (t target) instead(name string) int64 {
	if t.requests == nil {
		return t.value
	}
	return t.requests[name] * max(100, t.value) / 100
}

// replicas returns the number of pods that a pod metric requires (ReplicaCalculator.GetResourceReplicas,
// calcPlainMetricReplicas). For pods that have no sample or are not ready, it assumes the usage that dampens the change most.
func replicas(current int64, t target, samples map[string]sample, g group, within tolerance) (int64, use, error) {
	if len(samples) == 0 {
		return 0, use{}, errors.New("did not receive metrics for targeted pods (pods might be unready)")
	}
	u, err := t.use(samples)
	if err != nil {
		return 0, use{}, err
	}
	growsUnready := len(g.unready) > 0 && u.ratio > 1
	if !growsUnready && len(g.missing) == 0 {
		if within.within(u.ratio) {
			return current, u, nil
		}
		return ceil(u.ratio * float64(g.ready)), u, nil
	}
	for _, name := range g.missing {
		switch {
		case u.ratio < 1:
			samples[name] = sample{value: t.instead(name)}
		case u.ratio > 1:
			samples[name] = sample{}
		}
	}
	if growsUnready {
		for _, name := range g.unready {
			samples[name] = sample{}
		}
	}
	now, err := t.use(samples)
	if err != nil {
		return 0, u, err
	}
	want := ceil(now.ratio * float64(len(samples)))
	switch {
	case within.within(now.ratio), u.ratio < 1 && now.ratio > 1, u.ratio > 1 && now.ratio < 1,
		now.ratio < 1 && want > current, now.ratio > 1 && want < current:
		return current, u, nil
	}
	return want, u, nil
}

// ceil rounds x up to an integer, and limits the result to the range of int32.
func ceil(x float64) int64 {
	return int64(min(math.Ceil(x), math.MaxInt32))
}
