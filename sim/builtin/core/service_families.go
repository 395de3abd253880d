package core

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	singleStack     = "SingleStack"
	preferDualStack = "PreferDualStack"
	requireDual     = "RequireDualStack"
)

var (
	policyPath    = field.Root("spec.ipFamilyPolicy")
	familiesPath  = field.Root("spec.ipFamilies")
	addressesPath = field.Root("spec.clusterIPs")
)

// initFamilies fills in ipFamilyPolicy and ipFamilies of a service on a cluster with one family (KEP-563). was is nil on
// create.
func initFamilies(ctx *resource.Context, spec, was object.Object) field.ErrorList {
	if spec.String("type") == typeExternalName || staysPreferDual(spec, was) {
		return nil
	}
	bare := spec.String("clusterIP") == headless && len(spec.Map("selector")) == 0
	if !spec.Has("ipFamilyPolicy") {
		spec["ipFamilyPolicy"] = table.OrNone(was.String("ipFamilyPolicy"), firstPolicy(bare))
	}
	if errs := validateServiceAddresses(ctx, spec, was); len(errs) > 0 {
		return errs
	}
	errs := append(shrinkFamilies(spec, was), checkSingleStack(spec)...)
	errs = append(errs, inferFamilies(spec)...)
	if len(errs) > 0 {
		return errs
	}
	if bare {
		bothFamilies(spec)
		return nil
	}
	if spec.String("ipFamilyPolicy") == requireDual {
		errs = append(errs, field.Invalid(policyPath, field.Enum(requireDual), "this cluster is not configured for dual-stack services"))
	}
	for i, family := range spec.Strings("ipFamilies") {
		if family != clusterFamily {
			errs = append(errs, field.Invalid(familiesPath.Index(i), field.Enum(family), "not configured on this cluster"))
		}
	}
	if len(errs) == 0 && len(spec.List("ipFamilies")) == 0 {
		spec["ipFamilies"] = []any{clusterFamily}
	}
	return errs
}

func firstPolicy(bare bool) string {
	if bare { // headless without a selector: whoever makes the endpoints decides
		return requireDual
	}
	return singleStack
}

// staysPreferDual reports whether an update leaves all that matters here as it is.
func staysPreferDual(spec, was object.Object) bool {
	return was != nil && spec.String("ipFamilyPolicy") == preferDualStack &&
		table.OrNone(was.String("ipFamilyPolicy"), preferDualStack) == preferDualStack &&
		object.SemanticEqual(spec["type"], was["type"]) && object.SemanticEqual(spec["clusterIPs"], was["clusterIPs"]) &&
		object.SemanticEqual(spec["ipFamilies"], was["ipFamilies"])
}

// shrinkFamilies lets go of the second family when an update asks for one, and refuses to do so otherwise.
func shrinkFamilies(spec, was object.Object) field.ErrorList {
	if was == nil {
		return nil
	}
	var errs field.ErrorList
	single := spec.String("ipFamilyPolicy") == singleStack
	for _, f := range [][2]string{{"clusterIPs", "cluster IP"}, {"ipFamilies", "IP family"}} {
		list, old := spec.List(f[0]), was.List(f[0])
		switch {
		case single && len(list) > 1 && object.SemanticEqual(list, old):
			spec[f[0]] = list[:1]
		case !single && len(list) > 0 && len(list) < len(old):
			errs = append(errs, field.Invalid(policyPath, kind.Pointer(spec, "ipFamilyPolicy"),
				"must be 'SingleStack' to release the secondary "+f[1]))
		}
	}
	return errs
}

// checkSingleStack refuses two of a kind where the policy allows one.
func checkSingleStack(spec object.Object) field.ErrorList {
	var errs field.ErrorList
	if spec.String("ipFamilyPolicy") != singleStack {
		return nil
	}
	for _, f := range [][2]string{{"clusterIPs", "cluster IPs"}, {"ipFamilies", "IP families"}} {
		if len(spec.List(f[0])) == 2 {
			errs = append(errs, field.Invalid(policyPath, field.Enum(singleStack),
				"must be 'RequireDualStack' or 'PreferDualStack' when multiple "+f[1]+" are specified"))
		}
	}
	return errs
}

// inferFamilies adds the families of addresses that come without.
func inferFamilies(spec object.Object) field.ErrorList {
	var errs field.ErrorList
	ips := spec.Strings("clusterIPs")
	for i, ip := range ips {
		if ip == headless {
			break
		}
		family := FamilyOf(ip)
		if _, ok := field.ParseIP(ip); !ok { // it was there before, when the service was an ExternalName
			family = "unknown"
		}
		switch {
		case i < len(spec.List("ipFamilies")):
		case family != clusterFamily:
			errs = append(errs, field.Invalid(addressesPath.Index(i), ips, family+" is not configured on this cluster"))
		default:
			spec["ipFamilies"] = append(spec.List("ipFamilies"), family)
		}
	}
	return errs
}

// bothFamilies completes the families of a headless service without a selector: it may have both on any cluster.
func bothFamilies(spec object.Object) {
	families := spec.List("ipFamilies")
	if len(families) == 0 {
		families = []any{clusterFamily}
	}
	if len(families) < 2 && spec.String("ipFamilyPolicy") != singleStack {
		other := "IPv6"
		if families[0] == other {
			other = "IPv4"
		}
		families = append(families, other)
	}
	spec["ipFamilies"] = families
}

