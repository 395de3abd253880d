package config

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/trace"
)

// maxNodes is the maximum number of nodes that Kubernetes supports.
const maxNodes = 5000

// smallestCIDR and largestCIDR are the numbers of variable bits in the smallest and the largest allowed Service range.
// kube-apiserver requires at least eight addresses, and allocates none from a larger IPv6 range.
const smallestCIDR, largestCIDR = 3, 64

// GateCBOR is the feature gate for CBOR (KEP-4222). It is disabled by default in all versions.
const GateCBOR = "CBORServingAndStorage"

// Kubelets returns the number of nodes whose kubelets are simulated.
func (c *Cluster) Kubelets() int { return c.Nodes + len(c.NodeNames) }

// Check returns an error for the first field with an invalid value. It does not check the names of plugins, controllers and
// versions, which are checked by the packages that define them.
func (c *Cluster) Check() error {
	if c.Nodes < 0 || c.Kubelets() > maxNodes {
		return fmt.Errorf("%d nodes: the number must be from 0 to %d", c.Kubelets(), maxNodes)
	}
	if names := slices.Sorted(slices.Values(c.NodeNames)); len(slices.Compact(names)) < len(c.NodeNames) || c.Nodes > 0 && len(c.NodeNames) > 0 {
		return errors.New("node names: each must be given once, and the number of other nodes must be 0")
	}
	if c.RequestTimeout < 0 {
		return fmt.Errorf("request timeout %v: it must be 0, which means one minute, or more", c.RequestTimeout)
	}
	if needsCBOR := func(s Server) bool { return s.FeatureGates[GateCBOR] }; c.CBOR == nil && slices.ContainsFunc(c.Replicas, needsCBOR) {
		return fmt.Errorf("feature gate %s: it needs the option CBOR: cbor.Codec{}, of package github.com/kubesim/kubesim/sim/cbor", GateCBOR)
	}
	if a := &c.Authentication; a.Issuers == nil && (a.ConfigFile != "" || !reflect.ValueOf(a.OIDC).IsZero()) {
		return errors.New("Authentication: the fields have no effect without Issuers, which oidc.Configure of package github.com/kubesim/kubesim/fake/oidc sets")
	}
	if e := &c.Encryption; e.Values == nil && (e.ConfigFile != "" || e.AutomaticReload) {
		return errors.New("Encryption: the fields have no effect without Values, which encryption.Configure of package github.com/kubesim/kubesim/fake/encryption sets")
	}
	return c.checkNetwork()
}

// checkNetwork checks the address ranges of services, and that the first one has the family of the API server's address.
func (c *Cluster) checkNetwork() error {
	if c.ServiceCIDR == "" {
		return nil
	}
	all := c.ServicePrefixes()
	if len(all) == 0 || len(all) > 2 || len(all) == 2 && all[0].Addr().Is4() == all[1].Addr().Is4() {
		return fmt.Errorf("Service CIDR %q: it must be a range with at least 8 addresses, for example 10.0.0.0/24, or one of each IP family: "+
			"10.0.0.0/24,fd00::/112. An IPv6 range has at most 64 variable bits", c.ServiceCIDR)
	}
	if addr, err := netip.ParseAddr(c.Advertise); err == nil && addr.Is4() != all[0].Addr().Is4() {
		return fmt.Errorf("service IP family %q must match public address family %q", all[0], c.Advertise)
	}
	return nil
}

// ServicePrefixes returns the ranges in ServiceCIDR, or nil if one of them is invalid.
func (c *Cluster) ServicePrefixes() (all []netip.Prefix) {
	if c.ServiceCIDR == "" {
		return nil
	}
	for text := range strings.SplitSeq(c.ServiceCIDR, ",") {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if n := p.Addr().BitLen() - p.Bits(); err != nil || n < smallestCIDR || n > largestCIDR {
			return nil
		}
		all = append(all, p)
	}
	return all
}

// ServiceRanges returns the ranges of Service addresses.
func (c *Cluster) ServiceRanges() []string {
	var ranges []string
	for _, p := range c.ServicePrefixes() {
		ranges = append(ranges, p.Masked().String())
	}
	if len(ranges) == 0 {
		return []string{"10.0.0.0/24"}
	}
	return ranges
}

// Families returns the IP families of Services, nodes and pods: IPv4, IPv6, or both in the order of ServiceCIDR.
func (c *Cluster) Families() (families []string) {
	for _, p := range c.ServicePrefixes() {
		if p.Addr().Is4() {
			families = append(families, "IPv4")
		} else {
			families = append(families, "IPv6")
		}
	}
	if len(families) == 0 {
		return []string{"IPv4"}
	}
	return families
}

// Saved returns the configuration for running a saved cluster in this process. Fields that are part of the JSON come from saved,
// and all others from c.
func (c *Cluster) Saved(saved Cluster) Cluster {
	from, to := reflect.ValueOf(c).Elem(), reflect.ValueOf(&saved).Elem()
	for i := range to.NumField() {
		if to.Type().Field(i).Tag.Get("json") == "-" {
			to.Field(i).Set(from.Field(i))
		}
	}
	return saved
}

// Signers returns the authorities whose certificates are trusted.
func (c *Cluster) Signers() auth.Signers {
	return auth.Signers{ClientCA: c.ClientCA, Proxies: c.RequestHeader}
}

// Records returns the options for the trace records to keep.
func (c *Cluster) Records() trace.Options {
	if c.Trace <= 0 {
		return trace.Options{}
	}
	return trace.Options{Keep: c.Trace, Hash: !c.NoHashes}
}
