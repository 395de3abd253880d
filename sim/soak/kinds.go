package soak

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/checker"
)

// kind is a resource that runs work with.
type kind struct {
	path       string // before the namespace
	plural     string
	apiVersion string
	kind       string
	namespaced bool
	body       string // fields besides metadata; %d is the number of the op
}

// resources are what runs work with: ConfigMaps and Leases as everybody does, Events because no watch cache has them,
// ClusterRoles because they have no namespace, Widgets because a definition makes them.
var resources = map[string]kind{
	"configmaps": {"/api/v1", "configmaps", "v1", "ConfigMap", true, `"data":{"n":"%d"}`},
	"leases.coordination.k8s.io": {"/apis/coordination.k8s.io/v1", "leases", "coordination.k8s.io/v1", "Lease", true,
		`"spec":{"holderIdentity":"%d"}`},
	"events": {"/api/v1", "events", "v1", "Event", true,
		`"involvedObject":{"namespace":"$NS","name":"x"},"reason":"r","message":"%d","type":"Normal"`},
	"clusterroles.rbac.authorization.k8s.io": {"/apis/rbac.authorization.k8s.io/v1", "clusterroles",
		"rbac.authorization.k8s.io/v1", "ClusterRole", false, `"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["r%d"]}]`},
	"widgets.example.com": {"/apis/example.com/v1", "widgets", "example.com/v1", "Widget", true, `"spec":{"n":%d}`},
}

// expiring are those whose objects go away by themselves: an Event after an hour.
var expiring = []string{"events"}

var namespaces = []string{"default", "kube-public"}

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,
"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}]}}`

// id splits namespace/name.
func id(resource, key string) checker.ID {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		namespace, name = "", key
	}
	return checker.ID{Resource: resource, Namespace: namespace, Name: name}
}

// collection is the path of a resource in a namespace, "" is all.
func (k kind) collection(namespace string) string {
	if namespace == "" {
		return k.path + "/" + k.plural
	}
	return k.path + "/namespaces/" + namespace + "/" + k.plural
}

// object prints an object: n is what makes each write another one.
func (k kind) object(id checker.ID, label string, n int, based uint64) string {
	meta := fmt.Sprintf(`"name":%q`, id.Name)
	if id.Namespace != "" {
		meta += fmt.Sprintf(`,"namespace":%q`, id.Namespace)
	}
	if label != "" && label != "l2" { // the third label is none
		meta += fmt.Sprintf(`,"labels":{"app":%q}`, label)
	}
	if based != 0 {
		meta += fmt.Sprintf(`,"resourceVersion":"%d"`, based)
	}
	body := strings.ReplaceAll(fmt.Sprintf(k.body, n), "$NS", id.Namespace)
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{%s},%s}`, k.apiVersion, k.kind, meta, body)
}
