package main

import (
	"cmp"
	"crypto/tls"
	_ "embed" // for serve.txt
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/oidc"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/network"
	"github.com/kubesim/kubesim/sim/trouble"
)

// serveFlags are the flags of kubesim serve.
type serveFlags struct {
	options fake.Options // the options of the cluster
	shared  shared
	users   users
	reach   reach

	listen, kubeconfig, clock, auth string
	archiveSync                     string
	web, webListen, etcdListen      string
	tlsCert, tlsKey                 string
	tls                             bool
	seeded                          bool // the seed flag is set
	loads                           []string
	imports                         imports
	count, speed                    int
	pace                            *pace // nil without --speed
	replicas                        replicas
	privileged                      bool
}

// addons are the controllers that run with --nodes in addition to those of kube-controller-manager.
var addons = []string{network.LoadBalancers, network.Ingresses}

//go:embed serve.txt
var serveText string

// serveUsage is the help text of kubesim serve: serve.txt, with lists that are generated from the code.
var serveUsage = strings.NewReplacer("{plugins}", strings.Join(admission.Optional(), ", "),
	"{controllers}", trouble.Requests((*trouble.Kind).OfControllers), "{replicas}", trouble.Requests((*trouble.Kind).OfReplicas)).Replace(serveText)

// parseFlags parses the flags of kubesim serve. For --help, the error is helpText; otherwise it is a usageError.
func parseFlags(args []string) (*serveFlags, error) {
	f := &serveFlags{shared: shared{}}
	set := f.set()
	if err := parse(set, serveUsage, args); err != nil {
		return nil, err
	}
	switch {
	case set.NArg() > 0:
		return nil, usagef("serve: %q is not a flag; kubesim serve --help lists the flags", set.Arg(0))
	case f.clock != "system" && f.clock != "manual":
		return nil, usagef("serve: --clock %q: use system or manual", f.clock)
	case f.speed < 1 || f.speed > 1 && (f.clock != "system" || f.options.Archive != ""):
		return nil, usagef("serve: --speed %d: use a number from 1 on, without --clock and --archive", f.speed)
	case f.count < 1:
		return nil, usagef("serve: --replicas %d: there must be at least one", f.count)
	case f.count > 1 && len(f.replicas) > 0:
		return nil, usagef("serve: use --replicas or --replica, not both")
	case f.webListen != "" && f.web == "":
		return nil, usagef("serve: --web-listen needs --web DIR")
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return nil, usagef("serve: --tls-cert-file and --tls-private-key-file: give both or neither")
	case f.shared.given("client-ca-file") && !f.overTLS():
		return nil, usagef("serve: --client-ca-file: clients send certificates only over TLS: add --tls")
	case f.shared.given("requestheader-client-ca-file") && !f.overTLS():
		return nil, usagef("serve: --requestheader-client-ca-file: proxies send certificates only over TLS: add --tls")
	case f.users.kubeconfigUser != "" && (f.kubeconfig == "" || !f.overTLS()):
		return nil, usagef("serve: --kubeconfig-user needs a certificate in the file of --kubeconfig, over TLS: add --kubeconfig FILE and --tls")
	case f.archiveSync != "second" && f.archiveSync != "always":
		return nil, usagef("serve: --archive-sync %q: use second or always", f.archiveSync)
	case f.auth != "none" && f.auth != "rbac":
		return nil, usagef("serve: --auth %q: use none or rbac", f.auth)
	}
	if wrong := cmp.Or(f.checkOutward(), f.checkReach(), f.checkEtcd(), f.imports.check(&f.options)); wrong != "" {
		return nil, usagef("serve: %s", wrong)
	}
	set.Visit(func(given *flag.Flag) {
		f.seeded = f.seeded || given.Name == "seed"
		f.imports.clockGiven = f.imports.clockGiven || given.Name == "clock"
	})
	f.users.private = f.reach.private
	return f, nil
}