// validateServiceAddresses checks clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy with each other.
func validateServiceAddresses(ctx *resource.Context, spec, was object.Object) field.ErrorList {
	if spec.String("type") == typeExternalName {
		return nil
	}
	ip, ips := spec.String("clusterIP"), spec.Strings("clusterIPs")
	var errs field.ErrorList
	switch {
	case ip != "" && len(ips) == 0:
		errs = append(errs, field.Required(addressesPath, ""))
	case ip != "" && ips[0] != ip:
		errs = append(errs, field.Invalid(addressesPath, ips, "first value must match `clusterIP`"))
	case ip == "" && len(ips) > 0:
		errs = append(errs, field.Invalid(addressesPath, ips, "must be empty when `clusterIP` is not specified"))
	}
	families := spec.Strings("ipFamilies")
	for i, family := range families {
		errs = append(errs, field.MustBeOneOf(familiesPath.Index(i), family, "IPv4", "IPv6")...)
		if slices.Contains(families[:i], family) {
			errs = append(errs, field.Duplicate(familiesPath.Index(i), field.Enum(family)))
		}
	}
	if spec.Has("ipFamilyPolicy") {
		errs = append(errs, field.MustBeOneOf(policyPath, spec.String("ipFamilyPolicy"), preferDualStack, requireDual, singleStack)...)
	}
	bad := validateClusterIPs(ctx, ips, was.Strings("clusterIPs"))
	errs = append(errs, bad...)
	if len(ips) > 2 {
		errs = append(errs, field.Invalid(addressesPath, ips, "may only hold up to 2 values"))
	}
	if len(bad) > 0 {
		return errs
	}
	return append(errs, matchFamilies(ips, families)...)
}

// validateClusterIPs checks each address; "None" may stand alone.
func validateClusterIPs(ctx *resource.Context, ips, old []string) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range ips {
		switch {
		case i == 0 && ip == headless:
			if len(ips) > 1 {
				errs = append(errs, field.Invalid(addressesPath, ips, "'None' must be the first and only value"))
			}
		case !slices.Contains(old, ip):
			errs = append(errs, kind.ValidateIP(ctx, addressesPath.Index(i), ip)...)
		}
	}
	return errs
}

// matchFamilies checks that there is at most one address of each family, and that it is of the family at its place.
func matchFamilies(ips, families []string) field.ErrorList {
	var errs field.ErrorList
	if len(ips) > 1 {
		seen := map[string]bool{}
		for _, ip := range ips {
			seen[FamilyOf(ip)] = true
		}
		if len(seen) < 2 {
			errs = append(errs, field.Invalid(addressesPath, ips, "may specify no more than one IP for each IP family"))
		}
	}
	if len(ips) == 1 && ips[0] == headless {
		return errs
	}
	for i, ip := range ips {
		if i < len(families) && slices.Contains([]string{"IPv4", "IPv6"}, families[i]) && FamilyOf(ip) != families[i] {
			errs = append(errs, field.Invalid(addressesPath.Index(i), ip,
				fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", families[i], i)))
		}
	}
	return errs
}

// validateAddressChange checks that a service keeps its first address and its first family. Only a second one may come
// and go.
func validateAddressChange(spec, was object.Object) field.ErrorList {
	if spec.String("type") == typeExternalName || was.String("type") == typeExternalName {
		return nil
	}
	now, before := isHeadless(spec), isHeadless(was)
	if now && before {
		return nil
	}
	ips, oldIPs := spec.Strings("clusterIPs"), was.Strings("clusterIPs")
	shown := kind.Pointer(spec, "clusterIPs")
	first := addressesPath.Index(0)
	var errs field.ErrorList
	switch {
	case len(ips) == len(oldIPs):
		for i := range ips {
			if ips[i] != oldIPs[i] {
				errs = append(errs, field.Invalid(addressesPath.Index(i), shown, "may not change once set"))
			}
		}
	case len(ips) == 0:
		errs = append(errs, field.Invalid(first, shown, "primary clusterIP can not be unset"))
	case len(oldIPs) > 0 && ips[0] != oldIPs[0]:
		errs = append(errs, field.Invalid(first, shown, "may not change once set"))
	}
	if len(ips) == 1 && len(oldIPs) > 1 && spec.String("ipFamilyPolicy") != singleStack {
		errs = append(errs, field.Invalid(policyPath, kind.Pointer(spec, "ipFamilyPolicy"),
			"must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	if now != before {
		return errs
	}
	return append(errs, validateFamilyChange(spec, was)...)
}

// validateFamilyChange is validateAddressChange for families. Some errors print the addresses, as the real server does.
func validateFamilyChange(spec, was object.Object) field.ErrorList {
	var errs field.ErrorList
	first := familiesPath.Index(0)
	families, old := spec.Strings("ipFamilies"), was.Strings("ipFamilies")
	if len(families) == len(old) {
		for i := range families {
			if families[i] != old[i] {
				errs = append(errs, field.Invalid(first, kind.Pointer(spec, "ipFamilies"), "may not change once set"))
			}
		}
		return errs
	}
	if len(families) < len(old) && len(spec.List("clusterIPs")) == 0 {
		errs = append(errs, field.Invalid(first, kind.Pointer(spec, "ipFamilies"), "primary ipFamily can not be unset"))
	}
	if len(families) > 0 && len(old) > 0 && families[0] != old[0] {
		errs = append(errs, field.Invalid(first, kind.Pointer(spec, "clusterIPs"), "may not change once set"))
	}
	if len(families) == 1 && len(old) > 1 && spec.String("ipFamilyPolicy") != singleStack {
		errs = append(errs, field.Invalid(policyPath, kind.Pointer(spec, "ipFamilyPolicy"),
			"must be set to 'SingleStack' when releasing the secondary ipFamily"))
	}
	return errs
}
