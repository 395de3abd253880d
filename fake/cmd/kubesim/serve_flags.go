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

var serveUsage = `kubesim serve [flags] serves a simulated API server until it is interrupted. Flags:

  --listen ADDRESS      the address to listen on (default 127.0.0.1:0; port 0 is any free port)
  --tls                 serve HTTPS with a generated certificate
  --tls-cert-file FILE  serve HTTPS with this certificate; it, its key and --client-ca-file are reloaded when they change
  --tls-private-key-file FILE
                        the key of the certificate
  --web DIR             also serve the page in DIR (make web-dist builds web/dist); a line "page URL" has its URL. If only
                        this machine can reach the page, it shows this cluster; with tokens, the URL has the first one
                        after its #
  --web-listen ADDRESS  the address for the page (default: any port of the host of --listen)
  --kubeconfig FILE     write a kubeconfig for the server, with the certificate and the first token
  --load FILE           create the objects in a YAML or JSON file first; may be repeated
  --archive FILE        continue from FILE if it exists, with its history, seed, replicas and rights, and write each commit
                        to it. After an orderly shutdown the server continues unchanged; otherwise it starts new API
                        servers over all committed data. GET /sim/v1/snapshot returns such a file
  --archive-sync second|always
                        when commits are on the disk: within a second (default; a machine failure may lose the last
                        second, a killed process loses nothing), or before clients see them

  --bare                omit the objects that API servers create when they start (cluster roles, flow schemas, the Service
                        kubernetes, …), except for the namespaces
  --controllers NAMES   the controllers of kube-controller-manager: all, NAME,NAME, all,-NAME, or none, as with a real API
                        server alone (default with --nodes: all; otherwise clusterrole-aggregation-controller only, so
                        that no other controller writes)
  --nodes N             the number of nodes, node-1, node-2, …, whose kubelets run pods (default 0). No program runs in a
                        container: its start, probes, output and end follow from its command and annotations

Several API servers over one store:

  --replicas N          the number of API servers of the newest version (default 1)
  --replica SETTINGS    one API server; may be repeated. SETTINGS are version=1.35, gates=NAME=true,NAME=false,
                        serve=autoscaling/v1=false, storage=RESOURCE=GROUP/VERSION and peers=true, separated by
                        commas; "" is the newest version with all defaults

Authorization:

  --auth none|rbac      none: every request is cluster-admin (default); rbac: bearer tokens and RBAC decide
  --authorization-mode MODE,MODE
                        the authorizers, in this order, instead of --auth: AlwaysAllow, AlwaysDeny, RBAC, and Node, which
                        gives kubelets no rights here. Webhook and ABAC are not simulated

Authentication, with --auth rbac or --authorization-mode, in this order. Flags with kube-apiserver's names have
kube-apiserver's meaning:

  --requestheader-client-ca-file FILE
                        with --tls: proxies with a certificate signed by an authority in FILE set the user in headers
                        of their requests
  --requestheader-allowed-names NAME,NAME
                        the common names of such proxies (default: any)
  --requestheader-username-headers NAME,NAME
  --requestheader-uid-headers NAME,NAME
  --requestheader-group-headers NAME,NAME
  --requestheader-extra-headers-prefix NAME,NAME
                        the names of these headers: X-Remote-User, X-Remote-Uid, X-Remote-Group, X-Remote-Extra- are
                        common
  --client-ca-file FILE with --tls: the user of a client with a certificate signed by an authority in FILE is the
                        certificate's common name, with its organizations as groups
  --kubeconfig-user USER[:GROUP,GROUP]
                        with --tls and --kubeconfig: the file is for this user, with a certificate that the server issues
  --token [USER=]TOKEN  a bearer token of the administrator, or of USER; may be repeated. The default tokens are
                        admintoken (system:masters) and alicetoken (alice, no rights)
  --token-auth-file FILE
                        more tokens, one per line: token,user,uid,"group1,group2". They and those of --token replace the
                        default tokens
  --anonymous-auth      the user of requests without credentials is system:anonymous (default true; =false: 401)

Tokens of service accounts:

  --service-account-signing-key-file FILE
                        the private key that signs them, RSA or ECDSA, PEM (default: a key published in the source)
  --service-account-key-file FILE
                        public or private keys that verify them; a file may have several; may be repeated
                        (default: the signing key)
  --service-account-issuer NAME
                        the issuers; may be repeated: new tokens have the first one, all are accepted
                        (default https://kubernetes.default.svc)
  --api-audiences NAME,NAME
                        the accepted audiences (default: the issuers)
  --service-account-max-token-expiration DURATION
                        the maximum lifetime, at least an hour (default 0s: no maximum)
  --service-account-extend-token-expiration
                        tokens for the kubelet are valid for a year (default true)
  --service-account-lookup
                        tokens in a Secret are valid only as long as the Secret exists (default true)
  --service-account-jwks-uri URL
                        the URL of the keys in the OpenID configuration

Admission and deadlines:

  --enable-admission-plugins NAME,NAME
                        plugins that are off by default: ` + strings.Join(sim.OptionalPlugins(), ", ") + `. With
                        ServiceAccount, pods need a service account, which controllers create
  --allow-privileged    containers may be privileged (default true; =false refuses them, which is kube-apiserver's default)
  --request-timeout DURATION
                        the maximum time of a request, except for watches, followed logs and the like (default 1m0s)
  --min-request-timeout SECONDS
                        the minimum time of a watch without its own timeout; the maximum is twice as long (default 1800)

Time and random values:

  --clock system|manual system: the real time (default); manual: 2026-01-01T00:00:00Z, and it moves only by
                        POST /sim/v1/clock/advance?d=5m
  --seed N              the seed of uids and generated names (default 1)

` + reachUsage + outwardUsage + `The first line on stdout is "serving URL", one such line for each replica; then the servers are ready. Requests
below URL/sim/v1/ control the simulator:

  POST compact             compacts the store up to now
  POST expire              compacts the store and clears the watch caches' history: older continue tokens and watches get 410
  GET  clock               returns the time, and whether the clock is manual
  POST clock/advance?d=5m  advances a manual clock
  GET, POST snapshot       returns the whole server with its history, as a file; POST restores the server from one
  POST reset               resets everything except the time
  GET, POST, DELETE faults the faults, one per line: "on update pods times=1 do fail Conflict"; POST adds, DELETE clears;
                           POST faults/release releases held watch events
  GET  controllers         returns the controllers, and their work within the next hour
  POST controllers/settle  lets controllers work, and time pass, until they have no work for ten seconds
  POST controllers/stepped?wait=true  lets them wait for POST controllers/step, or controllers/{name}/step
  POST controllers/{name}/ACTION  ` + trouble.Requests((*trouble.Kind).OfControllers) + `
  GET  replicas            returns the state of the API servers
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
