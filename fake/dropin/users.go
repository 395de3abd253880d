package dropin

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
)

// file reads a file that a flag names. nil: the flag was not given. what is what kube-apiserver says it cannot do without.
func (s *servers) file(flag, what string) ([]byte, error) {
	if !s.has(flag) || s.last(flag) == "" {
		return nil, nil
	}
	data, err := os.ReadFile(s.last(flag))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return data, nil
}

// readUsers reads how users are known: by certificates, by proxies, or not at all.
func (s *servers) readUsers() (err error) {
	o := &s.options
	if o.ClientCA, err = s.file("client-ca-file", "unable to load client CA provider"); err != nil {
		return err
	}
	if err := s.readTokens(); err != nil {
		return err
	}
	h := &o.RequestHeader
	if h.ClientCA, err = s.file("requestheader-client-ca-file", "unable to load requestheader client CA"); err != nil {
		return err
	}
	h.AllowedNames = s.list("requestheader-allowed-names")
	h.UsernameHeaders, h.UIDHeaders = s.list("requestheader-username-headers"), s.list("requestheader-uid-headers")
	h.GroupHeaders, h.ExtraHeaderPrefixes = s.list("requestheader-group-headers"), s.list("requestheader-extra-headers-prefix")
	anonymous, err := s.on("anonymous-auth", true)
	if err != nil {
		return err
	}
	o.NoAnonymous = !anonymous
	if o.ProxyClientCert, err = s.file("proxy-client-cert-file", "unable to load proxy client certificate"); err != nil {
		return err
	}
	if o.ProxyClientKey, err = s.file("proxy-client-key-file", "unable to load proxy client key"); err != nil {
		return err
	}
	o.AdmissionConfig = s.last("admission-control-config-file")
	return nil
}

// readTokens reads the file of tokens.
func (s *servers) readTokens() error {
	text, err := s.file("token-auth-file", "unable to load the tokens")
	if err != nil || text == nil {
		return err
	}
	if s.options.Tokens, s.notes, err = auth.ReadTokens(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("--token-auth-file %s: %w", s.last("token-auth-file"), err)
	}
	return nil
}

// readServiceAccounts reads how tokens of service accounts are signed and checked.
func (s *servers) readServiceAccounts() (err error) {
	o := &s.options.ServiceAccounts
	if o.SigningKey, err = s.file("service-account-signing-key-file", "failed to parse service-account-signing-key-file"); err != nil {
		return err
	}
	for _, name := range s.values["service-account-key-file"] {
		key, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("failed to parse service-account-key-file: %w", err)
		}
		o.Keys = append(o.Keys, key)
	}
	o.Issuers, o.Audiences = s.values["service-account-issuer"], s.list("api-audiences")
	o.JWKSURI = s.last("service-account-jwks-uri")
	if s.has("service-account-max-token-expiration") {
		if o.MaxExpiration, err = time.ParseDuration(s.last("service-account-max-token-expiration")); err != nil {
			return s.invalid("service-account-max-token-expiration", err)
		}
	}
	extend, err := s.on("service-account-extend-token-expiration", true)
	if err != nil {
		return err
	}
	lookup, err := s.on("service-account-lookup", true)
	o.NoExtendExpiration, o.NoLookup = !extend, !lookup
	return err
}

// readAuthorization reads the modes of authorization.
func (s *servers) readAuthorization() error {
	s.options.Authorizers = []string{"AlwaysAllow"}
	if s.has("authorization-mode") {
		s.options.Authorizers = strings.Split(strings.Join(s.values["authorization-mode"], ","), ",")
	}
	return nil
}
