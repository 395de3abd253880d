package builtin

import (
	"testing"

	"github.com/matryer/is"
)

func TestRoles(t *testing.T) {
	is := is.New(t)
	for rule, want := range map[string]string{
		`{'apiGroups':[''],'resources':['pods'],'verbs':['get']}`: "",
		`{}`: "rules[0].verbs: Required value: verbs must contain at least one value\n" +
			"rules[0].apiGroups: Required value: resource rules must supply at least one api group\n" +
			"rules[0].resources: Required value: resource rules must supply at least one resource",
		`{'verbs':['get'],'nonResourceURLs':['/x'],'resources':['pods']}`: `rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs` + "\n" +
			`rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs`,
	} {
		_, errs := New(t, served, "roles.rbac.authorization.k8s.io").Create(`{'rules':[` + rule + `]}`)
		is.Equal(errs, want) // as the real server says it
	}
	_, errs := New(t, served, "clusterroles.rbac.authorization.k8s.io").Create(`{'aggregationRule':{}}`)
	is.Equal(errs, "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil")
}

func TestRoleBindings(t *testing.T) {
	is := is.New(t)
	r := New(t, served, "rolebindings.rbac.authorization.k8s.io")
	obj, errs := r.Create(`{'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'},{'kind':'Group','name':'g'},{'kind':'ServiceAccount','name':'s','namespace':'n'}]}`)
	is.Equal(errs, "")
	is.Equal(Part(obj, "subjects"), `[{'apiGroup':'rbac.authorization.k8s.io','kind':'User','name':'u'},{'apiGroup':'rbac.authorization.k8s.io','kind':'Group','name':'g'},{'kind':'ServiceAccount','name':'s','namespace':'n'}]`)
	is.Equal(roleBindingRow(r.Ctx.Now, obj).Cells, []any{"", "Role/r", "<unknown>", "u", "g", "n/s"})
	_, errs = r.Update(obj, `{'roleRef':{'name':'q'}}`, "")
	is.Equal(errs, `roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"q"}: cannot change roleRef`)
	_, errs = r.Create(`{'roleRef':{'kind':'X'},'subjects':[{'kind':'Y'},{'kind':'User','name':'u','apiGroup':'a'}]}`)
	is.Equal(errs, `roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"`+"\nroleRef.name: Required value\n"+
		"subjects[0].name: Required value\n"+`subjects[0].kind: Unsupported value: "Y": supported values: "ServiceAccount", "User", "Group"`+"\n"+
		`subjects[1].apiGroup: Unsupported value: "a": supported values: "rbac.authorization.k8s.io"`)
	_, errs = New(t, served, "clusterrolebindings.rbac.authorization.k8s.io").Create(`{'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'ServiceAccount','name':'s'}]}`)
	is.Equal(errs, `roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`+"\nsubjects[0].namespace: Required value")
}

func TestReviews(t *testing.T) {
	is := is.New(t)
	const group = "authorization.k8s.io"
	subject := New(t, served, "subjectaccessreviews."+group)
	_, errs := subject.Create(`{'spec':{'resourceAttributes':{'verb':'list'}}}`)
	is.Equal(errs, `spec.user: Invalid value: "": at least one of user or group must be specified`)
	_, errs = subject.Create(`{'metadata':{'name':'x'},'spec':{'user':'u','resourceAttributes':{},'nonResourceAttributes':{'path':'/x'}}}`)
	is.Equal(errs, `spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: cannot be specified in combination with resourceAttributes`+"\n"+
		`metadata: Invalid value: {"name":"x"}: must be empty`)
	_, errs = New(t, served, "selfsubjectaccessreviews."+group).Create(`{'spec':{}}`)
	is.Equal(errs, "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified")
	_, errs = New(t, served, "localsubjectaccessreviews."+group).Create(`{'metadata':{'namespace':'n'},'spec':{'user':'u','resourceAttributes':{'namespace':'other'}}}`)
	is.Equal(errs, `spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`)
	_, errs = subject.Create(`{'spec':{'user':'u','resourceAttributes':{'labelSelector':{'requirements':[{'key':'a','operator':'In'}]},'fieldSelector':{'rawSelector':'a','requirements':[{'operator':'New'}]}}}}`)
	is.Equal(errs, `spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements`+"\n"+
		"spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified\n"+
		"spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'")
}

func TestAPIService(t *testing.T) {
	is := is.New(t)
	r := New(t, served, "apiservices.apiregistration.k8s.io")
	obj, errs := r.Create(`{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':10,'versionPriority':10}}`)
	is.Equal(errs, "")
	is.Equal(apiServiceRow(r.Ctx.Now, obj).Cells, []any{"v1.a.b", "Local", "True", "<unknown>"})
	obj, errs = r.Create(`{'metadata':{'name':'x'},'spec':{'version':'v2','groupPriorityMinimum':0,'versionPriority':2000,'service':{'name':'s'}}}`)
	is.Equal(apiServiceName(nil, obj)("x", false), []string{"must be `spec.version+\".\"+spec.group`: \"v2.\""})
	is.Equal(errs, "spec.group: Required value: only v1 may have an empty group and it better be legacy kube\n"+
		"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000\n"+
		"spec.versionPriority: Invalid value: 2000: must be positive and less than 1000\nspec.service.namespace: Required value")
	is.Equal(obj.Int64("spec", "service", "port"), int64(443))
}
