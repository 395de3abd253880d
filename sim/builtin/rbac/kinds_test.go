package rbac

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
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
		_, errs := kindtest.New(t, served, "roles.rbac.authorization.k8s.io").Create(`{'rules':[` + rule + `]}`)
		is.Equal(errs, want) // same errors as the real server
	}
	_, errs := kindtest.New(t, served, "clusterroles.rbac.authorization.k8s.io").Create(`{'aggregationRule':{}}`)
	is.Equal(errs, "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil")
}

func TestRoleBindings(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "rolebindings.rbac.authorization.k8s.io")
	obj, errs := r.Create(`{'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'},{'kind':'Group','name':'g'},{'kind':'ServiceAccount','name':'s','namespace':'n'}]}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "subjects"), `[{'apiGroup':'rbac.authorization.k8s.io','kind':'User','name':'u'},{'apiGroup':'rbac.authorization.k8s.io','kind':'Group','name':'g'},{'kind':'ServiceAccount','name':'s','namespace':'n'}]`)
	is.Equal(r.Kind.Row(r.Ctx.Now, obj).Cells, []any{"", "Role/r", "<unknown>", "u", "g", "n/s"})
	_, errs = r.Update(obj, `{'roleRef':{'name':'q'}}`, "")
	is.Equal(errs, `roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"q"}: cannot change roleRef`)
	_, errs = r.Create(`{'roleRef':{'kind':'X'},'subjects':[{'kind':'Y'},{'kind':'User','name':'u','apiGroup':'a'}]}`)
	is.Equal(errs, `roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"`+"\nroleRef.name: Required value\n"+
		"subjects[0].name: Required value\n"+`subjects[0].kind: Unsupported value: "Y": supported values: "ServiceAccount", "User", "Group"`+"\n"+
		`subjects[1].apiGroup: Unsupported value: "a": supported values: "rbac.authorization.k8s.io"`)
	_, errs = kindtest.New(t, served, "clusterrolebindings.rbac.authorization.k8s.io").Create(`{'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'ServiceAccount','name':'s'}]}`)
	is.Equal(errs, `roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`+"\nsubjects[0].namespace: Required value")
}
