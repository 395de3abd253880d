// Package meter counts the requests to the API servers for /metrics.
//
//	apiserver ─ Audit ─▶ Meter ─ Audit ─▶ audit.Log, if there is one
//	              Reached ─▶ series ─ Metrics ─▶ apiserver_request_total{…} 3
//
// The names, the labels and the help texts of the metrics are those of kube-apiserver (k8s.io/apiserver/pkg/endpoints/metrics).
// Durations are those of the Cluster's clock. Only requests that a resource handles are counted.
package meter

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Meter implements apiserver.Meter. The Cluster's lock guards it.
type Meter struct {
	next     apiserver.Auditor // may be nil
	series   map[string]*series
	long     map[string]int // open streams by labels
	inFlight map[string]int // by kind of request

	deprecated map[string]int // 1 for each deprecated API that was requested, by labels

	sources []Source
}

// Source has further metrics, in the text format of Prometheus.
type Source interface{ Metrics() string }

// series are the requests with the same labels.
type series struct {
	codes   map[string]int
	buckets []int // requests that took at most the bound of the same index
	seconds float64
	count   int
}

// bounds are the upper bounds of the buckets of durations, in seconds.
var bounds = []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}

// verbs maps the verbs of authorization to those in the metrics.
var verbs = map[string]string{"get": "GET", "list": "LIST", "watch": "WATCH", "create": "POST", "update": "PUT", "patch": "PATCH", "apply": "APPLY",
	"delete": "DELETE", "deletecollection": "DELETE", "connect": "CONNECT"}

// New returns a Meter that passes the requests on to next, unless next is nil. Its metrics end with those of the sources.
func New(next apiserver.Auditor, sources ...Source) *Meter {
	return &Meter{next, map[string]*series{}, map[string]int{}, map[string]int{"mutating": 0, "readOnly": 0}, map[string]int{}, sources}
}

// request is a request that is being served.
type request struct {
	meter *Meter
	next  apiserver.Recorder // may be nil
	e     *apiserver.Exchange
	began time.Time
	kind  string // mutating, readOnly, or "" for a stream
	open  bool   // it is a stream that has begun
}

// Audit implements apiserver.Auditor.
func (m *Meter) Audit(e *apiserver.Exchange, at auth.Attributes) *apiserver.Audit {
	a := &apiserver.Audit{}
	if m.next != nil {
		if more := m.next.Audit(e, at); more != nil {
			a = more
		}
	}
	a.Recorder = &request{meter: m, next: a.Recorder, e: e, began: e.Now()}
	return a
}

// Reached implements apiserver.Recorder.
func (r *request) Reached(a *apiserver.Audit, stage apiserver.Stage) {
	if r.next != nil {
		r.next.Reached(a, stage)
	}
	m := r.meter
	switch stage {
	case apiserver.RequestReceived:
		if r.kind = kindOf(r.e); r.kind != "" {
			m.inFlight[r.kind]++
		}
	case apiserver.ResponseStarted:
		if r.open = r.e.Handled() != ""; r.open {
			m.long[r.labels("", false)]++
		}
	case apiserver.ResponseComplete:
		if r.kind != "" {
			m.inFlight[r.kind]--
		}
		if r.open {
			m.long[r.labels("", false)]--
		}
		if r.e.Handled() != "" {
			m.add(r.labels(dryRun(r.e), true), a.Code, r.e.Now().Sub(r.began).Seconds())
		}
		if a.Annotations[apiserver.Deprecated] != "" {
			m.deprecated[fmt.Sprintf("group=%q,removed_release=%q,resource=%q,subresource=%q,version=%q", r.e.Group,
				a.Annotations[apiserver.RemovedRelease], r.e.Resource, r.e.Subresource, r.e.Version)] = 1
		}
	}
}

// add counts a response with a code, and its duration.
func (m *Meter) add(labels string, code int, seconds float64) {
	s := m.series[labels]
	if s == nil {
		s = &series{codes: map[string]int{}, buckets: make([]int, len(bounds))}
		m.series[labels] = s
	}
	s.codes[strconv.Itoa(code)]++
	s.count++
	s.seconds += seconds
	for i, bound := range bounds {
		if seconds <= bound {
			s.buckets[i]++
		}
	}
}

