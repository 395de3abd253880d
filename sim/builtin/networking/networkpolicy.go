package networking

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// policyRules are where the rules of a network policy are, and who is on the other side.
var policyRules = [][2]string{{"ingress", "from"}, {"egress", "to"}}

func validateNetworkPolicy(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	p, spec := field.Root("spec"), obj.At("spec")
	options := selector.ValidateOptions{AllowInvalidValues: old != nil &&
		len(selector.ValidateLabelSelector(field.Path{}, old.Map("spec", "podSelector"), selector.ValidateOptions{})) > 0}
	errs := selector.ValidateLabelSelector(p.Child("podSelector"), spec.Map("podSelector"), options)
	known := policyCIDRs(old)
	for _, side := range policyRules {
		for i, rule := range spec.Objects(side[0]) {
			at := p.Child(side[0]).Index(i)
			for j, port := range rule.Objects("ports") {
				errs = append(errs, validatePolicyPort(at.Child("ports").Index(j), port)...)
			}
			for j, peer := range rule.Objects(side[1]) {
				errs = append(errs, validatePolicyPeer(ctx, at.Child(side[1]).Index(j), peer, options, known)...)
			}
		}
	}
	types := spec.Strings("policyTypes")
	if len(types) > 2 {
		return append(errs, field.Invalid(p.Child("policyTypes"), types, "may not specify more than two policyTypes"))
	}
	for i, t := range types {
		errs = append(errs, field.MustBeOneOf(p.Child("policyTypes").Index(i), t, "Ingress", "Egress")...)
	}
	return errs
}

// policyCIDRs returns the networks of a policy: they may stay as they are.
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

func validatePolicyPort(p field.Path, port object.Object) field.ErrorList {
	var errs field.ErrorList
	if port.Has("protocol") {
		errs = append(errs, field.MustBeOneOf(p.Child("protocol"), port.String("protocol"), "TCP", "UDP", "SCTP")...)
	}
	end, ended := port.Int("endPort")
	number, numeric := port["port"].(int64)
	switch {
	case !port.Has("port"):
		if ended {
			errs = append(errs, field.Invalid(p.Child("endPort"), end, "may not be specified when `port` is not specified"))
		}
		return errs
	case ended && !numeric:
		errs = append(errs, field.Invalid(p.Child("endPort"), end, "may not be specified when `port` is non-numeric"))
	}
	errs = append(errs, podspec.ValidatePortOrName(p.Child("port"), port["port"])...)
	if ended && numeric {
		if end < number {
			errs = append(errs, field.Invalid(p.Child("endPort"), number, "must be greater than or equal to `port`"))
		}
		errs = append(errs, field.Messages(p.Child("endPort"), end, field.PortNumber(end))...)
	}
	return errs
}

func validatePolicyPeer(ctx *resource.Context, p field.Path, peer object.Object, options selector.ValidateOptions, known []string) field.ErrorList {
	var errs field.ErrorList
	peers := 0
	for _, name := range []string{"podSelector", "namespaceSelector"} {
		if s := peer.At(name); s != nil {
			peers++
			errs = append(errs, selector.ValidateLabelSelector(p.Child(name), s, options)...)
		}
	}
	block := peer.At("ipBlock")
	if block != nil {
		peers++
		errs = append(errs, validateIPBlock(ctx, p.Child("ipBlock"), block, known)...)
	}
	if peers == 0 {
		errs = append(errs, field.Required(p, "must specify a peer"))
	} else if peers > 1 && block != nil {
		errs = append(errs, field.Forbidden(p, "may not specify both ipBlock and another peer"))
	}
	return errs
}

func validateIPBlock(ctx *resource.Context, p field.Path, block object.Object, known []string) field.ErrorList {
	cidr := block.String("cidr")
	if cidr == "" {
		return field.ErrorList{field.Required(p.Child("cidr"), "")}
	}
	var errs field.ErrorList
	check := func(at field.Path, text string) (netip.Prefix, bool) {
		if !slices.Contains(known, text) {
			errs = append(errs, kind.ValidateCIDR(ctx, at, text)...)
		}
		prefix, err := netip.ParsePrefix(text)
		return prefix, err == nil
	}
	whole, ok := check(p.Child("cidr"), cidr)
	if !ok {
		return errs
	}
	for i, text := range block.Strings("except") {
		at := p.Child("except").Index(i)
		part, ok := check(at, text)
		if ok && (!whole.Contains(part.Addr()) || whole.Bits() >= part.Bits()) {
			errs = append(errs, field.Invalid(at, text, "must be a strict subset of `cidr`"))
		}
	}
	return errs
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
		Storage: "networkpolicies.networking.k8s.io",
		Changed: kind.Literally.Of("spec"),
		Strategy: resource.Strategy{
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateNetworkPolicy(ctx, obj, nil)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				return validateNetworkPolicy(ctx, obj, old)
			},
			Warn: warnNetworkPolicy,
		},
		Defaults: kind.EveryVersion(defaultNetworkPolicy),
		Columns:  []table.Column{table.Name(), table.Doc("Pod-Selector", table.DocNetworking+"NetworkPolicySpec", "podSelector"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			pods := obj.Map("spec", "podSelector")
			if pods == nil {
				pods = map[string]any{}
			}
			return table.Row(obj.Name(), selector.FormatLabelSelector(pods), table.AgeCell(now, obj))
		},
	}
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
