package main

import (
	"cmp"
	"crypto/tls"
	_ "embed" // for serve.txt
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/trouble"
)

// serveFlags are the flags of kubesim serve.
type serveFlags struct {
	options fake.Options // what the flags say of the cluster
	shared  shared
	users   users
	reach   reach

	listen, kubeconfig, clock, auth string
	archiveSync                     string
	web, webListen                  string
	tlsCert, tlsKey                 string
	tls                             bool
	seeded                          bool // the seed was given
	loads                           []string
	count                           int
	replicas                        replicas
	privileged                      bool
}

//go:embed serve.txt
var serveText string

// serveUsage is the help of kubesim serve: serve.txt, with the lists that the code has.
var serveUsage = strings.NewReplacer("{plugins}", strings.Join(sim.OptionalPlugins(), ", "),
	"{controllers}", trouble.Requests((*trouble.Kind).OfControllers), "{replicas}", trouble.Requests((*trouble.Kind).OfReplicas)).Replace(serveText)

// parseFlags reads the flags of kubesim serve. Its error is helpText for --help, and else a usageError.
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
	case f.count < 1:
		return nil, usagef("serve: --replicas %d: there must be at least one", f.count)
	case f.count > 1 && len(f.replicas) > 0:
		return nil, usagef("serve: use --replicas or --replica, not both")
	case f.webListen != "" && f.web == "":
		return nil, usagef("serve: --web-listen needs --web DIR, the folder of the page")
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return nil, usagef("serve: --tls-cert-file and --tls-private-key-file need each other")
	case f.shared.given("client-ca-file") && !f.overTLS():
		return nil, usagef("serve: --client-ca-file: clients send certificates over TLS only: add --tls")
	case f.shared.given("requestheader-client-ca-file") && !f.overTLS():
		return nil, usagef("serve: --requestheader-client-ca-file: proxies send a certificate over TLS only: add --tls")
	case f.users.kubeconfigUser != "" && (f.kubeconfig == "" || !f.overTLS()):
		return nil, usagef("serve: --kubeconfig-user needs a certificate in the file of --kubeconfig, over TLS: add --kubeconfig FILE and --tls")
	case f.archiveSync != "second" && f.archiveSync != "always":
		return nil, usagef("serve: --archive-sync %q: use second or always", f.archiveSync)
	case f.auth != "none" && f.auth != "rbac":
		return nil, usagef("serve: --auth %q: use none or rbac", f.auth)
	}
	if wrong := cmp.Or(f.checkOutward(), f.checkReach()); wrong != "" {
		return nil, usagef("serve: %s", wrong)
	}
	set.Visit(func(given *flag.Flag) { f.seeded = f.seeded || given.Name == "seed" })
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
	set.StringVar(&o.Archive, "archive", "", "")
	set.StringVar(&f.archiveSync, "archive-sync", "second", "")
	set.StringVar(&f.web, "web", "", "")
	set.StringVar(&f.webListen, "web-listen", "", "")
	set.Uint64Var(&o.Seed, "seed", 1, "")
	set.StringVar(&f.clock, "clock", "system", "")
	set.StringVar(&f.auth, "auth", "none", "")
	set.BoolVar(&f.privileged, "allow-privileged", true, "")
	set.IntVar(&f.count, "replicas", 1, "")
	set.Var(&f.replicas, "replica", "")
	f.outward(set)
	f.reach.flags(set)
	return set
}

// complete sets in the options what follows from several flags, and reads files.
func (f *serveFlags) complete() error {
	o := &f.options
	o.Replicas, o.ArchiveSync = f.replicaOptions(), f.archiveSync == "always"
	if o.Nodes > 0 && !o.NoControllers && o.Controllers == nil { // a whole cluster
		o.Controllers = controller.All
	}
	if _, port, err := net.SplitHostPort(f.listen); err == nil {
		o.Port, _ = strconv.Atoi(port) // 0 is the default: it is not known yet which one it will be
	}
	if f.clock == "system" {
		o.Clock = clock.System{}
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
	if err := f.users.read(); err != nil {
		return fmt.Errorf("serve: --token-auth-file: %w", err)
	}
	o.Tokens = f.users.all()
	return f.keepSecret(o)
}

// identifies reports whether a flag was given that identifies a user.
func (f *serveFlags) identifies() bool {
	return f.users.given() || f.shared.given("client-ca-file") || f.shared.given("requestheader-client-ca-file")
}

// authenticates reports whether requests are authenticated.
func (f *serveFlags) authenticates() bool { return f.auth == "rbac" || f.options.Authorizers != nil }

// overTLS reports whether the server is served over HTTPS.
func (f *serveFlags) overTLS() bool { return f.tls || f.tlsCert != "" }

// checkCertificate returns an error if the certificate to serve HTTPS with is given and is wrong.
func (f *serveFlags) checkCertificate() error {
	if f.tlsCert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey); err != nil {
		return fmt.Errorf("serve: --tls-cert-file: %w", err)
	}
	return nil
}