// set returns the flag set that fills f. serveUsage describes the flags.
func (f *serveFlags) set() *flag.FlagSet {
	set := newFlags("serve")
	set.StringVar(&f.listen, "listen", "127.0.0.1:0", "")
	set.BoolVar(&f.tls, "tls", false, "")
	set.StringVar(&f.tlsCert, "tls-cert-file", "", "")
	set.StringVar(&f.tlsKey, "tls-private-key-file", "", "")
	f.users.set(set)
	f.shared.set(set)
	o := &f.options
	listFlag(set, "authorization-mode", &o.Authorizers)
	listFlag(set, "enable-admission-plugins", &o.Plugins)
	set.BoolVar(&o.Bare, "bare", false, "")
	set.IntVar(&o.Nodes, "nodes", 0, "")
	set.Func("controllers", "", func(which string) error {
		o.NoControllers, o.Controllers = which == "none", nil
		for name := range strings.SplitSeq(which, ",") {
			switch name {
			case "all":
				o.Controllers = append(o.Controllers, controller.All...)
			case "none":
			default:
				o.Controllers = append(o.Controllers, name)
			}
		}
		return nil
	})
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	repeatedFlag(set, "load", &f.loads)
	f.imports.flags(set)
	set.StringVar(&o.Archive, "archive", "", "")
	set.StringVar(&f.archiveSync, "archive-sync", "second", "")
	set.StringVar(&f.web, "web", "", "")
	set.StringVar(&f.webListen, "web-listen", "", "")
	set.StringVar(&f.etcdListen, "etcd-listen", "", "")
	set.Uint64Var(&o.Seed, "seed", 1, "")
	set.StringVar(&f.clock, "clock", "system", "")
	set.IntVar(&f.speed, "speed", 1, "")
	set.StringVar(&f.auth, "auth", "none", "")
	set.BoolVar(&f.privileged, "allow-privileged", true, "")
	set.IntVar(&f.count, "replicas", 1, "")
	set.Var(&f.replicas, "replica", "")
	f.outward(set)
	f.reach.flags(set)
	return set
}

// complete sets the options that depend on several flags, and reads files.
func (f *serveFlags) complete() error {
	o := &f.options
	o.Replicas, o.ArchiveSync, o.Metrics = f.replicaOptions(), f.archiveSync == "always", true
	if err := f.imports.read(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if f.imports.nodes {
		o.NodeNames = f.imports.dump.NodeNames()
	}
	if o.Kubelets() > 0 && !o.NoControllers { // the nodes are part of a complete cluster
		if o.Controllers == nil {
			o.Controllers = controller.All
		}
		if slices.Contains(o.Controllers, controller.All[0]) {
			o.Controllers = slices.Concat(o.Controllers, addons)
		}
		o.Classes = !f.imports.given()
	}
	if _, port, err := net.SplitHostPort(f.listen); err == nil {
		o.Port, _ = strconv.Atoi(port) // 0 is the default: the port is not known yet
	}
	o.Clock = f.imports.clock(f.clock)
	if f.speed > 1 {
		now := clock.NewManual(o.Clock.Now())
		o.Clock, f.pace = now, &pace{clock: now, speed: f.speed}
	}
	if f.web != "" {
		o.Trace = pageRecords
	}
	if f.auth == "rbac" {
		o.Auth = auth.RBAC
	}
	if err := f.shared.fill(o); err != nil {
		return err
	}
	if err := oidc.Configure(o, f.shared.given("anonymous-auth")); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if err := f.users.read(); err != nil {
		return fmt.Errorf("serve: --token-auth-file: %w", err)
	}
	o.Tokens = f.users.all()
	return f.keepSecret(o)
}

// identifies reports whether any flag that identifies users is set.
func (f *serveFlags) identifies() bool {
	return f.users.given() || f.shared.given("client-ca-file") || f.shared.given("requestheader-client-ca-file") ||
		f.shared.given("authentication-config") || f.shared.given("oidc-issuer-url")
}

// authenticates reports whether requests are authenticated.
func (f *serveFlags) authenticates() bool {
	return f.auth == "rbac" || f.options.Authorizers != nil || f.shared.given("authorization-config")
}

// overTLS reports whether the server is served over HTTPS.
func (f *serveFlags) overTLS() bool { return f.tls || f.tlsCert != "" }

// checkCertificate returns an error if the given HTTPS certificate is invalid.
func (f *serveFlags) checkCertificate() error {
	if f.tlsCert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey); err != nil {
		return fmt.Errorf("serve: --tls-cert-file: %w", err)
	}
	return nil
}
