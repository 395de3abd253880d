package podspec

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

const (
	nameserversMax      = 3
	searchesMax         = 32
	searchCharactersMax = 2048
	hostnameOverrideMax = 64
)

// dnsConfig checks the resolver configuration of the pod.
func (r *Rules) dnsConfig() field.ErrorList {
	config, p := r.Spec.At("dnsConfig"), r.Path.Child("dnsConfig")
	servers, searches := config.List("nameservers"), config.Strings("searches")
	if r.Spec.String("dnsPolicy") == "None" {
		if config == nil {
			return field.ErrorList{field.Required(p, "must provide `dnsConfig` when `dnsPolicy` is None")}
		}
		if len(servers) == 0 {
			return field.ErrorList{field.Required(p.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	var errs field.ErrorList
	if len(servers) > nameserversMax {
		errs = append(errs, field.Invalid(p.Child("nameservers"), servers, "must not have more than 3 nameservers"))
	}
	for i, server := range object.Strings(servers) {
		errs = append(errs, kind.ValidateIP(r.ctx, p.Child("nameservers").Index(i), server)...)
	}
	if len(searches) > searchesMax {
		errs = append(errs, field.Invalid(p.Child("searches"), searches, "must not have more than 32 search paths"))
	}
	if len(strings.Join(searches, " ")) > searchCharactersMax {
		errs = append(errs, field.Invalid(p.Child("searches"), searches, "must not have more than 2048 characters (including spaces) in the search list"))
	}
	for i, search := range searches {
		if search != "." {
			errs = append(errs, field.Check(p.Child("searches").Index(i), strings.TrimSuffix(search, "."), field.DNS1123SubdomainWithUnderscore)...)
		}
	}
	for i, option := range config.Objects("options") {
		if option.String("name") == "" {
			errs = append(errs, field.Required(p.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

// hostAliases checks the lines for the pod's hosts file.
func (r *Rules) hostAliases() field.ErrorList {
	p := r.Path.Child("hostAliases")
	var errs field.ErrorList
	for i, alias := range r.Spec.Objects("hostAliases") {
		errs = append(errs, kind.ValidateIP(r.ctx, p.Index(i).Child("ip"), alias.String("ip"))...)
		for j, name := range alias.Strings("hostnames") {
			errs = append(errs, field.Check(p.Index(i).Child("hostnames").Index(j), name, field.DNS1123Subdomain)...)
		}
	}
	return errs
}

// hostnameOverride checks the host name that a pod gives itself (KEP-4762).
func (r *Rules) hostnameOverride() field.ErrorList {
	if !r.Spec.Has("hostnameOverride") {
		return nil
	}
	p, name := r.Path.Child("hostnameOverride"), r.Spec.String("hostnameOverride")
	var errs field.ErrorList
	if r.Spec.True("setHostnameAsFQDN") {
		errs = append(errs, field.Forbidden(p, "may not be specified when setHostnameAsFQDN is true"))
	}
	if r.Spec.True("hostNetwork") {
		errs = append(errs, field.Forbidden(p, "may not be specified when hostNetwork is true"))
	}
	if len(name) > hostnameOverrideMax {
		errs = append(errs, field.TooLong(p, hostnameOverrideMax))
	}
	return append(errs, field.Check(p, name, field.DNS1123Subdomain)...)
}
