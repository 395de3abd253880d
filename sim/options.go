package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/controller/manager"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/trace"
)

// Options says what a Cluster is like. The zero value is one API server of the newest version on a clock that moves
// only by Advance.
type Options struct {
	// Clock is the Cluster's time. nil: a clock.Manual that begins at clock.Epoch.
	Clock clock.Clock
	// Seed decides uids, generated names and every other draw. 0 is 1.
	Seed uint64
	// Auth decides who may do what. The zero value lets everybody do everything.
	Auth auth.Mode
	// Tokens are the bearer tokens of auth.RBAC. nil: auth.DefaultTokens.
	Tokens []auth.Token
	// Authorizers are asked in this order, and requests are authenticated: see auth.Options. nil: Auth decides.
	Authorizers []string
	// NoAnonymous refuses requests without credentials.
	NoAnonymous bool
	// RequestHeader says which proxies may name users. The ConfigMap extension-apiserver-authentication publishes it.
	RequestHeader auth.RequestHeader
	// ServiceAccounts says who issues the tokens of service accounts and which are good.
	ServiceAccounts token.Options
	// Plugins are names of admission plugins that run beside those that run anyway: of admission.Optional.
	Plugins []string
	// Replicas are the API servers. Empty: one of the newest version.
	Replicas []ReplicaOptions
	// Bare leaves out what API servers make when they start, but for the namespaces. Answers do not name flow schemas then.
	Bare bool
	// NoControllers leaves out what a controller does in a real cluster: that ClusterRoles aggregate others. Then API
	// servers are on their own, as those that the recordings are from.
	NoControllers bool
	// Controllers are those of kube-controller-manager that run: controller.All, or by name, "-NAME" for one that does
	// not. nil: ClusterRoles aggregate others, and no more.
	Controllers []string
	// Nodes are the nodes whose kubelets run pods, and what the pods' containers do. The zero value is none.
	Nodes kubelet.Options
	// WriteGap is how much of the clock's time passes between the two writes of one request: a pod that nobody runs gets its
	// deletionTimestamp, then it is removed. A real store takes about a millisecond, in which clients may see the first. With
	// 0 nobody can act between them; with more, somebody has to move the clock.
	WriteGap time.Duration
	// ServiceCIDR is the range of addresses of services, IPv4, as of --service-cluster-ip-range: the Service kubernetes has
	// the first. "": 10.0.0.0/24.
	ServiceCIDR string
	// Advertise is the address of the first API server in the endpoints of the Service kubernetes, as of
	// --advertise-address. "": one of boot.AddressBase.
	Advertise string
	// WithoutPlugins are names of admission plugins of admission.New that do not run, as of --disable-admission-plugins.
	WithoutPlugins []string
	// Admission is what admission plugins are configured with, as of --admission-control-config-file.
	Admission admission.Config
	// MinRequestTimeout is how long a watch lasts at least whose client names no timeout, as of --min-request-timeout; it lasts up to
	// twice as long. 0: half an hour. Negative: it does not end by itself.
	MinRequestTimeout time.Duration
	// Port is where the API servers say that they listen, in the Service kubernetes and its endpoints, in
	// discovery and in the OpenID configuration. 0: boot.Port.
	Port int
	// ClientCA is a bundle of PEM certificates, as of --client-ca-file: it is published in the ConfigMap
	// extension-apiserver-authentication. "": there is none.
	ClientCA string
	// RootCA is a bundle of PEM certificates, as of kube-controller-manager's --root-ca-file: who asks the API servers over
	// TLS has to trust one of them. The controllers that run put it where pods find it. "": they ask without TLS.
	RootCA string
	// Trace says what the record of everything that happens keeps. The zero value keeps nothing and costs nothing.
	Trace trace.Options
	// Replay makes faults happen as was decided in a run before: those that AddFaults adds take their choices from it.
	// nil: choices are drawn. The decisions of a trace are read by fault.ParseDecisions.
	Replay []fault.Decision
}

// smallestCIDR is how long the prefix of a range of addresses may be: kube-apiserver wants eight of them.
const smallestCIDR = 29

// check reports what is wrong with the options.
func (o *Options) check() error {
	for _, name := range o.Plugins {
		if all := admission.Optional(); !slices.Contains(all, name) {
			return fmt.Errorf("there is no admission plugin %q to add: there are %s", name, strings.Join(all, ", "))
		}
	}
	for _, name := range o.WithoutPlugins {
		if all := admission.Names(); !slices.Contains(all, name) {
			return fmt.Errorf("there is no admission plugin %q to leave out: there are %s", name, strings.Join(all, ", "))
		}
	}
	if _, err := manager.New(o.Controllers, manager.Flags{}); err != nil {
		return err
	}
	if err := o.Nodes.Check(); err != nil {
		return err
	}
	if o.ServiceCIDR == "" {
		return nil
	}
	if p, err := netip.ParsePrefix(o.ServiceCIDR); err != nil || !p.Addr().Is4() || p.Bits() > smallestCIDR {
		return fmt.Errorf("the range of addresses of services is %q: want one of IPv4 with at least 8 addresses, such as 10.0.0.0/24", o.ServiceCIDR)
	}
	return nil
}

// serviceCIDR is ServiceCIDR, which has been checked; "" is the zero value.
func (o *Options) serviceCIDR() netip.Prefix {
	p, _ := netip.ParsePrefix(o.ServiceCIDR)
	return p
}

// who is what the options say about those who ask.
func (o *Options) who() []any {
	return []any{o.Auth, o.Tokens, o.Authorizers, o.NoAnonymous, o.RequestHeader, o.ServiceAccounts}
}

// authentication is how the API servers find out who asks.
func (o *Options) authentication(tokens *token.Authority) auth.Options {
	return auth.Options{Mode: o.Auth, Tokens: o.Tokens, Authorizers: o.Authorizers, NoAnonymous: o.NoAnonymous,
		RequestHeader: o.RequestHeader, Audiences: tokens.Audiences()}
}
