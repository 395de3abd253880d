package field

import (
	"net/netip"
	"strconv"
	"strings"
)

const (
	ipText   = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	cidrText = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
)

// IP checks an IP address in canonical form (RFC 5952), which newer fields require.
func IP(value string) []string {
	if msgs := LegacyIP(value); len(msgs) > 0 {
		return msgs
	}
	addr, _ := ParseIP(value)
	return canonical(value, addr.String())
}

// LegacyIP checks an IP address that need not be canonical, for fields that are older than Kubernetes 1.33 (KEP-4858, feature
// gate StrictIPCIDRValidation, on in 1.36). An update of such a field accepts addresses that are already stored.
func LegacyIP(value string) []string {
	if msgs := LaxIP(value); msgs != nil {
		return msgs
	}
	addr, err := netip.ParseAddr(value)
	if err != nil {
		return []string{"must not have leading 0s"}
	}
	if addr.Is4In6() {
		return []string{"must not be an IPv4-mapped IPv6 address"}
	}
	return nil
}

// LaxIP replaces LegacyIP on a server without StrictIPCIDRValidation. It accepts leading zeros and IPv4-mapped IPv6
// addresses.
func LaxIP(value string) []string {
	if _, ok := ParseIP(value); !ok {
		return []string{ipText}
	}
	return nil
}

// CIDR checks a network such as 10.9.8.0/24 in canonical form, which newer fields require.
func CIDR(value string) []string {
	if msgs := LegacyCIDR(value); len(msgs) > 0 {
		return msgs
	}
	prefix, _ := ParseCIDR(value)
	return canonical(value, prefix.Masked().String())
}

// LaxCIDR checks a network with the same leniency as LaxIP.
func LaxCIDR(value string) []string {
	if _, ok := ParseCIDR(value); !ok {
		return []string{cidrText}
	}
	return nil
}

// LegacyCIDR checks a network with the same leniency as LegacyIP.
func LegacyCIDR(value string) []string {
	if msgs := LaxCIDR(value); msgs != nil {
		return msgs
	}
	prefix, err := netip.ParsePrefix(value)
	switch {
	case err != nil:
		return []string{"must not have leading 0s in IP or prefix length"}
	case prefix.Addr().Is4In6():
		return []string{"must not have an IPv4-mapped IPv6 address"}
	case prefix != prefix.Masked():
		return []string{"must not have bits set beyond the prefix length"}
	}
	return nil
}

// InterfaceAddress checks an address with a prefix length, such as 10.9.8.7/24.
func InterfaceAddress(value string) []string {
	prefix, ok := ParseCIDR(value)
	if !ok {
		return []string{"must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"}
	}
	addr, bits := prefix.Addr().Unmap(), prefix.Bits()
	if addr.Is4() && bits > 32 { // the length of an IPv4-mapped address
		bits -= 96
	}
	return canonical(value, addr.String()+"/"+strconv.Itoa(bits))
}

func canonical(value, want string) []string {
	if value == want {
		return nil
	}
	return []string{"must be in canonical form (" + strconv.Quote(want) + ")"}
}

// IPWarnings returns the warnings about an address in a field that uses LegacyIP. refused reports whether the server rejects
// nonstandard addresses. If not, the warning says that future servers will.
func IPWarnings(p Path, value string, refused bool) []string {
	addr, ok := ParseIP(value)
	if !ok {
		return nil
	}
	strict, err := netip.ParseAddr(value)
	if err != nil || strict.Is4In6() {
		return []string{p.String() + ": non-standard IP address " + strconv.Quote(value) + useInstead(refused) +
			strconv.Quote(addr.String())}
	}
	if strict.Is6() && strict.String() != value {
		return []string{p.String() + ": IPv6 address " + strconv.Quote(value) + " should be in RFC 5952 canonical format (" +
			strconv.Quote(strict.String()) + ")"}
	}
	return nil
}

// CIDRWarnings returns the warnings about a network in a field that uses LegacyCIDR. For refused, see IPWarnings.
func CIDRWarnings(p Path, value string, refused bool) []string {
	prefix, ok := ParseCIDR(value)
	if !ok {
		return nil
	}
	masked := unmap(prefix.Masked())
	var warnings []string
	if prefix != prefix.Masked() {
		single := prefix.Addr().Unmap().String() + "/" + strconv.Itoa(prefix.Addr().BitLen())
		warnings = append(warnings, p.String()+": CIDR value "+strconv.Quote(value)+
			" is ambiguous in this context (should be "+strconv.Quote(masked.String())+" or "+strconv.Quote(single)+"?)")
	}
	strict, err := netip.ParsePrefix(value)
	if err != nil || strict.Addr().Is4In6() {
		return append(warnings, p.String()+": non-standard CIDR value "+strconv.Quote(value)+useInstead(refused)+
			strconv.Quote(masked.String()))
	}
	if len(warnings) == 0 && strict.Addr().Is6() && strict.String() != value {
		warnings = append(warnings, p.String()+": IPv6 CIDR value "+strconv.Quote(value)+
			" should be in RFC 5952 canonical format ("+strconv.Quote(strict.String())+")")
	}
	return warnings
}

func useInstead(refused bool) string {
	if refused {
		return " is invalid: use "
	}
	return " will be considered invalid in a future Kubernetes release: use "
}

// ParseIP parses an address with the most lenient rules: leading zeros are ignored, and an IPv4-mapped address becomes an IPv4
// address. It returns false if the address is invalid or has a zone.
func ParseIP(value string) (netip.Addr, bool) {
	addr, ok := parseAddr(value)
	return addr.Unmap(), ok
}

func parseAddr(value string) (netip.Addr, bool) {
	if strings.Contains(value, "%") {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(trimZeros(value))
	return addr, err == nil
}

// ParseCIDR parses a network with the most lenient rules. It keeps the bits beyond the prefix length. It returns false if the
// network is invalid.
func ParseCIDR(value string) (netip.Prefix, bool) {
	host, length, ok := strings.Cut(value, "/")
	addr, valid := parseAddr(host)
	if !ok || !valid || !all(length, isDigit) {
		return netip.Prefix{}, false
	}
	bits, err := strconv.Atoi(trimZeros(length))
	if err != nil || bits > addr.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, bits), true
}

// unmap converts an IPv4-mapped network to an IPv4 network. It returns all other networks unchanged.
func unmap(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// trimZeros removes the leading zeros of all numbers in an address.
func trimZeros(value string) string {
	b := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		start := i == 0 || value[i-1] == '.' || value[i-1] == ':'
		if start && value[i] == '0' {
			for i+1 < len(value) && value[i] == '0' && value[i+1] != '.' && value[i+1] != ':' {
				i++
			}
		}
		b = append(b, value[i])
	}
	return string(b)
}
