package authorization

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestReviews(t *testing.T) {
	is := is.New(t)
	const group = "authorization.k8s.io"
	subject := kindtest.New(t, served, "subjectaccessreviews."+group)
	_, errs := subject.Create(`{'spec':{'resourceAttributes':{'verb':'list'}}}`)
	is.Equal(errs, `spec.user: Invalid value: "": at least one of user or group must be specified`)
	_, errs = subject.Create(`{'metadata':{'name':'x'},'spec':{'user':'u','resourceAttributes':{},'nonResourceAttributes':{'path':'/x'}}}`)
	is.Equal(errs, `spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: cannot be specified in combination with resourceAttributes`+"\n"+
		`metadata: Invalid value: {"name":"x"}: must be empty`)
	_, errs = kindtest.New(t, served, "selfsubjectaccessreviews."+group).Create(`{'spec':{}}`)
	is.Equal(errs, "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified")
	_, errs = kindtest.New(t, served, "localsubjectaccessreviews."+group).Create(`{'metadata':{'namespace':'n'},'spec':{'user':'u','resourceAttributes':{'namespace':'other'}}}`)
	is.Equal(errs, `spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`)
	_, errs = subject.Create(`{'spec':{'user':'u','resourceAttributes':{'labelSelector':{'requirements':[{'key':'a','operator':'In'}]},'fieldSelector':{'rawSelector':'a','requirements':[{'operator':'New'}]}}}}`)
	is.Equal(errs, `spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements`+"\n"+
		"spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified\n"+
		"spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'")
}
