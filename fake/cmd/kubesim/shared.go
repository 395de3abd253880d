package main

import (
	"flag"
	"fmt"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/flags"
)

// sharedNames are the flags that kubesim serve has in common with kube-apiserver, with the same meaning.
var sharedNames = []string{"client-ca-file", "anonymous-auth", "requestheader-client-ca-file", "requestheader-allowed-names",
	"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers", "requestheader-extra-headers-prefix",
	"service-account-signing-key-file", "service-account-key-file", "service-account-issuer", "api-audiences",
	"service-account-max-token-expiration", "service-account-extend-token-expiration", "service-account-jwks-uri", "service-account-lookup",
	"admission-control-config-file",
	"proxy-client-cert-file", "proxy-client-key-file", "request-timeout", "min-request-timeout"}

// shared are the values of sharedNames, in the order of the command line.
type shared map[string][]string

// set adds the flags to a set.
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
