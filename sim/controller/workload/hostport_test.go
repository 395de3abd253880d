package workload

import (
	"testing"

	"github.com/matryer/is"
)

// TestHostPorts checks that a port on all addresses of a node conflicts with the same port on each address.
func TestHostPorts(t *testing.T) {
	is := is.New(t)
	any, one, other := HostPort{anyIP, "TCP", 80}, HostPort{"10.0.0.1", "TCP", 80}, HostPort{"10.0.0.2", "TCP", 80}
	is.True(any.Conflicts(one) && one.Conflicts(any) && one.Conflicts(one))
	is.True(!one.Conflicts(other) && !one.Conflicts(HostPort{"10.0.0.1", "UDP", 80}) && !any.Conflicts(HostPort{anyIP, "TCP", 81}))
}
