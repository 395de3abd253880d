package core

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

// familiesTry returns a Try of a cluster with the given ranges, which are also in a ServiceCIDR.
func familiesTry(t *testing.T, ranges ...string) *kindtest.Try {
	r := kindtest.New(t, served, "services")
	r.Ctx.Reservations = reserved{r}
	for _, text := range ranges {
		r.Ctx.ServiceCIDRs = append(r.Ctx.ServiceCIDRs, netip.MustParsePrefix(text))
	}
	r.Stored[serviceCIDRs] = []object.Object{r.Parse(`{'metadata':{'name':'kubernetes'},'spec':{'cidrs':['` + strings.Join(ranges, "','") + `']}}`)}
	return r
}

// summary returns the families and the addresses of a service. An address is abbreviated to 4 or 6 if the server has drawn it.
func summary(obj object.Object) string {
	spec := obj.At("spec")
	words := []string{spec.String("ipFamilyPolicy")}
	words = append(words, spec.Strings("ipFamilies")...)
	for _, ip := range spec.Strings("clusterIPs") {
		for prefix, short := range map[string]string{"10.0.": "4", "fd00::": "6"} { // order does not matter: at most one fits
			if rest, ok := strings.CutPrefix(ip, prefix); ok && rest != "9" {
				ip = short
			}
		}
		words = append(words, ip)
	}
	return strings.Join(words, " ")
}

const (
	range4, range6 = "10.0.0.0/16", "fd00::/112"
	policy         = "spec.ipFamilyPolicy: Invalid value: "
)

