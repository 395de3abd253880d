package config

import (
	"fmt"
	"net/netip"
	"reflect"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/trace"
)

// maxNodes is the number of nodes that Kubernetes supports.
const maxNodes = 5000

// smallestCIDR is how long the prefix of a range of addresses may be: kube-apiserver wants eight of them.
const smallestCIDR = 29

// Check returns an error for the first field with an invalid value. The packages that define plugins, controllers and versions check
// their names.
func (c *Cluster) Check() error {
	if c.Nodes < 0 || c.Nodes > maxNodes {
		return fmt.Errorf("there cannot be %d nodes: there may be from 0 to %d", c.Nodes, maxNodes)
	}
	if c.RequestTimeout < 0 {
		return fmt.Errorf("a request cannot have %v: want 0, which is a minute, or more", c.RequestTimeout)
	}
	if c.ServiceCIDR == "" {
		return nil
	}
	if p, err := netip.ParsePrefix(c.ServiceCIDR); err != nil || !p.Addr().Is4() || p.Bits() > smallestCIDR {
		return fmt.Errorf("the range of addresses of services is %q: want one of IPv4 with at least 8 addresses, such as 10.0.0.0/24", c.ServiceCIDR)
	}
	return nil
}

// ServicePrefix returns ServiceCIDR, the zero value for "". Check has found it good.
func (c *Cluster) ServicePrefix() netip.Prefix {
	if c.ServiceCIDR == "" {
		return netip.Prefix{}
	}
	p, _ := netip.ParsePrefix(c.ServiceCIDR)
	return p
}

// Saved returns the cluster that a file describes, run by a process that c describes: fields that JSON prints are those of saved.
func (c *Cluster) Saved(saved Cluster) Cluster {
	from, to := reflect.ValueOf(c).Elem(), reflect.ValueOf(&saved).Elem()
	for i := range to.NumField() {
		if to.Type().Field(i).Tag.Get("json") == "-" {
			to.Field(i).Set(from.Field(i))
		}
	}
	return saved
}

// Signers returns whose certificates are believed.
func (c *Cluster) Signers() auth.Signers {
	return auth.Signers{ClientCA: c.ClientCA, Proxies: c.RequestHeader}
}

// Records returns the number of trace records to keep.
func (c *Cluster) Records() trace.Options {
	if c.Trace <= 0 {
		return trace.Options{}
	}
	return trace.Options{Keep: c.Trace, Hash: !c.NoHashes}
}
