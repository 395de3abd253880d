// Package apiregistration has the APIServices that say which server answers for a version of a group.
package apiregistration

import (
	"strconv"
	"strings"
	"time"

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
			HasStatus: true, CustomStatus: true, NeedsResourceVersion: true, AnyFinalizers: true, NameRuleOf: apiServiceName,
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) {
				if !obj.Has("spec", "service") { // served by the API server itself
					obj["status"] = map[string]any{"conditions": []any{map[string]any{
						"type": "Available", "status": "True", "lastTransitionTime": object.Time(ctx.Now),
						"reason": "Local", "message": "Local APIServices are always available"}}}
				}
			},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateAPIService(obj)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, _ object.Object) field.ErrorList {
				if ctx.Subresource != "status" {
					return validateAPIService(obj)
				}
				var errs field.ErrorList
				for i, c := range obj.Objects("status", "conditions") {
					p := field.Root("status.conditions").Index(i).Child("status")
					errs = append(errs, field.MustBeOneOf(p, c.String("status"), "True", "False", "Unknown")...)
				}
				return errs
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if obj.Has("spec", "service") {
				obj.SetDefault(int64(443), "spec", "service", "port")
			}
		}),
		Columns: []table.Column{table.Name(), table.Text("Service", "The reference to the service that hosts this API endpoint."),
			table.Text("Available", "Whether this service is available."), table.Age()},
		Row: apiServiceRow,
	}
}

// apiServiceName is the rule for names of APIServices: a path segment that says which group and version it is about.
func apiServiceName(_ *resource.Context, obj object.Object) func(name string, prefix bool) []string {
	want := obj.String("spec", "version") + "." + obj.String("spec", "group")
	return func(name string, prefix bool) []string {
		if errs := field.NamePathSegment(name, prefix); len(errs) > 0 || name == want {
			return errs
		}
		return []string{"must be `spec.version+\".\"+spec.group`: " + strconv.Quote(want)}
	}
}

func validateAPIService(obj object.Object) field.ErrorList {
	var errs field.ErrorList
	p, spec := field.Root("spec"), obj.At("spec")
	group, version := spec.String("group"), spec.String("version")
	if group == "" && version != "v1" {
		errs = append(errs, field.Required(p.Child("group"), "only v1 may have an empty group and it better be legacy kube"))
	} else if group != "" {
		errs = append(errs, field.Check(p.Child("group"), group, field.DNS1123Subdomain)...)
	}
	errs = append(errs, field.Check(p.Child("version"), version, field.DNS1035Label)...)
	for _, priority := range []struct {
		name  string
		limit int64
	}{{"groupPriorityMinimum", 20000}, {"versionPriority", 1000}} {
		if n := spec.Int64(priority.name); n <= 0 || n > priority.limit {
			errs = append(errs, field.Invalid(p.Child(priority.name), n, "must be positive and less than "+strconv.FormatInt(priority.limit, 10)))
		}
	}
	bundle, insecure := len(kind.Decoded(spec["caBundle"])), spec.True("insecureSkipTLSVerify")
	service := spec.At("service")
	if service == nil {
		if bundle > 0 {
			errs = append(errs, field.Invalid(p.Child("caBundle"), strconv.Itoa(bundle)+" bytes", "local APIServices may not have a caBundle"))
		}
		if insecure {
			errs = append(errs, field.Invalid(p.Child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"))
		}
		return errs
	}
	at := p.Child("service")
	errs = append(errs, field.MustBeSet(at.Child("namespace"), service.String("namespace"))...)
	errs = append(errs, field.MustBeSet(at.Child("name"), service.String("name"))...)
	if port := service.Int64("port"); len(field.PortNumber(port)) > 0 {
		errs = append(errs, field.Invalid(at.Child("port"), port, "port is not valid: "+strings.Join(field.PortNumber(port), ", ")))
	}
	if insecure && bundle > 0 {
		errs = append(errs, field.Invalid(p.Child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"))
	}
	return errs
}

func apiServiceRow(now time.Time, obj object.Object) resource.Row {
	service, available := "Local", "Unknown"
	if s := obj.At("spec", "service"); s != nil {
		service = s.String("namespace") + "/" + s.String("name")
	}
	for _, c := range obj.Objects("status", "conditions") {
		if c.String("type") != "Available" {
			continue
		}
		if available = c.String("status"); available != "True" && c.String("reason") != "" {
			available += " (" + c.String("reason") + ")"
		}
		break
	}
	return table.Row(obj.Name(), service, available, table.AgeCell(now, obj))
}
