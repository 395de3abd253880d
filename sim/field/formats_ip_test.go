package field

import (
	"testing"

	"github.com/matryer/is"
)

func TestIP(t *testing.T) {
	tests := []struct{ value, legacy, strict, warning string }{
		{"10.9.8.7", "", "", ""},
		{"2001:db8::1", "", "", ""},
		{"2001:DB8::1", "", `must be in canonical form ("2001:db8::1")`, `p: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`},
		{"010.9.8.7", "must not have leading 0s", "must not have leading 0s", `p: non-standard IP address "010.9.8.7" is invalid: use "10.9.8.7"`},
		{"::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address", "must not be an IPv4-mapped IPv6 address", `p: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"`},
		{"fe80::1%eth0", ipText, ipText, ""},
		{"1.2.3", ipText, ipText, ""},
		{"", ipText, ipText, ""},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			is := is.New(t)
			is.Equal(LegacyIP(tt.value), list(tt.legacy))                     // old fields
			is.Equal(IP(tt.value), list(tt.strict))                           // new fields
			is.Equal(IPWarnings(Root("p"), tt.value, true), list(tt.warning)) // warnings of old fields
		})
	}
}

func TestCIDR(t *testing.T) {
	tests := []struct{ value, legacy, strict, warning string }{
		{"10.9.8.0/24", "", "", ""},
		{"2001:DB8::/64", "", `must be in canonical form ("2001:db8::/64")`, `p: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")`},
		{"10.9.8.7/24", "must not have bits set beyond the prefix length", "must not have bits set beyond the prefix length", `p: CIDR value "10.9.8.7/24" is ambiguous in this context (should be "10.9.8.0/24" or "10.9.8.7/32"?)`},
		{"10.9.8.0/024", "must not have leading 0s in IP or prefix length", "must not have leading 0s in IP or prefix length", `p: non-standard CIDR value "10.9.8.0/024" is invalid: use "10.9.8.0/24"`},
		{"::ffff:1.2.3.0/120", "must not have an IPv4-mapped IPv6 address", "must not have an IPv4-mapped IPv6 address", `p: non-standard CIDR value "::ffff:1.2.3.0/120" is invalid: use "1.2.3.0/24"`},
		{"10.9.8.0/33", cidrText, cidrText, ""},
		{"10.9.8.0", cidrText, cidrText, ""},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			is := is.New(t)
			is.Equal(LegacyCIDR(tt.value), list(tt.legacy))                     // old fields
			is.Equal(CIDR(tt.value), list(tt.strict))                           // new fields
			is.Equal(CIDRWarnings(Root("p"), tt.value, true), list(tt.warning)) // warnings of old fields
		})
	}
}

func TestInterfaceAddress(t *testing.T) {
	is := is.New(t)
	is.Equal(InterfaceAddress("10.9.8.7/24"), nil)                                                                                 // bits beyond the prefix are the point
	is.Equal(InterfaceAddress("2001:DB8::1/64"), []string{`must be in canonical form ("2001:db8::1/64")`})                         // canonical only
	is.Equal(InterfaceAddress("10.9.8.7"), []string{"must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"}) // length is missing
	is.Equal(InterfaceAddress("::ffff:1.2.3.4/120"), []string{`must be in canonical form ("1.2.3.4/24")`})                         // mapped addresses are IPv4
}

func FuzzIP(f *testing.F) {
	for _, s := range []string{"10.9.8.7", "010.0.0.1/08", "::ffff:1.2.3.4/120", "2001:db8::/64", "%", "/", "1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		is := is.New(t)
		if IP(s) == nil {
			is.Equal(LegacyIP(s), nil)                    // new fields are stricter
			is.Equal(IPWarnings(Root("p"), s, true), nil) // no warnings
		}
		if CIDR(s) == nil {
			is.Equal(LegacyCIDR(s), nil)                    // new fields are stricter
			is.Equal(CIDRWarnings(Root("p"), s, true), nil) // no warnings
		}
		InterfaceAddress(s)
	})
}

// list returns a list with the message, or nil if the message is "".
func list(message string) []string {
	if message == "" {
		return nil
	}
	return []string{message}
}
