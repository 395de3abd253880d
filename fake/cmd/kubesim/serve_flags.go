package main

import (
	"cmp"
	"crypto/tls"
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

var serveUsage = `kubesim serve [flags] serves a simulated API server until it is interrupted. Where:

  --listen ADDRESS      address to listen on (default 127.0.0.1:0; port 0 takes any free one)
  --tls                 serve HTTPS with a certificate of its own
  --tls-cert-file FILE  serve HTTPS with this certificate; it, its key and --client-ca-file are read again when they change
  --tls-private-key-file FILE
                        its key
  --web DIR             serve the page in DIR, too (make web-dist builds web/dist); a line "page URL" says where. It shows
                        what happens in this cluster, if only this machine reaches the page; where tokens count, the URL
                        has the first one behind its #
  --web-listen ADDRESS  where to serve the page (default: any port of the host of --listen)
  --kubeconfig FILE     write a kubeconfig for it, with the certificate and the first token
  --load FILE           create the objects in a YAML or JSON file first; may be repeated
  --archive FILE        go on from FILE if it is there, with its history, seed, replicas and rights, and keep it up with
                        each commit. After an orderly end the server goes on as it was; after another one, with new API
                        servers over all that was committed. GET /sim/v1/snapshot returns such a file
  --archive-sync second|always
                        when commits are on the disk: within a second (default), so that the end of the machine may lose
                        the last one, that of the process nothing; or before anybody knows of them

  --bare                leave out what API servers make when they start (cluster roles, flow schemas, the Service
                        kubernetes, …) but for the namespaces
  --controllers WHICH   of kube-controller-manager: all, NAME,NAME, all,-NAME, or none: as a real server on its own
                        (default with --nodes: all; else clusterrole-aggregation-controller, so that answers are those
                        of a server that nobody else writes to)
  --nodes N             so many nodes, node-1, node-2, …, whose kubelets run pods; nothing runs in a container, but it
                        starts, is probed, prints and ends as its command and annotations say (default 0)

Several API servers over one store:

  --replicas N          so many of the newest version (default 1)
  --replica SETTINGS    one API server; may be repeated. SETTINGS are version=1.35, gates=NAME=true,NAME=false,
                        serve=autoscaling/v1=false, storage=RESOURCE=GROUP/VERSION and peers=true, with commas
                        between them; "" is the newest version with all defaults

Who may do what:

  --auth none|rbac      none: every request is cluster-admin (default); rbac: bearer tokens and RBAC decide
  --authorization-mode MODE,MODE
                        who is asked, in this order, in place of --auth: AlwaysAllow, AlwaysDeny, RBAC, and Node, which
                        gives kubelets no rights here. Webhook and ABAC are not simulated

Who is asking. These count with --auth rbac or --authorization-mode, in this order; those that kube-apiserver has mean what
they mean there:

  --requestheader-client-ca-file FILE
                        with --tls: proxies that show a certificate which one of those in FILE has signed name the user
                        in the header of requests
  --requestheader-allowed-names NAME,NAME
                        the common names of such proxies (default: any)
  --requestheader-username-headers NAME,NAME
  --requestheader-uid-headers NAME,NAME
  --requestheader-group-headers NAME,NAME
  --requestheader-extra-headers-prefix NAME,NAME
                        where they say what: X-Remote-User, X-Remote-Uid, X-Remote-Group, X-Remote-Extra- are common
  --client-ca-file FILE with --tls: clients that show a certificate which one of those in FILE has signed are who it
                        names: its common name, its organizations as groups
  --kubeconfig-user USER[:GROUP,GROUP]
                        with --tls and --kubeconfig: the file is for this user, who is known by a certificate that the
                        server issues
  --token [USER=]TOKEN  a bearer token of the administrator, or of USER; may be repeated. Unless replaced, admintoken
                        (system:masters) and alicetoken (alice, no rights) are there
  --token-auth-file FILE
                        more tokens, a line each: token,user,uid,"group1,group2". No others than these and those of
                        --token are there then
  --anonymous-auth      requests without credentials are of system:anonymous (default true; =false: 401)

Tokens of service accounts:

  --service-account-signing-key-file FILE
                        the private key that signs them, RSA or ECDSA, PEM (default: one that everybody knows)
  --service-account-key-file FILE
                        keys that they are checked with, public or private, several if need be; may be repeated
                        (default: the one that signs)
  --service-account-issuer NAME
                        whose they are; may be repeated: the first signs, all are good
                        (default https://kubernetes.default.svc)
  --api-audiences NAME,NAME
                        whom they must be for to be good here (default: the issuers)
  --service-account-max-token-expiration DURATION
                        the longest time that they may live, from an hour on (default 0s: any)
  --service-account-extend-token-expiration
                        those that the kubelet asks for live for a year (default true)
  --service-account-lookup
                        those that are kept in a Secret are good as long as it is there (default true)
  --service-account-jwks-uri URL
                        where the OpenID configuration says that the keys are

What else is allowed:

  --enable-admission-plugins NAME,NAME
                        plugins that run only when asked for: ` + strings.Join(sim.OptionalPlugins(), ", ") + `. With
                        ServiceAccount, pods need a service account, as where controllers make them
  --allow-privileged    containers may be privileged (default true; =false refuses them, as kube-apiserver does when
                        it is not told otherwise)
  --request-timeout DURATION
                        how long a request may take that is not a watch, a log that is followed or the like (default 1m0s)
  --min-request-timeout SECONDS
                        how long a watch lasts at least whose client does not say it; up to twice as long (default 1800)

Time and chance:

  --clock system|manual system: the real time (default); manual: time stands still, from 2026-01-01T00:00:00Z on,
                        but for POST /sim/v1/clock/advance?d=5m
  --seed N              decides uids and generated names (default 1)

` + reachUsage + outwardUsage + `The first line on stdout is "serving URL", one such line for each replica; everything is ready then. Below URL/sim/v1/
the simulator is moved:

  POST compact             the store forgets all revisions before now
  POST expire              the store and every watch cache forget: what continues from before gets 410
  GET  clock               what time it is, and whether the clock is manual
  POST clock/advance?d=5m  a manual clock moves on
  GET, POST snapshot       the whole server with its history, as a file; POST takes the server back to one
  POST reset               everything begins anew, except the time
  GET, POST, DELETE faults what goes wrong, one fault per line: "on update pods times=1 do fail Conflict"; POST adds,
                           DELETE clears; POST faults/release lets held watch events go
  GET  controllers         what controllers there are, and what they have to do within an hour
  POST controllers/settle  they work, and time passes, until they have nothing to do for ten seconds
  POST controllers/stepped?wait=true  they wait for POST controllers/step, or controllers/{name}/step
  POST controllers/{name}/ACTION  ` + trouble.Requests((*trouble.Kind).OfControllers) + `
  GET  replicas            what the API servers are like
  POST replicas/{i}/ACTION i from 1:
                           ` + trouble.Requests((*trouble.Kind).OfReplicas) + `
  POST route?client=UA&replica=2, hold?client=UA, release?client=UA, restore?revision=N

Example: kubesim serve --listen 127.0.0.1:8001, then: kubectl --server http://127.0.0.1:8001 get namespaces
`

// parseFlags reads the flags of kubesim serve. Its error is helpText for --help, and else a usageError.
func parseFlags(args []string) (*serveFlags, error) {
	f := &serveFlags{shared: shared{}}
	set := f.set()
	if err := parse(set, serveUsage, args); err != nil {
		return nil, err
	}
	switch {
	case set.NArg() > 0:
		return nil, usagef("serve: %q is no flag; kubesim serve --help lists the flags", set.Arg(0))
	case f.clock != "system" && f.clock != "manual":
		return nil, usagef("serve: --clock %q: use system or manual", f.clock)
	case f.count < 1:
		return nil, usagef("serve: --replicas %d: there must be at least one", f.count)
	case f.count > 1 && len(f.replicas) > 0:
		return nil, usagef("serve: say --replicas or --replica, not both")
	case f.webListen != "" && f.web == "":
		return nil, usagef("serve: --web-listen says where a page is served: say with --web DIR which one")
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return nil, usagef("serve: --tls-cert-file and --tls-private-key-file belong together")
	case f.shared.given("client-ca-file") && !f.overTLS():
		return nil, usagef("serve: --client-ca-file: clients show certificates over TLS only: say --tls, too")
	case f.shared.given("requestheader-client-ca-file") && !f.overTLS():
		return nil, usagef("serve: --requestheader-client-ca-file: proxies show a certificate over TLS only: say --tls, too")
	case f.users.kubeconfigUser != "" && (f.kubeconfig == "" || !f.overTLS()):
		return nil, usagef("serve: --kubeconfig-user: it is known by a certificate in the file of --kubeconfig, over TLS: say --kubeconfig FILE and --tls, too")
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
