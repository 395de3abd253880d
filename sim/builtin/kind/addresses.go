package kind

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

// IP is the rule for an address in a field that is older than Kubernetes 1.33 (KEP-4858). The address need not be canonical. Servers
// without StrictIPCIDRValidation accept ambiguous ones: leading zeros, which are not octal, and ::ffff:1.2.3.4 for an IPv4 address.
func IP(ctx *resource.Context) func(string) []string {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.LegacyIP
	}
	return field.LaxIP
}

// CIDR is the rule for a network in such a field.
func CIDR(ctx *resource.Context) func(string) []string {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.LegacyCIDR
	}
	return field.LaxCIDR
}

// WarnIP warns about an address in such a field.
func WarnIP(ctx *resource.Context, p field.Path, ip string) {
	warnAll(ctx, field.IPWarnings(p, ip, ctx.Since(36)))
}

// WarnCIDR warns about a network in such a field.
func WarnCIDR(ctx *resource.Context, p field.Path, cidr string) {
	warnAll(ctx, field.CIDRWarnings(p, cidr, ctx.Since(36)))
}

func warnAll(ctx *resource.Context, warnings []string) {
	for _, text := range warnings {
		ctx.Warn(text)
	}
}
