//go:build !nocel

package cel

import (
	"fmt"
	"net/netip"
	"net/url"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
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

// urlFunctions are url, isURL and what a URL is made of.
func urlFunctions() []cel.EnvOption {
	part := func(name, id string, f func(*url.URL) string) cel.EnvOption {
		return cel.Function(name, member(id, cel.StringType, unary(func(u *url.URL) ref.Val { return types.String(f(u)) }), typeURL))
	}
	return []cel.EnvOption{
		cel.Function("url", overload("string_to_url", typeURL, unary(func(s string) ref.Val {
			u, err := parseURL(s)
			if err != nil {
				return types.NewErr("URL parse error during conversion from string: %v", err)
			}
			return urlVal(u)
		}), cel.StringType)),
		cel.Function("isURL", overload("is_url_string", cel.BoolType, unary(func(s string) ref.Val {
			_, err := parseURL(s)
			return types.Bool(err == nil)
		}), cel.StringType)),
		part("getScheme", "url_get_scheme", func(u *url.URL) string { return u.Scheme }),
		part("getHost", "url_get_host", func(u *url.URL) string { return u.Host }),
		part("getHostname", "url_get_hostname", (*url.URL).Hostname),
		part("getPort", "url_get_port", (*url.URL).Port),
		part("getEscapedPath", "url_get_escaped_path", (*url.URL).EscapedPath),
		cel.Function("getQuery", member("url_get_query", cel.MapType(cel.StringType, cel.ListType(cel.StringType)),
			unary(func(u *url.URL) ref.Val {
				query := map[string]any{}
				for name, values := range u.Query() {
					list := make([]any, len(values))
					for i, v := range values {
						list[i] = v
					}
					query[name] = list
				}
				return untyped(query)
			}), typeURL)),
	}
}

// parseURL accepts absolute URLs and absolute paths only.
func parseURL(s string) (*url.URL, error) {
	if _, err := url.ParseRequestURI(s); err != nil {
		return nil, err
	}
	return url.Parse(s)
}

func ipVal(a netip.Addr) ref.Val {
	return &special{typ: typeIP, value: a, text: a.String(), texts: true, size: int64(a.BitLen()+7) / 8,
		equal: func(other any) bool { return other.(netip.Addr) == a }}
}

// parseIP accepts no zones and no IPv4 addresses in IPv6 form.
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

// ipFunctions are ip, isIP, ip.isCanonical and what an address is.
func ipFunctions() []cel.EnvOption {
	is := func(name, id string, f func(netip.Addr) bool) cel.EnvOption {
		return cel.Function(name, member(id, cel.BoolType, unary(func(a netip.Addr) ref.Val { return types.Bool(f(a)) }), typeIP))
	}
	return []cel.EnvOption{
		cel.Function("ip",
			overload("string_to_ip", typeIP, unary(func(s string) ref.Val {
				a, err := parseIP(s)
				if err != nil {
					return types.NewErr("%v", err)
				}
				return ipVal(a)
			}), cel.StringType),
			member("cidr_ip", typeIP, unary(func(p netip.Prefix) ref.Val { return ipVal(p.Addr()) }), typeCIDR)),
		cel.Function("isIP", overload("is_ip", cel.BoolType, unary(func(s string) ref.Val {
			_, err := parseIP(s)
			return types.Bool(err == nil)
		}), cel.StringType)),
		cel.Function("ip.isCanonical", overload("ip_is_canonical", cel.BoolType, unary(func(s string) ref.Val {
			a, err := parseIP(s)
			if err != nil {
				return types.NewErr("%v", err)
			}
			return types.Bool(a.String() == s)
		}), cel.StringType)),
		cel.Function("string", overload("ip_to_string", cel.StringType, unary(func(a netip.Addr) ref.Val { return types.String(a.String()) }), typeIP),
			overload("cidr_to_string", cel.StringType, unary(func(p netip.Prefix) ref.Val { return types.String(p.String()) }), typeCIDR)),
		cel.Function("family", member("ip_family", cel.IntType, unary(func(a netip.Addr) ref.Val {
			if a.Is4() {
				return types.Int(4)
			}
			return types.Int(6)
		}), typeIP)),
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

func parseCIDR(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return p, fmt.Errorf("network address parse error during conversion from string: %v", err)
	case p.Addr().Is4In6():
		return p, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return p, nil
}

// cidrError says twice what went wrong, as the real server does.
func cidrError(err error) ref.Val {
	return types.NewErr("network address parse error during conversion from string: %v", err)
}

// cidrFunctions are cidr, isCIDR and what a range contains.
func cidrFunctions() []cel.EnvOption {
	containsIP := func(p netip.Prefix, a netip.Addr) ref.Val { return types.Bool(p.Contains(a)) }
	containsCIDR := func(p, q netip.Prefix) ref.Val {
		return types.Bool(p.Overlaps(q) && p.Bits() <= q.Bits())
	}
	return []cel.EnvOption{
		cel.Function("cidr", overload("string_to_cidr", typeCIDR, unary(func(s string) ref.Val {
			p, err := parseCIDR(s)
			if err != nil {
				return cidrError(err)
			}
			return cidrVal(p)
		}), cel.StringType)),
		cel.Function("isCIDR", overload("is_cidr", cel.BoolType, unary(func(s string) ref.Val {
			_, err := parseCIDR(s)
			return types.Bool(err == nil)
		}), cel.StringType)),
		cel.Function("containsIP",
			member("cidr_contains_ip_string", cel.BoolType, binary(func(p netip.Prefix, s string) ref.Val {
				a, err := parseIP(s)
				if err != nil {
					return types.NewErr("%v", err)
				}
				return containsIP(p, a)
			}), typeCIDR, cel.StringType),
			member("cidr_contains_ip_ip", cel.BoolType, binary(containsIP), typeCIDR, typeIP)),
		cel.Function("containsCIDR",
			member("cidr_contains_cidr_string", cel.BoolType, binary(func(p netip.Prefix, s string) ref.Val {
				q, err := parseCIDR(s)
				if err != nil {
					return cidrError(err)
				}
				return containsCIDR(p, q)
			}), typeCIDR, cel.StringType),
			member("cidr_contains_cidr", cel.BoolType, binary(containsCIDR), typeCIDR, typeCIDR)),
		cel.Function("prefixLength", member("cidr_prefix_length", cel.IntType,
			unary(func(p netip.Prefix) ref.Val { return types.Int(p.Bits()) }), typeCIDR)),
		cel.Function("masked", member("cidr_masked", typeCIDR, unary(func(p netip.Prefix) ref.Val { return cidrVal(p.Masked()) }), typeCIDR)),
	}
}
