package celgo

import (
	"fmt"
	"net/netip"
	"net/url"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/kubesim/kubesim/sim/object"
)

var (
	typeURL  = cel.ObjectType("kubernetes.URL")
	typeIP   = cel.OpaqueType("net.IP")
	typeCIDR = cel.OpaqueType("net.CIDR")
)

func urlVal(u *url.URL) ref.Val {
	return &special{typ: typeURL, value: u, text: u.String(),
		equal: func(other any) bool { return other.(*url.URL).String() == u.String() }}
}

// urlFunctions returns url, isURL and the accessors of a URL.
func urlFunctions() []cel.EnvOption {
	part := func(name, id string, f func(*url.URL) string) cel.EnvOption {
		return property(name, id, typeURL, cel.StringType, func(u *url.URL) ref.Val { return types.String(f(u)) })
	}
	return []cel.EnvOption{
		cel.Function("url", parsing("string_to_url", typeURL, parseURL, urlVal)),
		parses("isURL", "is_url_string", parseURL),
		part("getScheme", "url_get_scheme", func(u *url.URL) string { return u.Scheme }),
		part("getHost", "url_get_host", func(u *url.URL) string { return u.Host }),
		part("getHostname", "url_get_hostname", (*url.URL).Hostname),
		part("getPort", "url_get_port", (*url.URL).Port),
		part("getEscapedPath", "url_get_escaped_path", (*url.URL).EscapedPath),
		property("getQuery", "url_get_query", typeURL, cel.MapType(cel.StringType, cel.ListType(cel.StringType)), func(u *url.URL) ref.Val {
			query := map[string]any{}
			for name, values := range u.Query() {
				query[name] = object.FromStrings(values)
			}
			return untyped(query)
		}),
	}
}

// parseURL parses an absolute URL or an absolute path. It rejects anything else.
func parseURL(s string) (*url.URL, error) {
	u, err := url.ParseRequestURI(s)
	if err == nil {
		u, err = url.Parse(s)
	}
	if err != nil {
		return nil, fmt.Errorf("URL parse error during conversion from string: %w", err)
	}
	return u, nil
}

func ipVal(a netip.Addr) ref.Val {
	return &special{typ: typeIP, value: a, text: a.String(), texts: true, size: int64(a.BitLen()+7) / 8,
		equal: func(other any) bool { return other.(netip.Addr) == a }}
}

// parseIP parses an IP address. It rejects zones and IPv4-mapped IPv6 addresses.
func parseIP(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return a, fmt.Errorf("IP Address %q parse error during conversion from string: %v", s, err)
	case a.Zone() != "":
		return a, fmt.Errorf("IP address %q with zone value is not allowed", s)
	case a.Is4In6():
		return a, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return a, nil
}

// ipFunctions returns ip, isIP, ip.isCanonical and the methods of an address.
func ipFunctions() []cel.EnvOption {
	is := func(name, id string, f func(netip.Addr) bool) cel.EnvOption {
		return property(name, id, typeIP, cel.BoolType, func(a netip.Addr) ref.Val { return types.Bool(f(a)) })
	}
	return []cel.EnvOption{
		cel.Function("ip", parsing("string_to_ip", typeIP, parseIP, ipVal),
			member("cidr_ip", typeIP, unary(func(p netip.Prefix) ref.Val { return ipVal(p.Addr()) }), typeCIDR)),
		parses("isIP", "is_ip", parseIP),
		cel.Function("ip.isCanonical", overload("ip_is_canonical", cel.BoolType, unary(func(s string) ref.Val {
			a, err := parseIP(s)
			if err != nil {
				return types.WrapErr(err)
			}
			return types.Bool(a.String() == s)
		}), cel.StringType)),
		cel.Function("string", overload("ip_to_string", cel.StringType, unary(func(a netip.Addr) ref.Val { return types.String(a.String()) }), typeIP),
			overload("cidr_to_string", cel.StringType, unary(func(p netip.Prefix) ref.Val { return types.String(p.String()) }), typeCIDR)),
		property("family", "ip_family", typeIP, cel.IntType, func(a netip.Addr) ref.Val {
			if a.Is4() {
				return types.Int(4)
			}
			return types.Int(6)
		}),
		is("isUnspecified", "ip_is_unspecified", netip.Addr.IsUnspecified),
		is("isLoopback", "ip_is_loopback", netip.Addr.IsLoopback),
		is("isLinkLocalMulticast", "ip_is_link_local_multicast", netip.Addr.IsLinkLocalMulticast),
		is("isLinkLocalUnicast", "ip_is_link_local_unicast", netip.Addr.IsLinkLocalUnicast),
		is("isGlobalUnicast", "ip_is_global_unicast", netip.Addr.IsGlobalUnicast),
	}
}

func cidrVal(p netip.Prefix) ref.Val {
	return &special{typ: typeCIDR, value: p, text: p.String(), texts: true, size: int64(p.Bits()+7) / 8,
		equal: func(other any) bool { return other.(netip.Prefix) == p }}
}

// parseCIDR parses a CIDR. It rejects IPv4-mapped IPv6 addresses. As in the real server, its errors contain the reason twice.
func parseCIDR(s string) (netip.Prefix, error) {
	const failed = "network address parse error during conversion from string: "
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return p, fmt.Errorf(failed+failed+"%w", err)
	case p.Addr().Is4In6():
		return p, fmt.Errorf(failed+"IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return p, nil
}

// cidrFunctions returns cidr, isCIDR and the methods of a range.
func cidrFunctions() []cel.EnvOption {
	containsIP := func(p netip.Prefix, a netip.Addr) ref.Val { return types.Bool(p.Contains(a)) }
	containsCIDR := func(p, q netip.Prefix) ref.Val {
		return types.Bool(p.Overlaps(q) && p.Bits() <= q.Bits())
	}
	return []cel.EnvOption{
		cel.Function("cidr", parsing("string_to_cidr", typeCIDR, parseCIDR, cidrVal)),
		parses("isCIDR", "is_cidr", parseCIDR),
		cel.Function("containsIP",
			member("cidr_contains_ip_string", cel.BoolType, binary(func(p netip.Prefix, s string) ref.Val {
				a, err := parseIP(s)
				if err != nil {
					return types.NewErr("no such overload") // the real function loses the error
				}
				return containsIP(p, a)
			}), typeCIDR, cel.StringType),
			member("cidr_contains_ip_ip", cel.BoolType, binary(containsIP), typeCIDR, typeIP)),
		cel.Function("containsCIDR",
			member("cidr_contains_cidr_string", cel.BoolType, binary(func(p netip.Prefix, s string) ref.Val {
				q, err := parseCIDR(s)
				if err != nil {
					return types.WrapErr(err)
				}
				return containsCIDR(p, q)
			}), typeCIDR, cel.StringType),
			member("cidr_contains_cidr", cel.BoolType, binary(containsCIDR), typeCIDR, typeCIDR)),
		property("prefixLength", "cidr_prefix_length", typeCIDR, cel.IntType, func(p netip.Prefix) ref.Val { return types.Int(p.Bits()) }),
		property("masked", "cidr_masked", typeCIDR, typeCIDR, func(p netip.Prefix) ref.Val { return cidrVal(p.Masked()) }),
	}
}
