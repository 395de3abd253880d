package networking

import (
	"net/netip"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

func serviceCIDRKind() kind.Kind {
	return kind.Kind{
		Storage:  "servicecidrs.networking.k8s.io",
		Strategy: resource.Strategy{HasStatus: true, StatusKeeps: resource.KeptForStatus},
		Validate: validateServiceCIDR, ValidateStatus: func(*resource.Context, field.Cursor) {},
		Columns: []table.Column{table.Name(), table.Doc("CIDRs", table.DocNetworking+"ServiceCIDRSpec", "cidrs").Join("", "spec", "cidrs"), table.Age()},
	}
}

// validateServiceCIDR checks the CIDRs. An update may only add a second one.
func validateServiceCIDR(_ *resource.Context, all field.Cursor) {
	at, before := all.Child("spec", "cidrs"), all.Old().Strings("spec", "cidrs")
	if at.Updates() {
		if at.Len() != len(before) && (len(before) != 1 || at.Len() != 2) {
			at.Invalid(at.Value(), field.TextImmutable)
			return
		}
		for i, cidr := range slices.Collect(at.Each())[:len(before)] {
			cidr.InvalidIf(cidr.String() != before[i], field.TextImmutable)
		}
		if at.Len() == len(before) {
			return
		}
	}
	switch n := at.Len(); {
	case n == 0:
		at.Missing("at least one CIDR required")
		return
	case n > 2:
		at.Invalid(gotext.Value(gotext.ServiceCIDRSpec, all.Child("spec").Object()), "may only hold up to 2 values")
		return
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
}
