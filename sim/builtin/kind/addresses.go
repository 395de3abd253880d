package kind

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

// ValidateIP checks an address in a field that is older than Kubernetes 1.33 (KEP-4858): it need not be canonical, and servers
// without StrictIPCIDRValidation take one that only those can read who know that leading zeros are not octal and that
// ::ffff:1.2.3.4 is IPv4.
func ValidateIP(ctx *resource.Context, p field.Path, ip string) field.ErrorList {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.Check(p, ip, field.LegacyIP)
	}
	return field.Check(p, ip, field.LaxIP)
}

// ValidateCIDR checks a network as ValidateIP checks an address.
func ValidateCIDR(ctx *resource.Context, p field.Path, cidr string) field.ErrorList {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.Check(p, cidr, field.LegacyCIDR)
	}
	return field.Check(p, cidr, field.LaxCIDR)
}

// WarnIP warns about an address in such a field.
func WarnIP(ctx *resource.Context, p field.Path, ip string) { WarnAll(ctx, IPWarnings(ctx, p, ip)) }

// WarnCIDR warns about a network in such a field.
func WarnCIDR(ctx *resource.Context, p field.Path, cidr string) {
	WarnAll(ctx, field.CIDRWarnings(p, cidr, ctx.Since(36)))
}

// IPWarnings returns the warnings about an address in such a field.
func IPWarnings(ctx *resource.Context, p field.Path, ip string) []string {
	return field.IPWarnings(p, ip, ctx.Since(36))
}
