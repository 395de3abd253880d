package soak

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// kind is a resource that runs use.
type kind struct {
	cluster bool     // its objects are in no namespace
	fields  []string // besides metadata; %d is the number of the op, $NS the namespace
}

// resources are the resources that runs use: ConfigMaps and Leases because they are common, Events because they are not in a watch
// cache, ClusterRoles because they have no namespace, Widgets because a CustomResourceDefinition defines them.
var resources = map[string]kind{
	"configmaps":                 {fields: []string{`data={"n":"%d"}`}},
	"leases.coordination.k8s.io": {fields: []string{`spec={"holderIdentity":"%d"}`}},
	"events": {fields: []string{`involvedObject={"namespace":"$NS","name":"x"}`, "reason=r", `message="%d"`,
		"type=Normal"}},
	"clusterroles.rbac.authorization.k8s.io": {cluster: true, fields: []string{`rules=[{"verbs":["get"],"apiGroups":[""],"resources":["r%d"]}]`}},
	"widgets.example.com":                    {fields: []string{`spec={"n":%d}`}},
}

// names are the resources in their order.
var names = object.SortedKeys(resources)

var namespaces = []string{"default", "kube-public"}

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,
"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}]}}
`

// object adds the fields of an object. n makes each write different.
func (o *request) object(k kind, namespace string, n int) {
	for _, f := range k.fields {
		if strings.Contains(f, "%d") {
			f = fmt.Sprintf(f, n)
		}
		o.flag("set", strings.ReplaceAll(f, "$NS", namespace))
	}
}
