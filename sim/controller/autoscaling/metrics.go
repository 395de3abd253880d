package autoscaling

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Metric is a measurement. It is valid until another one replaces it.
//
//	{Namespace: "default", Object: "Pod/web-1", Name: "cpu", Value: "250m"}                  the usage of a pod
//	{Namespace: "default", Object: "Pod/web-*", Name: "memory", Container: "c", Value: "1Gi"} the usage of a container in several pods
//	{Namespace: "default", Object: "Pod/web-*", Name: "requests", Value: "20"}               a metric of pods
//	{Namespace: "default", Object: "Ingress/main", Name: "requests", Value: "2k"}            a metric of another object
//	{Namespace: "default", Name: "queue", Labels: {"of": "mail"}, Value: "70"}               an external metric
type Metric struct {
	Namespace string
	Name      string            // name of the metric; cpu and memory are the resource usage of pods
	Object    string            // KIND/NAME of the described object; an * at the end matches any suffix; empty for an external metric
	Container string            // the container whose usage this is; empty for the pod as a whole
	Labels    map[string]string // matched by the selectors of metrics
	Value     string            // a quantity, or "" to remove the measurement
}

// sampleWindow is the period over which a metric is measured.
const sampleWindow = 30 * time.Second

// same reports whether m and x are values of the same metric, so that setting one replaces the other.
func (m Metric) same(x Metric) bool {
	return m.Namespace == x.Namespace && m.Name == x.Name && m.Object == x.Object && m.Container == x.Container && maps.Equal(m.Labels, x.Labels)
}

func (m Metric) describes(kind, name string) bool {
	k, pattern, _ := strings.Cut(m.Object, "/")
	prefix, any := strings.CutSuffix(pattern, "*")
	return k == kind && (pattern == name || any && strings.HasPrefix(name, prefix))
}

func (m Metric) milli() int64 { return quantity.MustParse(m.Value).MilliValue() }

// Kubelets provides the resource usage of pods.
type Kubelets interface {
	// PodMetrics returns the usage of the containers in a namespace, as objects of metrics.k8s.io/v1beta1.
	PodMetrics(namespace string) []object.Object
}

// Metrics contains the metrics that were set. If the usage of a pod was not set, the pod's kubelet reports it. If there are
// neither set metrics nor kubelets, stored objects are used: PodMetrics of metrics.k8s.io/v1beta1, and ExternalMetricValue of
// external.metrics.k8s.io/v1beta1.
type Metrics []Metric

// Set adds or replaces a metric. If its Value is empty, Set removes the metric. It returns an error if a field is invalid.
func (m *Metrics) Set(x Metric) error {
	if x.Namespace == "" || x.Name == "" {
		return errors.New("a metric has a namespace and a name")
	}
	if kind, name, ok := strings.Cut(x.Object, "/"); x.Object != "" && (!ok || kind == "" || name == "") {
		return fmt.Errorf("a metric describes KIND/NAME, not %q", x.Object)
	}
	*m = slices.DeleteFunc(*m, x.same)
	if x.Value == "" {
		return nil
	}
	if _, err := quantity.Parse(x.Value); err != nil {
		return fmt.Errorf("the metric %s: %w", x.Name, err)
	}
	*m = append(*m, x)
	return nil
}

// served reports whether a metric for which sort returns true was set. If so, the API for such metrics is available.
func (m Metrics) served(sort func(Metric) bool) bool { return slices.ContainsFunc(m, sort) }

func ofUsage(m Metric) bool {
	return strings.HasPrefix(m.Object, "Pod/") && (m.Name == "cpu" || m.Name == "memory")
}
func ofObjects(m Metric) bool { return m.Object != "" && !ofUsage(m) }
func external(m Metric) bool  { return m.Object == "" }

// find returns the most recently set metric with the name that describes the object and has the given labels and container. It
// returns false if there is none.
func (m Metrics) find(namespace, name, kind, object string, labels selector.Labels, container string) (Metric, bool) {
	for i := len(m) - 1; i >= 0; i-- {
		x := m[i]
		if x.Namespace == namespace && x.Name == name && x.Container == container && x.describes(kind, object) && labels.Match(lookup(x.Labels)) {
			return x, true
		}
	}
	return Metric{}, false
}

func lookup(labels map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := labels[name]; return v, ok }
}

// measurement measures the metrics for a HorizontalPodAutoscaler.
type measurement struct {
	api       *controller.Client
	metrics   Metrics
	kubelets  Kubelets
	namespace string
	pods      []*pod // the target's pods
	labels    selector.Labels
}

// usage returns the usage of a resource by each pod or, if container is not empty, by that container of each pod
// (resourceMetricsClient.GetResourceMetric). The keys are pod names. If the API is not available or has no values, it returns an
// error.
func (m *measurement) usage(resource, container string) (map[string]sample, error) {
	const failed = "unable to fetch metrics from resource metrics API: "
	samples, found := map[string]sample{}, false
	d := m.api.OfKind("metrics.k8s.io/v1beta1", "PodMetrics")
	switch set := m.metrics.served(ofUsage); {
	case set || m.kubelets != nil:
		if m.kubelets != nil {
			found = measured(m.kubelets.PodMetrics(m.namespace), m.labels, resource, container, samples)
		}
		found = set && m.set(resource, container, samples) || found
	case d != nil:
		found = measured(m.api.List(d.Storage, m.namespace, m.labels), m.labels, resource, container, samples)
	default:
		return nil, errors.New(failed + "the server could not find the requested resource (get pods.metrics.k8s.io)")
	}
	if !found {
		return nil, errors.New("no metrics returned from resource metrics API")
	}
	return samples, nil
}

