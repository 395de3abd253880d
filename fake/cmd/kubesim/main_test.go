package main

import (
	"bytes"
	"context"
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim"
)

// ended runs a command that ends by itself.
func ended(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = program{&out, &err}.main(context.Background(), args)
	return code, out.String(), err.String()
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"nothing", "", 2, "", usage + "kubesim: no command; for example: kubesim serve\n"},
		{"help", "help", 0, usage, ""},
		{"--help", "--help", 0, usage, ""},
		{"version", "version", 0, "kubesim " + ownVersion() + "\nKubernetes " + sim.Version + "\n", ""},
		{"another command", "server", 2, "", "kubesim: there is no command \"server\"; there are serve, envtest, run, open, sweep, replay, test, gotest, check, proxy, replay-recording, scenario-from, kubectl, version and help\n"},
		{"help for test", "test --help", 0, testUsage, ""},
		{"tests of nothing", "test", 2, "", "kubesim: test: the packages are missing, such as ./...; see kubesim test --help\n"},
		{"help for sweep", "sweep --merge --help", 0, sweepUsage, ""},
		{"help for serve", "serve --help", 0, serveUsage, ""},
		{"a flag that is not there", "serve --clok manual", 2, "",
			"kubesim: serve: flag provided but not defined: --clok; kubesim serve --help lists the flags\n"},
		{"a flag without a value", "serve --seed", 2, "",
			"kubesim: serve: flag needs an argument: --seed; kubesim serve --help lists the flags\n"},
		{"a seed that is no number", "serve --seed x", 2, "",
			"kubesim: serve: invalid value \"x\" for flag --seed: parse error; kubesim serve --help lists the flags\n"},
		{"a token of nobody", "serve --token =x", 2, "",
			"kubesim: serve: invalid value \"=x\" for flag --token: it must be TOKEN or USER=TOKEN; kubesim serve --help lists the flags\n"},
		{"an empty token", "serve --token=", 2, "",
			"kubesim: serve: invalid value \"\" for flag --token: it must be TOKEN or USER=TOKEN; kubesim serve --help lists the flags\n"},
		{"an argument", "serve now", 2, "", "kubesim: serve: \"now\" is not a flag; kubesim serve --help lists the flags\n"},
		{"no speed", "serve --speed 0", 2, "", "kubesim: serve: --speed 0: use a number from 1 on, without --clock and --archive\n"},
		{"another clock", "serve --clock sun", 2, "", "kubesim: serve: --clock \"sun\": use system or manual\n"},
		{"a service without an address", "serve --service-address a/b", 2, "",
			"kubesim: serve: invalid value \"a/b\" for flag --service-address: it must be NAMESPACE/NAME=HOST:PORT; kubesim serve --help lists the flags\n"},
		{"a service that is none", "serve --service-address b=127.0.0.1:1", 1, "",
			"kubesim: \"b\" is not a service such as my-system/webhook-service or my-system/webhook-service:443\n"},
		{"certificates for no service", "serve --service-certs default", 2, "",
			"kubesim: serve: --service-certs: name the services with --service-address\n"},
		{"a certificate without its key", "serve --proxy-client-cert-file x", 2, "",
			"kubesim: serve: --proxy-client-cert-file and --proxy-client-key-file: give both or neither\n"},
		{"an open server for the network", "serve --listen 0.0.0.0:0", 2, "", "kubesim: serve: --listen 0.0.0.0:0: the network can reach it, " +
			"and every client would be cluster-admin: add --auth rbac, or --insecure-anyone if this is intended\n"},
		{"one that asks nobody", "serve --listen :0 --authorization-mode RBAC,AlwaysAllow", 2, "", "kubesim: serve: --listen :0: the network " +
			"can reach it, and every client would be cluster-admin: add --auth rbac, or --insecure-anyone if this is intended\n"},
		{"no connections", "serve --max-connections -1", 2, "", "kubesim: serve: --max-connections and --max-watches: use a number above 0\n"},
		{"an origin that is no expression", "serve --cors-allowed-origins (", 1, "",
			"kubesim: AllowedOrigins (--cors-allowed-origins): error parsing regexp: missing closing ): `(`\n"},
		{"another auth", "serve --auth abac", 2, "", "kubesim: serve: --auth \"abac\": use none or rbac\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			code, stdout, stderr := ended(strings.Fields(c.args)...)
			is.Equal(stdout, c.stdout)
			is.Equal(stderr, c.stderr)
			is.Equal(code, c.code)
		})
	}
}

// Errors of the operating system name the address or the file, and are not usage errors.
func TestRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	code, stdout, stderr := ended("serve", "--listen", "127.0.0.1:port")
	is.Equal(code, 1)
	is.Equal(stdout, "") // nothing is served
	is.True(strings.HasPrefix(stderr, "kubesim: cannot listen on 127.0.0.1:port: "))

	file := t.TempDir() + "/missing/kubeconfig"
	code, stdout, stderr = ended("serve", "--kubeconfig", file)
	is.Equal(code, 1)
	is.Equal(stdout, "") // the line would promise the file
	is.True(strings.HasPrefix(stderr, "kubesim: serve: --kubeconfig: open "+file))
}

// The help is written by hand. The test checks that it contains every flag with its default.
func TestServeUsageListsEveryFlag(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	(&serveFlags{}).set().VisitAll(func(f *flag.Flag) {
		at := regexp.MustCompile(`\n  --` + f.Name + `\b[^-]`).FindStringIndex(serveUsage)
		is.True(at != nil) // the flag is in the help
		line := serveUsage[at[1]:]
		line, _, _ = strings.Cut(line, "\n\n")
		if f.DefValue != "" && f.DefValue != "false" {
			is.True(strings.Contains(line, f.DefValue)) // and its default, too
		}
	})
}
