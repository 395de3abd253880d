package oidc

import (
	"cmp"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
)

// Configure reads the fields of c.Authentication and sets its field Issuers. It also sets c.NoAnonymous and c.AnonymousPaths if the
// file configures anonymous requests; anonymousFlag reports whether --anonymous-auth was given, which excludes that. If the fields are
// empty, Configure does nothing. It returns kube-apiserver's error for an invalid configuration
// (pkg/kubeapiserver/options.BuiltInAuthenticationOptions).
func Configure(c *config.Cluster, anonymousFlag bool) error {
	a := &c.Authentication
	given := !reflect.ValueOf(a.OIDC).IsZero()
	switch {
	case a.ConfigFile != "" && given:
		return errors.New("authentication-config file and oidc-* flags are mutually exclusive")
	case a.ConfigFile == "" && !given:
		return nil
	case given && (a.OIDC.IssuerURL == "" || a.OIDC.ClientID == ""):
		return errors.New("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
	}
	o := Options{File: a.ConfigFile, Disallowed: c.ServiceAccounts.Issuers, ID: boot.LeaseName(boot.Host)}
	if len(o.Disallowed) == 0 {
		o.Disallowed = []string{token.DefaultIssuer}
	}
	if given {
		issuer, err := fromFlags(&a.OIDC)
		if err != nil {
			return err
		}
		o.Config.JWT, o.Algorithms = []JWTAuthenticator{issuer}, a.OIDC.SigningAlgs
		if o.Algorithms == nil {
			o.Algorithms = []string{"RS256"}
		}
	}
	made, err := New(o)
	if err != nil {
		return err
	}
	if anonymous := made.Anonymous(); anonymous != nil {
		if anonymousFlag {
			return errors.New("anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file")
		}
		c.NoAnonymous = !anonymous.Enabled
		for _, condition := range anonymous.Conditions {
			c.AnonymousPaths = append(c.AnonymousPaths, condition.Path)
		}
	}
	a.Issuers = made
	return nil
}

// fromFlags returns the configuration of the issuer that the flags --oidc-* describe.
func fromFlags(f *config.OIDC) (a JWTAuthenticator, err error) {
	a.Issuer.URL, a.Issuer.Audiences = f.IssuerURL, []string{f.ClientID}
	claim, prefix := cmp.Or(f.UsernameClaim, "sub"), f.UsernamePrefix
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && claim != "email":
		prefix = f.IssuerURL + "#"
	}
	a.ClaimMappings.Username = Mapping{Claim: claim, Prefix: &prefix}
	if f.GroupsClaim != "" {
		a.ClaimMappings.Groups = Mapping{Claim: f.GroupsClaim, Prefix: &f.GroupsPrefix}
	}
	if f.CAFile != "" {
		ca, err := os.ReadFile(f.CAFile)
		if err != nil {
			return a, err
		}
		a.Issuer.CertificateAuthority = string(ca)
	}
	values := map[string]string{}
	for _, pair := range f.RequiredClaims {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return a, errors.New("malformed pair, expect string=string")
		}
		if _, again := values[name]; !again {
			a.ClaimValidationRules = append(a.ClaimValidationRules, ValidationRule{Claim: name})
		}
		values[name] = value
	}
	for i, r := range a.ClaimValidationRules {
		a.ClaimValidationRules[i].RequiredValue = values[r.Claim]
	}
	slices.SortFunc(a.ClaimValidationRules, func(x, y ValidationRule) int { return cmp.Compare(x.Claim, y.Claim) })
	return a, nil
}