// set adds samples from the metrics that were set for the pods. It reports whether there are any.
func (m *measurement) set(resource, container string, samples map[string]sample) (found bool) {
	for _, p := range m.pods {
		x, ok := m.metrics.find(m.namespace, resource, "Pod", p.Name, selector.Labels{}, container)
		switch {
		case ok:
			samples[p.Name] = sample{x.milli(), m.api.Now(), sampleWindow}
		case container == "":
			m.sum(p, resource, samples)
		}
		found = found || slices.ContainsFunc(m.metrics, func(x Metric) bool {
			return ofUsage(x) && x.Namespace == m.namespace && x.describes("Pod", p.Name)
		})
	}
	return found
}

// sum adds a sample with the total usage of a pod's containers if the usage of each container is known.
func (m *measurement) sum(p *pod, resource string, samples map[string]sample) {
	total := int64(0)
	for _, c := range p.requests {
		x, ok := m.metrics.find(m.namespace, resource, "Pod", p.Name, selector.Labels{}, c.container)
		if !ok {
			return
		}
		total += x.milli()
	}
	samples[p.Name] = sample{total, m.api.Now(), sampleWindow}
}

// measured adds samples from the PodMetrics that a selector matches. It reports whether there are any.
func measured(all []object.Object, labels selector.Labels, resource, container string, samples map[string]sample) (found bool) {
	for _, x := range all {
		if !labels.Match(lookup(x.Labels())) {
			continue
		}
		found = true
		window, _ := time.ParseDuration(x.String("window"))
		s, known := sample{at: workload.TimeOf(x.String("timestamp")), window: window}, false
		for _, c := range x.Objects("containers") {
			v, ok := c.Get("usage", resource)
			if container == "" && !ok {
				known = false
				break
			}
			if ok && (container == "" || c.String("name") == container) {
				s.value += quantity.Of(v).MilliValue()
				known = true
			}
		}
		if known {
			samples[x.Name()] = s
		}
	}
	return found
}

// ofPods returns the values of a metric for the target's pods (customMetricsClient.GetRawMetric).
func (m *measurement) ofPods(name string, labels selector.Labels) (map[string]sample, error) {
	if !m.metrics.served(ofObjects) {
		return nil, errNoCustomMetrics
	}
	samples := map[string]sample{}
	for _, p := range m.pods {
		if x, ok := m.metrics.find(m.namespace, name, "Pod", p.Name, labels, ""); ok {
			samples[p.Name] = sample{x.milli(), m.api.Now(), time.Minute}
		}
	}
	if len(samples) == 0 {
		return nil, errors.New("no metrics returned from custom metrics API")
	}
	return samples, nil
}

var errNoCustomMetrics = errors.New("unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered")

// ofObject returns the value of a metric for an object (customMetricsClient.GetObjectMetric).
func (m *measurement) ofObject(name string, ref object.Object, labels selector.Labels) (int64, error) {
	if !m.metrics.served(ofObjects) {
		return 0, errNoCustomMetrics
	}
	x, ok := m.metrics.find(m.namespace, name, ref.String("kind"), ref.String("name"), labels, "")
	if !ok {
		return 0, fmt.Errorf("unable to fetch metrics from custom metrics API: the server could not find the metric %s for %s %s",
			name, resourceOf(m.api, ref), ref.String("name"))
	}
	return x.milli(), nil
}

// resourceOf returns the name of the resource of a kind as errors contain it: with its group.
func resourceOf(api *controller.Client, ref object.Object) string {
	if d := api.OfKind(cmp.Or(ref.String("apiVersion"), "v1"), ref.String("kind")); d != nil {
		return strings.TrimSuffix(d.Resource+"."+d.Group, ".")
	}
	return ref.String("kind")
}

// external returns the values of an external metric (externalMetricsClient.GetExternalMetric).
func (m *measurement) external(name string, labels selector.Labels) (values []int64, err error) {
	d := m.api.OfKind("external.metrics.k8s.io/v1beta1", "ExternalMetricValue")
	switch {
	case m.metrics.served(external):
		for _, x := range m.metrics {
			if external(x) && x.Namespace == m.namespace && x.Name == name && labels.Match(lookup(x.Labels)) {
				values = append(values, x.milli())
			}
		}
	case d != nil && d.Resource == name:
		m.api.Items(d.Storage, m.namespace, func(it *resource.Item) bool {
			if labels.Match(it.Label) {
				values = append(values, quantity.Of(it.Object()["value"]).MilliValue())
			}
			return true
		})
	default:
		return nil, fmt.Errorf("unable to fetch metrics from external metrics API: the server could not find the requested resource (get %s.external.metrics.k8s.io)", name)
	}
	if len(values) == 0 {
		return nil, errors.New("no metrics returned from external metrics API")
	}
	return values, nil
}
