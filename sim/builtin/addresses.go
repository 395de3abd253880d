package builtin

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

// checkIP checks an address in a field that is older than Kubernetes 1.33 (KEP-4858): it need not be canonical, and servers
// without StrictIPCIDRValidation take one that only those can read who know that leading zeros are not octal and that
// ::ffff:1.2.3.4 is IPv4.
func checkIP(ctx *resource.Context, p field.Path, ip string) field.ErrorList {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.Check(p, ip, field.LegacyIP)
	}
	return field.Check(p, ip, field.LaxIP)
}

// checkCIDR checks a network as checkIP checks an address.
func checkCIDR(ctx *resource.Context, p field.Path, cidr string) field.ErrorList {
	if ctx.Enabled("StrictIPCIDRValidation") {
		return field.Check(p, cidr, field.LegacyCIDR)
	}
	return field.Check(p, cidr, field.LaxCIDR)
}

// warnIP warns about an address in such a field.
func warnIP(ctx *resource.Context, p field.Path, ip string) { warnAll(ctx, ipWarnings(ctx, p, ip)) }

// warnCIDR warns about a network in such a field.
func warnCIDR(ctx *resource.Context, p field.Path, cidr string) {
	warnAll(ctx, field.CIDRWarnings(p, cidr, ctx.Since(36)))
}

// ipWarnings returns the warnings about an address in such a field.
func ipWarnings(ctx *resource.Context, p field.Path, ip string) []string {
	return field.IPWarnings(p, ip, ctx.Since(36))
}
