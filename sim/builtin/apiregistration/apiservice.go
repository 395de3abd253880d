// Package apiregistration defines the APIService, which determines the server that serves one version of a group.
package apiregistration

import (
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds returns the kinds of apiregistration.k8s.io.
func Kinds() []kind.Kind { return []kind.Kind{apiServiceKind()} }

func apiServiceKind() kind.Kind {
	return kind.Kind{
		Storage:     "apiservices.apiregistration.k8s.io",
		KeyPrefix:   "apiregistration.k8s.io/apiservices",
		PlainStatus: true,
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			HasStatus: true, StatusKeeps: []string{"labels", "annotations", "finalizers", "ownerReferences"},
			NotDeclarative: true, DenyUnconditionalUpdate: true, AnyFinalizers: true, NameRuleOf: apiServiceName,
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) {
				if !obj.Has("spec", "service") { // the API server itself serves the version
					obj["status"] = map[string]any{"conditions": []any{map[string]any{
						"type": "Available", "status": "True", "lastTransitionTime": object.Time(ctx.Now),
						"reason": "Local", "message": "Local APIServices are always available"}}}
				}
			},
		},
		Validate: func(_ *resource.Context, at field.Cursor) { validateAPIService(at.Child("spec")) },
		ValidateStatus: func(_ *resource.Context, at field.Cursor) {
			for condition := range at.Each("status", "conditions") {
				condition.Child("status").OrEmpty().OneOf("True", "False", "Unknown")
			}
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if obj.Has("spec", "service") {
				obj.SetDefault(int64(443), "spec", "service", "port")
			}
		}),
		Columns: []table.Column{table.Name(), table.Text("Service", "The reference to the service that hosts this API endpoint.").Cell(cellService),
			table.Text("Available", "Whether this service is available.").Cell(cellAvailable), table.Age()},
	}
}

// apiServiceName returns the name rule for an APIService: VERSION.GROUP, which must be a valid path segment.
func apiServiceName(_ *resource.Context, obj object.Object) func(name string, prefix bool) []string {
	want := obj.String("spec", "version") + "." + obj.String("spec", "group")
	return func(name string, prefix bool) []string {
		if errs := field.NamePathSegment(name, prefix); len(errs) > 0 || name == want {
			return errs
		}
		return []string{"must be `spec.version+\".\"+spec.group`: " + strconv.Quote(want)}
	}
}

func validateAPIService(at field.Cursor) {
	group, version := at.Child("group").IfGiven(), at.Child("version").OrEmpty()
	group.RequireIf(!group.Has() && version.String() != "v1", "only v1 may have an empty group and it better be legacy kube")
	group.Check(field.DNS1123Subdomain)
	version.Check(field.DNS1035Label)
	for _, priority := range []struct {
		name  string
		limit int64
	}{{"groupPriorityMinimum", 20000}, {"versionPriority", 1000}} {
		n := at.Int64(priority.name)
		at.Child(priority.name).OrZero().InvalidIf(n <= 0 || n > priority.limit, "must be positive and less than "+strconv.FormatInt(priority.limit, 10))
	}
	bundle, insecure := len(kind.Decoded(at.Child("caBundle").Value())), at.Child("insecureSkipTLSVerify")
	service := at.Child("service")
	if !service.Has() {
		at.Child("caBundle").With(strconv.Itoa(bundle)+" bytes").InvalidIf(bundle > 0, "local APIServices may not have a caBundle")
		insecure.InvalidIf(insecure.True(), "local APIServices may not have insecureSkipTLSVerify")
		return
	}
	service.Child("namespace").Required()
	service.Child("name").Required()
	if wrong := field.PortNumber(service.Int64("port")); len(wrong) > 0 {
		service.Child("port").OrZero().InvalidIf(true, "port is not valid: "+strings.Join(wrong, ", "))
	}
	insecure.InvalidIf(insecure.True() && bundle > 0, "may not be true if caBundle is present")
}

func cellService(obj object.Object) any {
	if s := obj.At("spec", "service"); s != nil {
		return s.String("namespace") + "/" + s.String("name")
	}
	return "Local"
}

func cellAvailable(obj object.Object) any {
	available := obj.Condition("Available")
	switch status, reason := available.String("status"), available.String("reason"); {
	case available == nil:
		return "Unknown"
	case status == "True" || reason == "":
		return status
	default:
		return status + " (" + reason + ")"
	}
}
