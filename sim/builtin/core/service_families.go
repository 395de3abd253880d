package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	singleStack     = "SingleStack"
	preferDualStack = "PreferDualStack"
	requireDual     = "RequireDualStack"
)

var addressesPath = field.Root("spec.clusterIPs")

// initFamilies sets ipFamilyPolicy and ipFamilies of a service (KEP-563; Allocators.initIPFamilyFields). was is nil on
// create.
func initFamilies(ctx *resource.Context, spec, was object.Object) field.ErrorList {
	if spec.String("type") == typeExternalName || staysPreferDual(spec, was) {
		return nil
	}
	bare := spec.String("clusterIP") == headless && len(spec.Map("selector")) == 0
	first := singleStack
	if bare { // headless without a selector: the endpoints determine the families
		first = requireDual
	}
	spec.SetDefault(cmp.Or(was.String("ipFamilyPolicy"), first), "ipFamilyPolicy")
	at := field.CursorOn(field.Root("spec"), spec).Was(was)
	if validateServiceAddresses(ctx, at); len(at.Errors()) > 0 {
		return at.Errors()
	}
	if was != nil {
		shrinkFamilies(at, spec, was)
	}
	checkSingleStack(at)
	configured := familiesOf(ctx)
	if inferFamilies(at, spec, configured); len(at.Errors()) > 0 {
		return at.Errors()
	}
	if !bare {
		if policy := at.Child("ipFamilyPolicy"); policy.String() == requireDual && len(configured) < 2 {
			policy.InvalidEnum("this cluster is not configured for dual-stack services")
		}
		for family := range at.Each("ipFamilies") {
			if !slices.Contains(configured, family.String()) {
				family.InvalidEnum("not configured on this cluster")
			}
		}
	}
	if len(at.Errors()) == 0 {
		completeFamilies(spec, configured[0], bare || len(configured) == 2)
	}
	return at.Errors()
}

// staysPreferDual reports whether an update of a PreferDualStack service leaves everything unchanged that affects its families.
func staysPreferDual(spec, was object.Object) bool {
	return was != nil && spec.String("ipFamilyPolicy") == preferDualStack &&
		cmp.Or(was.String("ipFamilyPolicy"), preferDualStack) == preferDualStack &&
		object.SemanticEqual(spec["type"], was["type"]) && object.SemanticEqual(spec["clusterIPs"], was["clusterIPs"]) &&
		object.SemanticEqual(spec["ipFamilies"], was["ipFamilies"])
}

// shrinkFamilies removes the second family if an update changes the policy to SingleStack. If the update shortens the lists
// under another policy, it reports an error.
func shrinkFamilies(at field.Cursor, spec, was object.Object) {
	policy := at.Child("ipFamilyPolicy")
	for _, f := range [][2]string{{"clusterIPs", "cluster IP"}, {"ipFamilies", "IP family"}} {
		list, old := spec.List(f[0]), was.List(f[0])
		switch single := policy.String() == singleStack; {
		case single && len(list) > 1 && object.SemanticEqual(list, old):
			spec[f[0]] = list[:1]
		case !single && len(list) > 0 && len(list) < len(old):
			policy.AsEnum().InvalidIf(true, "must be 'SingleStack' to release the secondary "+f[1])
		}
	}
}

// checkSingleStack rejects two addresses or families if the policy is SingleStack.
func checkSingleStack(at field.Cursor) {
	policy := at.Child("ipFamilyPolicy")
	for _, f := range [][2]string{{"clusterIPs", "cluster IPs"}, {"ipFamilies", "IP families"}} {
		if policy.String() == singleStack && at.Len(f[0]) == 2 {
			policy.InvalidEnum("must be 'RequireDualStack' or 'PreferDualStack' when multiple " + f[1] + " are specified")
		}
	}
}

// inferFamilies adds missing families to ipFamilies according to the addresses.
func inferFamilies(at field.Cursor, spec object.Object, configured []string) {
	addresses := at.Child("clusterIPs")
	for i, ip := range addresses.Strings() {
		if ip == headless {
			break
		}
		family := FamilyOf(ip)
		if _, ok := field.ParseIP(ip); !ok { // the address was there before, when the service was an ExternalName service
			family = "unknown"
		}
		switch {
		case i < len(spec.List("ipFamilies")):
		case !slices.Contains(configured, family):
			addresses.Index(i).Invalid(addresses.Value(), family+" is not configured on this cluster")
		default:
			spec["ipFamilies"] = append(spec.List("ipFamilies"), family)
		}
	}
}

