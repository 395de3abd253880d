package outbound

import (
	"net/http"
	"strings"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// Metrics is an aggregated API server in process that reports the resource usage of nodes and pods for kubectl top, like
// metrics-server. It serves one version of metrics.k8s.io: v1beta1 or v1, which are equal.
type Metrics struct {
	Cluster *sim.Cluster
	Version string
}

func (m Metrics) groupVersion() string { return "metrics.k8s.io/" + m.Version }

func (m Metrics) path() string { return "/apis/" + m.groupVersion() }

// ServeHTTP implements http.Handler.
func (m Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, s := m.answer(strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, m.path()), "/"), "/"), r)
	w.Header().Set("Content-Type", "application/json")
	if s != nil {
		w.WriteHeader(s.Code)
		_, _ = w.Write(s.JSON())
		return
	}
	_, _ = w.Write(object.JSON(answer))
}

func (m Metrics) answer(path []string, r *http.Request) (any, *status.Status) {
	namespace := ""
	if len(path) > 2 && path[0] == "namespaces" {
		namespace, path = path[1], path[2:]
	}
	switch {
	case !strings.HasPrefix(r.URL.Path, m.path()):
	case path[0] == "":
		return m.resources(), nil
	case path[0] == "nodes" && namespace == "":
		return m.pick(m.Cluster.NodeMetrics(), "NodeMetricsList", status.Resource{Group: "metrics.k8s.io", Resource: "nodes"}, path[1:], r)
	case path[0] == "pods" && (namespace != "" || len(path) == 1):
		return m.pick(m.Cluster.PodMetrics(namespace), "PodMetricsList", status.Resource{Group: "metrics.k8s.io", Resource: "pods"}, path[1:], r)
	}
	return nil, status.NoResource()
}

// pick returns the object with the given name or, without a name, the list of objects that match the request's selectors.
func (m Metrics) pick(all []object.Object, kind string, of status.Resource, name []string, r *http.Request) (any, *status.Status) {
	for _, obj := range all {
		obj["apiVersion"] = m.groupVersion()
	}
	if len(name) > 0 {
		for _, obj := range all {
			if obj.Name() == name[0] {
				return map[string]any(obj), nil
			}
		}
		return nil, status.NotFound(of, name[0])
	}
	labels, err := selector.ParseLabels(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	fields, err := selector.ParseFields(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	items := []any{}
	for _, obj := range all {
		own := obj.Labels()
		field := func(name string) string { return obj.String(strings.Split(name, ".")...) }
		if labels.Match(func(key string) (string, bool) { value, ok := own[key]; return value, ok }) && fields.Matches(field) {
			items = append(items, map[string]any(obj))
		}
	}
	return map[string]any{"kind": kind, "apiVersion": m.groupVersion(), "metadata": map[string]any{}, "items": items}, nil
}

// resources returns the discovery document of the API.
func (m Metrics) resources() map[string]any {
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": m.groupVersion(), "resources": []any{
		map[string]any{"name": "nodes", "singularName": "", "namespaced": false, "kind": "NodeMetrics", "verbs": []any{"get", "list"}},
		map[string]any{"name": "pods", "singularName": "", "namespaced": true, "kind": "PodMetrics", "verbs": []any{"get", "list"}},
	}}
}
