package networking

import (
	"net/netip"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// policyRules contains the fields of a network policy that contain rules, each with the field of a rule that contains its peers.
var policyRules = [][2]string{{"ingress", "from"}, {"egress", "to"}}

func validateNetworkPolicy(ctx *resource.Context, all field.Cursor) {
	at, known := all.Child("spec"), policyCIDRs(all.Old())
	options := kind.AsStored(at.Child("podSelector"))
	kind.CheckSelector(at.Child("podSelector"), options)
	for _, side := range policyRules {
		for rule := range at.Each(side[0]) {
			for port := range rule.Each("ports") {
				validatePolicyPort(ctx, port)
			}
			for peer := range rule.Each(side[1]) {
				validatePolicyPeer(ctx, peer, options, known)
			}
		}
	}
	types := at.Child("policyTypes")
	if types.Len() > 2 {
		types.Invalid(types.Strings(), "may not specify more than two policyTypes")
		return
	}
	for t := range types.Each() {
		t.OneOf("Ingress", "Egress")
	}
}

// policyCIDRs returns the CIDRs of a stored policy, which are not checked again.
func policyCIDRs(policy object.Object) []string {
	var out []string
	for _, side := range policyRules {
		for _, rule := range policy.Objects("spec", side[0]) {
			for _, peer := range rule.Objects(side[1]) {
				if block := peer.At("ipBlock"); block != nil {
					out = append(append(out, block.String("cidr")), block.Strings("except")...)
				}
			}
		}
	}
	return out
}

func validatePolicyPort(ctx *resource.Context, at field.Cursor) {
	at.Child("protocol").OneOf("TCP", "UDP", "SCTP")
	port, end := at.Child("port"), at.Child("endPort")
	number, numeric := port.Int()
	switch {
	case !port.Has():
		end.InvalidIf(end.Has(), "may not be specified when `port` is not specified")
		return
	case !numeric:
		end.InvalidIf(end.Has(), "may not be specified when `port` is non-numeric")
	}
	podspec.PortOrName(port)
	if end.Has() && numeric {
		if end.Int64() < number {
			bad := number
			if ctx.Since(37) {
				bad = end.Int64()
			}
			end.Invalid(bad, "must be greater than or equal to `port`")
		}
		end.CheckInt(field.PortNumber)
	}
}

func validatePolicyPeer(ctx *resource.Context, at field.Cursor, options selector.ValidateOptions, known []string) {
	peers, block := 0, at.Child("ipBlock")
	for _, name := range []string{"podSelector", "namespaceSelector"} {
		if s := at.Child(name); s.Has() {
			peers++
			kind.CheckSelector(s, options)
		}
	}
	if block.Has() {
		peers++
		validateIPBlock(ctx, block, known)
	}
	at.RequireIf(peers == 0, "must specify a peer")
	at.ForbidIf(peers > 1 && block.Has(), "may not specify both ipBlock and another peer")
}

func validateIPBlock(ctx *resource.Context, at field.Cursor, known []string) {
	check := func(at field.Cursor) (netip.Prefix, bool) {
		if !slices.Contains(known, at.String()) {
			at.Check(kind.CIDR(ctx))
		}
		prefix, err := netip.ParsePrefix(at.String())
		return prefix, err == nil
	}
	cidr := at.Child("cidr").Declared(ctx.Since(37), field.Cursor.Given)
	if !cidr.Has() {
		return
	}
	whole, ok := check(cidr)
	if !ok {
		return
	}
	for except := range at.Each("except") {
		part, ok := check(except)
		except.InvalidIf(ok && (!whole.Contains(part.Addr()) || whole.Bits() >= part.Bits()), "must be a strict subset of `cidr`")
	}
}

func warnNetworkPolicy(ctx *resource.Context, obj, _ object.Object) {
	for _, side := range policyRules {
		for i, rule := range obj.Objects("spec", side[0]) {
			for j, peer := range rule.Objects(side[1]) {
				p := field.Root("spec").Child(side[0]).Index(i).Child(side[1]).Index(j).Child("ipBlock")
				kind.WarnCIDR(ctx, p.Child("cidr"), peer.String("ipBlock", "cidr"))
				for k, except := range peer.Strings("ipBlock", "except") {
					kind.WarnCIDR(ctx, p.Child("except").Index(k), except)
				}
			}
		}
	}
}

func networkPolicyKind() kind.Kind {
	return kind.Kind{
		Storage:  "networkpolicies.networking.k8s.io",
		Changed:  kind.Literally.Of("spec"),
		Strategy: resource.Strategy{Warn: warnNetworkPolicy},
		Validate: validateNetworkPolicy,
		Defaults: kind.EveryVersion(defaultNetworkPolicy),
		Columns: []table.Column{table.Name(),
			table.Doc("Pod-Selector", table.DocNetworking+"NetworkPolicySpec", "podSelector").Cell(cellPodSelector), table.Age()},
	}
}

func cellPodSelector(obj object.Object) any {
	if pods := obj.Map("spec", "podSelector"); pods != nil {
		return selector.FormatLabelSelector(pods)
	}
	return selector.FormatLabelSelector(map[string]any{})
}

func defaultNetworkPolicy(obj object.Object) {
	for _, rules := range []string{"ingress", "egress"} {
		for _, rule := range obj.Objects("spec", rules) {
			for _, port := range rule.Objects("ports") {
				port.SetDefault("TCP", "protocol")
			}
		}
	}
	if len(obj.List("spec", "policyTypes")) > 0 {
		return
	}
	types := []any{"Ingress"}
	if len(obj.List("spec", "egress")) > 0 {
		types = append(types, "Egress")
	}
	obj.Set(types, "spec", "policyTypes")
}
