package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/flags"
)

// newFlags returns the flag set of a command. It prints nothing itself.
func newFlags(command string) *flag.FlagSet {
	set := flag.NewFlagSet("kubesim "+command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return set
}

// parse parses the flags of a command. For --help, the error is helpText; otherwise it is a usageError.
func parse(set *flag.FlagSet, usage string, args []string) error {
	command := strings.TrimPrefix(set.Name(), "kubesim ")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return helpText(usage)
	case err != nil:
		text := twoDashes.ReplaceAllString(err.Error(), "${1}--")
		return usagef("%s: %s; kubesim %s --help lists the flags", command, text, command)
	}
	return nil
}

// twoDashes matches the part of an error of package flag that precedes a flag name with one dash.
var twoDashes = regexp.MustCompile(`(^flag [a-z ]+: |for flag )-`)

// listFlag adds a flag for comma-separated names. It may be repeated.
func listFlag(set *flag.FlagSet, name string, into *[]string) {
	set.Func(name, "", func(text string) error { *into = append(*into, strings.Split(text, ",")...); return nil })
}

// repeatedFlag adds a flag that may be repeated.
func repeatedFlag(set *flag.FlagSet, name string, into *[]string) {
	set.Func(name, "", func(text string) error { *into = append(*into, text); return nil })
}

// sharedNames are the flags that kubesim serve shares with kube-apiserver. They have the same meaning.
var sharedNames = []string{"client-ca-file", "anonymous-auth", "requestheader-client-ca-file", "requestheader-allowed-names",
	"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers", "requestheader-extra-headers-prefix",
	"enable-bootstrap-token-auth", "service-account-signing-key-file", "service-account-signing-endpoint", "service-account-key-file", "service-account-issuer", "api-audiences",
	"service-account-max-token-expiration", "service-account-extend-token-expiration", "service-account-jwks-uri", "service-account-lookup",
	"authentication-config", "oidc-issuer-url", "oidc-client-id", "oidc-ca-file", "oidc-username-claim", "oidc-username-prefix",
	"oidc-groups-claim", "oidc-groups-prefix", "oidc-required-claim", "oidc-signing-algs",
	"authorization-config", "authorization-policy-file", "authorization-webhook-config-file", "authorization-webhook-version",
	"authorization-webhook-cache-authorized-ttl", "authorization-webhook-cache-unauthorized-ttl",
	"admission-control-config-file", "audit-policy-file", "audit-log-path", "audit-log-format",
	"proxy-client-cert-file", "proxy-client-key-file", "request-timeout", "min-request-timeout", "service-cluster-ip-range"}

// shared holds the values of sharedNames, in the order of the command line.
type shared map[string][]string

// set adds the flags to a flag set.
func (s shared) set(set *flag.FlagSet) {
	for _, name := range sharedNames {
		f := flags.Find(name)
		take := func(text string) error {
			if err := f.Check(text); err != nil {
				return err
			}
			s[name] = append(s[name], text)
			return nil
		}
		if f.Kind == "" {
			set.BoolFunc(name, "", take)
		} else {
			set.Func(name, "", take)
		}
	}
}

// given reports whether a flag was given.
func (s shared) given(name string) bool { return len(s[name]) > 0 }

// fill applies the flags to the options.
func (s shared) fill(o *fake.Options) error {
	for _, name := range sharedNames {
		if err := flags.Find(name).Set(o, s[name]); err != nil {
			return fmt.Errorf("serve: --%s: %w", name, err)
		}
	}
	return nil
}
