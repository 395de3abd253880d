package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/kubesim/kubesim/fake"
)

// reach holds the flags of kubesim serve for access over the network.
type reach struct {
	origins              []string // --cors-allowed-origins
	anyone               bool
	connections, watches int
	private              bool // reachable from the network without --insecure-anyone: well-known secrets are replaced
}

// flags adds the flags to a flag set.
func (r *reach) flags(set *flag.FlagSet) {
	listFlag(set, "cors-allowed-origins", &r.origins)
	set.BoolVar(&r.anyone, "insecure-anyone", false, "")
	set.IntVar(&r.connections, "max-connections", 0, "")
	set.IntVar(&r.watches, "max-watches", 0, "")
}

// openToAnyone reports whether the flags let every client do everything.
func (f *serveFlags) openToAnyone() bool {
	return !f.authenticates() || slices.Contains(f.options.Authorizers, "AlwaysAllow")
}

// checkReach returns an error message if the flags are invalid or unsafely open the server to the network, and "" otherwise.
func (f *serveFlags) checkReach() string {
	if f.reach.connections < 0 || f.reach.watches < 0 {
		return "--max-connections and --max-watches: use a number above 0"
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil || isLoopback(host) || f.reach.anyone {
		return "" // listenAll reports an invalid address
	}
	if f.openToAnyone() {
		return fmt.Sprintf("--listen %s: the network can reach it, and every client would be cluster-admin: add --auth rbac, or --insecure-anyone if this is intended", f.listen)
	}
	f.reach.private = true
	return ""
}

// isLoopback reports whether a host can be reached only from this machine.
func isLoopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	addresses, err := net.LookupHost(host)
	open := func(text string) bool { ip, err := netip.ParseAddr(text); return err != nil || !ip.IsLoopback() }
	return host != "" && err == nil && !slices.ContainsFunc(addresses, open)
}

// keepSecret replaces the well-known secrets of a server that is reachable from the network, unless flags set them: its seed, from
// which certificate keys are derived, and the key that signs service account tokens. users.all omits the well-known tokens.
func (f *serveFlags) keepSecret(o *fake.Options) error {
	if !f.reach.private {
		return nil
	}
	if !f.seeded {
		var b [8]byte
		_, _ = rand.Read(b[:]) // it never fails
		o.Seed = binary.NativeEndian.Uint64(b[:])
	}
	if o.ServiceAccounts.SigningKey != nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("serve: generating a key that signs tokens: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("serve: generating a key that signs tokens: %w", err)
	}
	o.ServiceAccounts.SigningKey = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return nil
}
