package networking

import (
	"net/netip"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func serviceCIDRKind() kind.Kind {
	return kind.Kind{
		Storage: "servicecidrs.networking.k8s.io",
		Strategy: resource.Strategy{
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
			HasStatus: true, CustomStatus: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateCIDRs(obj)
			},
			ValidateUpdate: validateCIDRsUpdate,
		},
		Columns: []table.Column{table.Name(), table.Doc("CIDRs", table.DocNetworking+"ServiceCIDRSpec", "cidrs"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), strings.Join(obj.Strings("spec", "cidrs"), ","), table.AgeCell(now, obj))
		},
	}
}

func validateCIDRs(obj object.Object) field.ErrorList {
	at := field.CursorAt(obj, nil, "spec", "cidrs")
	switch n := at.Len(); {
	case n == 0:
		return at.Missing("at least one CIDR required").Errors()
	case n > 2:
		return at.Invalid(gotext.Value("ServiceCIDRSpec", obj.At("spec")), "may only hold up to 2 values").Errors()
	}
	families := map[bool]bool{}
	for cidr := range at.Each() {
		if prefix, err := netip.ParsePrefix(cidr.Check(field.CIDR).String()); err == nil {
			if v4 := prefix.Addr().Is4(); families[v4] {
				at.Invalid(at.Strings(), "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
			} else {
				families[v4] = true
			}
		}
	}
	return at.Errors()
}

// validateCIDRsUpdate allows one change: a second network may be added.
func validateCIDRsUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return nil
	}
	p := field.Root("spec.cidrs")
	before, after := old.Strings("spec", "cidrs"), obj.Strings("spec", "cidrs")
	if len(before) != len(after) && (len(before) != 1 || len(after) != 2) {
		return field.ErrorList{field.Invalid(p, kind.Pointer(obj, "spec", "cidrs"), field.TextImmutable)}
	}
	var errs field.ErrorList
	for i := range before {
		if before[i] != after[i] {
			errs = append(errs, field.Invalid(p.Index(i), after[i], field.TextImmutable))
		}
	}
	if len(before) != len(after) {
		errs = append(errs, validateCIDRs(obj)...)
	}
	return errs
}
