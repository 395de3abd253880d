package dropin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
)

// readUsers reads how users are known: by certificates, by proxies, or not at all.
func (s *servers) readUsers() {
	o := &s.options
	o.ClientCA, o.ClientCAFile = s.file("client-ca-file", "unable to load client CA provider"), s.last("client-ca-file")
	if text := s.file("token-auth-file", "unable to load the tokens"); text != nil {
		var err error
		if o.Tokens, s.notes, err = auth.ReadTokens(bytes.NewReader(text)); err != nil {
			s.fails(fmt.Errorf("--token-auth-file %s: %w", s.last("token-auth-file"), err))
		}
	}
	h := &o.RequestHeader
	h.ClientCA = s.file("requestheader-client-ca-file", "unable to load requestheader client CA")
	o.ProxyCAFile = s.last("requestheader-client-ca-file")
	h.AllowedNames = s.list("requestheader-allowed-names")
	h.UsernameHeaders, h.UIDHeaders = s.list("requestheader-username-headers"), s.list("requestheader-uid-headers")
	h.GroupHeaders, h.ExtraHeaderPrefixes = s.list("requestheader-group-headers"), s.list("requestheader-extra-headers-prefix")
	o.NoAnonymous = !s.on("anonymous-auth", true)
	o.ProxyClientCert = s.file("proxy-client-cert-file", "unable to load proxy client certificate")
	o.ProxyClientKey = s.file("proxy-client-key-file", "unable to load proxy client key")
	o.AdmissionConfig = s.last("admission-control-config-file")
}

// readServiceAccounts reads how tokens of service accounts are signed and checked.
func (s *servers) readServiceAccounts() {
	o := &s.options.ServiceAccounts
	o.SigningKey = s.file("service-account-signing-key-file", "failed to parse service-account-signing-key-file")
	for _, name := range s.values["service-account-key-file"] {
		o.Keys = append(o.Keys, s.read(name, "failed to parse service-account-key-file"))
	}
	o.Issuers, o.Audiences = s.values["service-account-issuer"], s.list("api-audiences")
	o.JWKSURI = s.last("service-account-jwks-uri")
	o.MaxExpiration = s.duration("service-account-max-token-expiration")
	o.NoExtendExpiration = !s.on("service-account-extend-token-expiration", true)
	o.NoLookup = !s.on("service-account-lookup", true)
}

// readAuthorization reads the modes of authorization.
func (s *servers) readAuthorization() {
	s.options.Authorizers = []string{"AlwaysAllow"}
	if s.has("authorization-mode") {
		s.options.Authorizers = strings.Split(strings.Join(s.values["authorization-mode"], ","), ",")
	}
}