func TestFamiliesOfNewServices(t *testing.T) {
	is := is.New(t)
	for _, x := range []struct{ spec, v4, v6, both, reverse string }{
		{``, "SingleStack IPv4 4", "SingleStack IPv6 6", "SingleStack IPv4 4", "SingleStack IPv6 6"},
		{`'ipFamilyPolicy':'PreferDualStack'`, "PreferDualStack IPv4 4", "PreferDualStack IPv6 6", "PreferDualStack IPv4 IPv6 4 6", "PreferDualStack IPv6 IPv4 6 4"},
		{`'ipFamilyPolicy':'RequireDualStack'`, policy + `"RequireDualStack": this cluster is not configured for dual-stack services`,
			policy + `"RequireDualStack": this cluster is not configured for dual-stack services`, "RequireDualStack IPv4 IPv6 4 6", "RequireDualStack IPv6 IPv4 6 4"},
		{`'ipFamilies':['IPv6']`, `spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`, "SingleStack IPv6 6", "SingleStack IPv6 6", "SingleStack IPv6 6"},
		{`'ipFamilies':['IPv6'],'ipFamilyPolicy':'PreferDualStack'`, `spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`,
			"PreferDualStack IPv6 6", "PreferDualStack IPv6 IPv4 6 4", "PreferDualStack IPv6 IPv4 6 4"},
		{`'ipFamilies':['IPv4','IPv6']`, policy + `"SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
			policy + `"SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
			policy + `"SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
			policy + `"SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`},
		{`'clusterIP':'fd00::9'`, `spec.clusterIPs[0]: Invalid value: ["fd00::9"]: IPv6 is not configured on this cluster`, "SingleStack IPv6 fd00::9", "SingleStack IPv6 fd00::9", "SingleStack IPv6 fd00::9"},
		{`'clusterIP':'fd00::9','ipFamilyPolicy':'RequireDualStack'`, `spec.clusterIPs[0]: Invalid value: ["fd00::9"]: IPv6 is not configured on this cluster`,
			policy + `"RequireDualStack": this cluster is not configured for dual-stack services`, "RequireDualStack IPv6 IPv4 fd00::9 4", "RequireDualStack IPv6 IPv4 fd00::9 4"},
		{`'clusterIP':'None'`, "RequireDualStack IPv4 IPv6 None", "RequireDualStack IPv6 IPv4 None", "RequireDualStack IPv4 IPv6 None", "RequireDualStack IPv6 IPv4 None"},
		{`'clusterIP':'None','selector':{'a':'b'},'ipFamilyPolicy':'PreferDualStack'`, "PreferDualStack IPv4 None", "PreferDualStack IPv6 None",
			"PreferDualStack IPv4 IPv6 None", "PreferDualStack IPv6 IPv4 None"},
		{`'type':'ExternalName','externalName':'a.b'`, "", "", "", ""},
	} {
		for i, ranges := range [][]string{{range4}, {range6}, {range4, range6}, {range6, range4}} {
			want := []string{x.v4, x.v6, x.both, x.reverse}[i]
			obj, errs := familiesTry(t, ranges...).Create(strings.TrimSuffix(`{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}],`+x.spec, ",") + `}}`)
			if errs == "" {
				errs = summary(obj)
			}
			is.Equal(errs, want) // of a real server with these ranges
		}
	}
}

// TestFamiliesChange checks that a service gets and loses its second address.
func TestFamiliesChange(t *testing.T) {
	is := is.New(t)
	for _, x := range []struct{ before, patch, want, released string }{
		{``, `'ipFamilyPolicy':'PreferDualStack'`, "PreferDualStack IPv4 IPv6 4 6", ""},
		{``, `'ipFamilyPolicy':'RequireDualStack','ipFamilies':['IPv4','IPv6']`, "RequireDualStack IPv4 IPv6 4 6", ""},
		{`'clusterIP':'10.0.0.7'`, `'ipFamilyPolicy':'RequireDualStack','clusterIPs':['10.0.0.7','fd00::9']`, "RequireDualStack IPv4 IPv6 4 fd00::9", ""},
		{`'clusterIP':'10.0.0.7'`, `'ipFamilyPolicy':'RequireDualStack','clusterIPs':['10.0.0.7','fe00::9']`,
			`spec.clusterIPs: Invalid value: ["4","fe00::9"]: failed to allocate IP fe00::9: the provided network does not match the current range`, ""},
		{`'ipFamilyPolicy':'RequireDualStack','clusterIPs':['10.0.0.7','fd00::7'],'clusterIP':'10.0.0.7'`, `'ipFamilyPolicy':'SingleStack'`, "SingleStack IPv4 4", "fd00::7"},
		{`'ipFamilyPolicy':'RequireDualStack'`, `'ipFamilyPolicy':'PreferDualStack'`, "PreferDualStack IPv4 IPv6 4 6", ""},
		{`'ipFamilyPolicy':'PreferDualStack'`, `'ipFamilies':['IPv4']`, policy + `"PreferDualStack": must be 'SingleStack' to release the secondary IP family`, ""},
		{`'ipFamilyPolicy':'PreferDualStack'`, `'ipFamilyPolicy':'SingleStack','ipFamilies':['IPv6']`,
			`spec.clusterIPs[0]: Invalid value: "4": expected an IPv6 value as indicated by ` + "`ipFamilies[0]`", ""},
		{`'ipFamilyPolicy':'PreferDualStack','clusterIPs':['10.0.0.7','fd00::7'],'clusterIP':'10.0.0.7'`,
			`'type':'ExternalName','externalName':'a.b','clusterIP':'','clusterIPs':null,'ipFamilies':null,'ipFamilyPolicy':null`, "", "10.0.0.7 fd00::7"},
		{`'type':'ExternalName','externalName':'a.b'`, `'type':'ClusterIP','ipFamilyPolicy':'RequireDualStack'`, "RequireDualStack IPv4 IPv6 4 6", ""},
		{`'clusterIP':'None','selector':{'a':'b'}`, `'ipFamilyPolicy':'RequireDualStack'`, "RequireDualStack IPv4 IPv6 None", ""},
	} {
		r := familiesTry(t, range4, range6)
		obj, errs := r.Create(strings.TrimSuffix(`{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}],`+x.before, ",") + `}}`)
		is.Equal(errs, "")
		now, errs := r.Update(obj, `{'spec':{`+x.patch+`}}`, "")
		if errs != "" {
			errs = strings.ReplaceAll(errs, obj.String("spec", "clusterIP"), "4")
		} else {
			errs = summary(now)
		}
		is.Equal(errs, x.want)
		var released []string
		for _, obj := range r.Stored["released"] {
			released = append(released, obj.Name())
		}
		is.Equal(strings.Join(released, " "), x.released)
	}
}

// TestPreferDualStackStays checks that a PreferDualStack service keeps its family when the cluster gets a second one.
func TestPreferDualStackStays(t *testing.T) {
	is := is.New(t)
	r := familiesTry(t, range4)
	obj, _ := r.Create(`{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}],'ipFamilyPolicy':'PreferDualStack'}}`)
	r.Ctx.ServiceCIDRs = familiesTry(t, range4, range6).Ctx.ServiceCIDRs
	r.Stored[serviceCIDRs] = append(r.Stored[serviceCIDRs], r.Parse(`{'metadata':{'name':'x'},'spec':{'cidrs':['`+range6+`']}}`))
	obj, errs := r.Update(obj, `{'metadata':{'labels':{'a':'b'}}}`, "")
	is.Equal(errs, "")
	is.Equal(summary(obj), "PreferDualStack IPv4 4")
	obj, errs = r.Update(obj, `{'spec':{'ipFamilyPolicy':'RequireDualStack'}}`, "")
	is.Equal(errs, "")
	is.Equal(summary(obj), "RequireDualStack IPv4 IPv6 4 6")
}

func TestSizesOfIPv6Ranges(t *testing.T) {
	is := is.New(t)
	r := familiesTry(t, "fd00::/125")
	seen := map[string]bool{}
	for range 7 {
		obj, errs := r.Create(`{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}]}}`)
		is.Equal(errs, "")
		seen[obj.String("spec", "clusterIP")] = true
	}
	is.True(len(seen) == 7 && seen["fd00::7"] && !seen["fd00::"]) // all except the first one, also the last one
	_, errs := r.Create(`{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}]}}`)
	is.Equal(errs, `Internal error occurred: failed to allocate a serviceIP for Service "s": range is full`)

	huge := rangeOf(netip.MustParsePrefix("fd00::/64"))
	is.Equal(huge.at(1<<40), "fd00::100:0:0")
	is.True(huge.has("fd00::ffff:ffff:ffff:ffff") && !huge.has("fd00:0:0:1::") && !huge.has("fd00::"))
	is.Equal(huge.drawn, 257)
	is.Equal(len(rangesIn(object.Object{"spec": map[string]any{"cidrs": []any{"fd00::/63", "10.0.0.0/8"}}})), 1) // no address is allocated from the first

	r.Ctx.DryRun, r.Ctx.Reservations, r.Ctx.Random = true, nil, nil
	obj, errs := r.Create(`{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}]}}`)
	is.Equal(errs, "")
	is.Equal(obj.String("spec", "clusterIP"), "fd00::")
}
