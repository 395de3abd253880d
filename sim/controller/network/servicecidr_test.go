package network

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix, at string
		want       bool
	}{
		{"10.0.0.0/24", "10.0.0.1", true}, {"10.0.0.0/24", "10.0.0.254", true},
		{"10.0.0.0/24", "10.0.0.0", false}, {"10.0.0.0/24", "10.0.0.255", false}, {"10.0.0.0/24", "10.0.1.1", false},
		{"fd00::/120", "fd00::ff", true}, {"fd00::/120", "fd00::", false}, {"255.255.255.0/24", "255.255.255.255", false},
	} {
		is.New(t).Equal(hosts(netip.MustParsePrefix(test.prefix), netip.MustParseAddr(test.at)), test.want) // test.at
	}
}
