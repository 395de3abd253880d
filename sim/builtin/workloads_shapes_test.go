package builtin

import (
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// shapes are objects with most fields of the kinds in the files beside this one.
var shapes = []ruleTest{
	{storage: "deployments.apps", base: workloadJSON}, {storage: "replicasets.apps", base: workloadJSON},
	{storage: "statefulsets.apps", base: workloadJSON}, {storage: "daemonsets.apps", base: workloadJSON},
	{storage: "controllerrevisions.apps", base: `{"metadata":{"name":"r","ownerReferences":[{"controller":true}]},"data":{}}`},
	{storage: "jobs.batch", base: storedJobJSON}, {storage: "cronjobs.batch", base: cronJSON}, scaler,
	{storage: "horizontalpodautoscalers.autoscaling", version: "v2", base: scalerFull},
	{storage: "poddisruptionbudgets.policy", base: `{"metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}},"status":{"conditions":[{"type":"A"}]}}`},
	{storage: "leases.coordination.k8s.io", base: `{"metadata":{"name":"l"},"spec":{"leaseTransitions":1}}`},
	{storage: "priorityclasses.scheduling.k8s.io", base: `{"metadata":{"name":"system-x"},"value":1}`},
	{storage: "certificatesigningrequests.certificates.k8s.io", base: `{"metadata":{"name":"c"},"spec":{"usages":["any"],"signerName":"a.b/c"},"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"}]}}`},
	{storage: "flowschemas.flowcontrol.apiserver.k8s.io", base: `{"metadata":{"name":"exempt"},"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["*"]}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/"]}]}]}}`},
	{storage: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", base: `{"metadata":{"name":"exempt"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":1}}}}}`},
	{storage: "validatingwebhookconfigurations.admissionregistration.k8s.io", base: hooksJSON},
	{storage: "mutatingwebhookconfigurations.admissionregistration.k8s.io", base: hooksJSON},
	{storage: "validatingadmissionpolicies.admissionregistration.k8s.io", base: policyJSON},
	{storage: "mutatingadmissionpolicies.admissionregistration.k8s.io", base: policyJSON},
	{storage: "validatingadmissionpolicybindings.admissionregistration.k8s.io", base: `{"metadata":{"name":"b"},"spec":{"paramRef":{"selector":{"matchExpressions":[{"key":"a"}]}},"matchResources":{"resourceRules":[{}]}}}`},
	{storage: "mutatingadmissionpolicybindings.admissionregistration.k8s.io", base: `{"metadata":{"name":"b"},"spec":{"paramRef":{"name":"x"}}}`},
	{storage: "resourceclaims.resource.k8s.io", base: claimJSON},
	{storage: "resourceclaimtemplates.resource.k8s.io", base: `{"metadata":{"name":"t"},"spec":` + claimJSON + `}`},
	{storage: "resourceslices.resource.k8s.io", base: `{"metadata":{"name":"s"},"spec":{"pool":{"name":"p"},"devices":[{"name":"x","attributes":{"a":{"int":1}},"capacity":{"m":{"value":"1","requestPolicy":{"validRange":{"min":"1","step":"0"}}}},"taints":[{}],"consumesCounters":[{}]}],"nodeSelector":{"nodeSelectorTerms":[{}]}}}`},
	{storage: "deviceclasses.resource.k8s.io", base: `{"metadata":{"name":"c"},"spec":{"selectors":[{}],"config":[{}]}}`},
}

// visit calls yield with every way to leave out or empty one value in v; v is changed while yield runs.
func visit(v any, yield func()) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			was := v[name]
			visit(was, yield)
			delete(v, name)
			yield()
			switch was.(type) {
			case map[string]any:
				v[name] = map[string]any{}
				yield()
			case []any:
				v[name] = []any{}
				yield()
			}
			v[name] = was
		}
	case []any:
		for i := range v {
			visit(v[i], yield)
		}
	}
}

// TestShapesDoNotPanic runs every rule on objects with something missing: what a client leaves out is its error.
func TestShapesDoNotPanic(t *testing.T) {
	for _, rt := range shapes {
		t.Run(rt.storage, func(t *testing.T) {
			k := rt.kind(t)
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			whole := rt.make(t, "")
			obj := parsed(t, rt.base)
			visit(map[string]any(obj), func() {
				changed := string(object.JSON(obj))
				for _, sub := range []string{"", "status", "approval"} {
					rt := rt
					rt.base = changed
					rt.result(t, ruleCase{sub: sub})
					rt.result(t, ruleCase{sub: sub, old: `{"spec":{}}`, patch: `{"metadata":{"labels":{"x":"y"}}}`})
				}
				k.row(now, parsed(t, changed))
				for _, c := range []conversion{k.convert["autoscaling/v1"]} {
					if c.toHub != nil {
						c.toHub(parsed(t, changed))
						c.fromHub(parsed(t, changed))
					}
				}
			})
			k.row(now, whole)
		})
	}
}