// completeFamilies adds the first family of a service, and the second one if both are possible and the policy is not SingleStack.
// They are possible on a cluster with both, and on any cluster for a headless service without a selector.
func completeFamilies(spec object.Object, first string, both bool) {
	families := spec.List("ipFamilies")
	if len(families) == 0 {
		families = []any{first}
	}
	if both && len(families) < 2 && spec.String("ipFamilyPolicy") != singleStack {
		other := "IPv6"
		if families[0] == other {
			other = "IPv4"
		}
		families = append(families, other)
	}
	spec["ipFamilies"] = families
}

// validateServiceAddresses checks that clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy are consistent.
func validateServiceAddresses(ctx *resource.Context, spec field.Cursor) {
	if spec.String("type") == typeExternalName {
		return
	}
	addresses, ip, ips := spec.Child("clusterIPs"), spec.String("clusterIP"), spec.Strings("clusterIPs")
	switch {
	case ip != "" && len(ips) == 0:
		addresses.Missing("")
	case ip != "" && ips[0] != ip:
		addresses.Invalid(ips, "first value must match `clusterIP`")
	case ip == "" && len(ips) > 0:
		addresses.Invalid(ips, "must be empty when `clusterIP` is not specified")
	}
	seen := field.Seen{}
	for family := range spec.Each("ipFamilies") {
		family.OneOf("IPv4", "IPv6").AsEnum().UniqueBy(seen, family.String())
	}
	spec.Child("ipFamilyPolicy").OneOf(preferDualStack, requireDual, singleStack)
	before := len(spec.Errors())
	for i, ip := range ips {
		if i == 0 && ip == headless { // None must be the only value
			addresses.InvalidIf(len(ips) > 1, "'None' must be the first and only value")
		} else if address := addresses.Index(i); !slices.Contains(spec.Old().Strings("clusterIPs"), ip) {
			address.Check(kind.IP(ctx))
		}
	}
	bad := len(spec.Errors()) > before
	addresses.InvalidIf(len(ips) > 2, "may only hold up to 2 values")
	if !bad {
		matchFamilies(addresses, ips, spec.Strings("ipFamilies"))
	}
}

// matchFamilies checks that there is at most one address of each family, and that each address matches the family at the
// same index.
func matchFamilies(at field.Cursor, ips, families []string) {
	seen := field.Seen{}
	for _, ip := range ips {
		seen[FamilyOf(ip)] = true
	}
	at.InvalidIf(len(ips) > 1 && len(seen) < 2, "may specify no more than one IP for each IP family")
	if len(ips) == 1 && ips[0] == headless {
		return
	}
	for i, ip := range ips[:min(len(ips), len(families))] {
		family := families[i]
		at.Index(i).InvalidIf((family == "IPv4" || family == "IPv6") && FamilyOf(ip) != family,
			fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i))
	}
}

// validateAddressChange checks that an update keeps the first address and the first family of a service. It may only add or remove
// the second one of each.
func validateAddressChange(at field.Cursor) {
	spec, was := at.Object(), at.Old()
	if spec.String("type") == typeExternalName || was.String("type") == typeExternalName || isHeadless(spec) && isHeadless(was) {
		return
	}
	const changed = "may not change once set"
	addresses, ips, old := at.Child("clusterIPs"), spec.Strings("clusterIPs"), was.Strings("clusterIPs")
	first := addresses.Index(0).With(addresses.Value())
	switch {
	case len(ips) == len(old):
		for i := range ips {
			addresses.Index(i).With(addresses.Value()).InvalidIf(ips[i] != old[i], changed)
		}
	case len(ips) == 0:
		first.InvalidIf(true, "primary clusterIP can not be unset")
	default:
		first.InvalidIf(len(old) > 0 && ips[0] != old[0], changed)
	}
	releasesSecond(at, len(ips), len(old), "clusterIP")
	if isHeadless(spec) != isHeadless(was) {
		return
	}
	// Some errors about families print the addresses, as the real server does.
	families, now, before := at.Child("ipFamilies"), spec.Strings("ipFamilies"), was.Strings("ipFamilies")
	first = families.Index(0).With(families.Value())
	if len(now) == len(before) {
		for i := range now {
			first.InvalidIf(now[i] != before[i], changed)
		}
		return
	}
	first.InvalidIf(len(now) < len(before) && len(ips) == 0, "primary ipFamily can not be unset")
	first.With(addresses.Value()).InvalidIf(len(now) > 0 && len(before) > 0 && now[0] != before[0], changed)
	releasesSecond(at, len(now), len(before), "ipFamily")
}

// releasesSecond checks that the policy is SingleStack if an update removes the second address or family.
func releasesSecond(at field.Cursor, now, before int, what string) {
	policy := at.Child("ipFamilyPolicy")
	policy.AsEnum().InvalidIf(now == 1 && before > 1 && policy.String() != singleStack,
		"must be set to 'SingleStack' when releasing the secondary "+what)
}