// kindOf returns the kind under which a request in flight is counted, readOnly or mutating, or "" if it is not counted, such as a
// watch.
func kindOf(e *apiserver.Exchange) string {
	switch {
	case slices.Contains([]string{"watch", "proxy"}, e.Verb), slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy"}, e.Subresource):
		return ""
	case slices.Contains([]string{"get", "list"}, e.Verb):
		return "readOnly"
	}
	return "mutating"
}

// dryRun returns the label dry_run of a request.
func dryRun(e *apiserver.Exchange) string {
	switch values := e.Query["dryRun"]; {
	case len(values) == 0:
		return ""
	case slices.ContainsFunc(values, func(v string) bool { return v != "All" }):
		return "invalid"
	}
	return "All"
}

// labels returns the labels of a request, except its code.
func (r *request) labels(dryRun string, withDryRun bool) string {
	e, scope := r.e, "cluster"
	switch {
	case e.Name != "" || e.Verb == "create":
		scope = "resource"
	case e.Namespace != "":
		scope = "namespace"
	}
	text := `component="apiserver",`
	if withDryRun {
		text += fmt.Sprintf("dry_run=%q,", dryRun)
	}
	return text + fmt.Sprintf("group=%q,resource=%q,scope=%q,subresource=%q,verb=%q,version=%q", e.Group, e.Resource, scope, e.Subresource,
		verbs[e.Handled()], e.Version)
}

// Metrics implements apiserver.Meter.
func (m *Meter) Metrics(objects iter.Seq2[*resource.Definition, int]) string {
	var b strings.Builder
	head := func(name, help, kind string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind) }
	gauges := func(name, help, format string, values map[string]int) {
		head(name, help, "gauge")
		for _, key := range object.SortedKeys(values) {
			fmt.Fprintf(&b, "%s{"+format+"} %d\n", name, key, values[key])
		}
	}
	gauges("apiserver_current_inflight_requests", "[STABLE] Maximal number of currently used inflight request limit of this apiserver "+
		"per request kind in last second.", "request_kind=%q", m.inFlight)
	gauges("apiserver_longrunning_requests", "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, "+
		"resource, scope and component. Not all requests are tracked this way.", "%s", m.long)
	head("apiserver_request_duration_seconds", "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, "+
		"resource, subresource, scope and component.", "histogram")
	for _, labels := range object.SortedKeys(m.series) {
		m.series[labels].histogram(&b, "apiserver_request_duration_seconds", labels)
	}
	head("apiserver_request_total", "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "+
		"scope, component, and HTTP response code.", "counter")
	for _, line := range m.totals() {
		fmt.Fprintf(&b, "apiserver_request_total{%s\n", line)
	}
	gauges("apiserver_requested_deprecated_apis", "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, "+
		"resource, subresource, and removed_release.", "%s", m.deprecated)
	grouped, stored := map[string]int{}, map[string]int{}
	for d, n := range objects {
		grouped[fmt.Sprintf("group=%q,resource=%q", d.Group, d.Resource)] = n
		stored[d.GroupResource().String()] = n
	}
	gauges("apiserver_resource_objects", "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, "+
		"the value will be -1.", "%s", grouped)
	gauges("apiserver_storage_objects", "[STABLE] (Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] "+
		"Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.", "resource=%q", stored)
	for _, s := range m.sources {
		b.WriteString(s.Metrics())
	}
	return b.String()
}

// totals returns the numbers of requests by code and labels, sorted.
func (m *Meter) totals() (lines []string) {
	for _, labels := range object.SortedKeys(m.series) {
		for code, n := range m.series[labels].codes { // order does not matter: the lines are sorted
			lines = append(lines, fmt.Sprintf("code=%q,%s} %d", code, labels, n))
		}
	}
	slices.SortFunc(lines, cmp.Compare[string])
	return lines
}

// histogram writes the durations of the requests.
func (s *series) histogram(b *strings.Builder, name, labels string) {
	for i, bound := range bounds {
		fmt.Fprintf(b, "%s_bucket{%s,le=%q} %d\n", name, labels, strconv.FormatFloat(bound, 'g', -1, 64), s.buckets[i])
	}
	fmt.Fprintf(b, "%s_bucket{%s,le=\"+Inf\"} %d\n%[1]s_sum{%[2]s} %[4]s\n%[1]s_count{%[2]s} %[3]d\n", name, labels, s.count,
		strconv.FormatFloat(s.seconds, 'g', -1, 64))
}
