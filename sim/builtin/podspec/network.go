package podspec

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
)

const (
	nameserversMax      = 3
	searchesMax         = 32
	searchCharactersMax = 2048
	hostnameOverrideMax = 64
)

// dnsConfig checks the DNS configuration of the pod.
func (r *Rules) dnsConfig() {
	config := r.at.Child("dnsConfig")
	if !config.Has() && r.Spec.String("dnsPolicy") != "None" {
		return
	}
	servers, searches := config.Child("nameservers"), config.Child("searches")
	if r.Spec.String("dnsPolicy") == "None" {
		if !config.Has() {
			config.Missing("must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if !servers.Required("must provide at least one DNS nameserver when `dnsPolicy` is None").Has() {
			return
		}
	}
	servers.InvalidIf(servers.Len() > nameserversMax, "must not have more than 3 nameservers")
	servers.CheckEach(kind.IP(r.ctx))
	searches.InvalidIf(searches.Len() > searchesMax, "must not have more than 32 search paths")
	searches.InvalidIf(len(strings.Join(searches.Strings(), " ")) > searchCharactersMax,
		"must not have more than 2048 characters (including spaces) in the search list")
	for search := range searches.Each() {
		if name := search.String(); name != "." {
			search.With(strings.TrimSuffix(name, ".")).Check(field.DNS1123SubdomainWithUnderscore)
		}
	}
	for option := range config.Each("options") {
		option.RequireIf(option.String("name") == "", "must not be empty")
	}
}

// hostAliases checks the additional entries of the pod's hosts file.
func (r *Rules) hostAliases() {
	for alias := range r.at.Each("hostAliases") {
		alias.Child("ip").OrEmpty().Check(kind.IP(r.ctx))
		alias.Child("hostnames").CheckEach(field.DNS1123Subdomain)
	}
}

// hostnameOverride checks the hostname that replaces the pod's default hostname (KEP-4762).
func (r *Rules) hostnameOverride() {
	if name := r.at.Child("hostnameOverride"); name.Has() {
		name.ForbidIf(r.Spec.True("setHostnameAsFQDN"), "may not be specified when setHostnameAsFQDN is true").
			ForbidIf(r.Spec.True("hostNetwork"), "may not be specified when hostNetwork is true").
			MaxBytes(hostnameOverrideMax).Check(field.DNS1123Subdomain)
	}
}
