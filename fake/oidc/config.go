package oidc

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

// Config is an AuthenticationConfiguration of apiserver.config.k8s.io.
type Config struct {
	JWT       []JWTAuthenticator `json:"jwt"`
	Anonymous *Anonymous         `json:"anonymous,omitempty"`
}

// Anonymous configures requests without credentials. If there are conditions, only requests for their paths may be anonymous.
type Anonymous struct {
	Enabled    bool `json:"enabled"`
	Conditions []struct {
		Path string `json:"path"`
	} `json:"conditions,omitempty"`
}

// JWTAuthenticator configures one issuer of tokens.
type JWTAuthenticator struct {
	Issuer               Issuer           `json:"issuer"`
	ClaimValidationRules []ValidationRule `json:"claimValidationRules,omitempty"`
	ClaimMappings        ClaimMappings    `json:"claimMappings"`
	UserValidationRules  []UserRule       `json:"userValidationRules,omitempty"`
}

// Issuer identifies the issuer of tokens, and the audiences that it issues them for.
type Issuer struct {
	URL                  string   `json:"url"`
	DiscoveryURL         string   `json:"discoveryURL,omitempty"`
	CertificateAuthority string   `json:"certificateAuthority,omitempty"`
	Audiences            []string `json:"audiences"`
	AudienceMatchPolicy  string   `json:"audienceMatchPolicy,omitempty"`
	EgressSelectorType   string   `json:"egressSelectorType,omitempty"`
}

// ValidationRule is a condition that the claims of a token must meet: a claim with a value, or an expression.
type ValidationRule struct {
	Claim         string `json:"claim,omitempty"`
	RequiredValue string `json:"requiredValue,omitempty"`
	Expression    string `json:"expression,omitempty"`
	Message       string `json:"message,omitempty"`
}

// UserRule is a condition that the user of a token must meet.
type UserRule struct {
	Expression string `json:"expression"`
	Message    string `json:"message,omitempty"`
}

// ClaimMappings determine the user of a token.
type ClaimMappings struct {
	Username Mapping `json:"username"`
	Groups   Mapping `json:"groups,omitzero"`
	UID      Mapping `json:"uid,omitzero"`
	Extra    []struct {
		Key             string `json:"key"`
		ValueExpression string `json:"valueExpression"`
	} `json:"extra,omitempty"`
}

// Mapping is a claim, with a prefix, or an expression. The mapping of the uid has no prefix.
type Mapping struct {
	Claim      string  `json:"claim,omitempty"`
	Prefix     *string `json:"prefix,omitempty"`
	Expression string  `json:"expression,omitempty"`
}

// file is the kind of the file of --authentication-config.
var file = configfile.Kind{Group: "apiserver.config.k8s.io", Kind: "AuthenticationConfiguration", Versions: []string{"v1", "v1beta1", "v1alpha1"}}

// parse decodes a file of --authentication-config.
func parse(data []byte) (*Config, error) {
	c := &Config{}
	if _, err := file.Decode(data, c); err != nil {
		return nil, err
	}
	for i, a := range c.JWT {
		if a.ClaimMappings.UID.Prefix != nil {
			return nil, fmt.Errorf(`strict decoding error: unknown field "jwt[%d].claimMappings.uid.prefix"`, i)
		}
	}
	return c, nil
}

// The number of issuers is limited.
const maxIssuers = 64

// compile validates the configuration and compiles its expressions (k8s.io/apiserver/pkg/apis/apiserver/validation.
// ValidateAuthenticationConfiguration). disallowed are the issuers of service account tokens.
func (c *Config) compile(disallowed, algorithms []string) ([]*issuer, error) {
	root := field.Root("jwt")
	if len(c.JWT) > maxIssuers {
		return nil, field.TooMany(root, len(c.JWT), maxIssuers)
	}
	v := &validator{disallowed: disallowed}
	var all []*issuer
	urls, discoveries := map[string]bool{}, map[string]bool{}
	for i, a := range c.JWT {
		p := root.Index(i)
		all = append(all, v.issuer(a, p, algorithms))
		if urls[a.Issuer.URL] {
			v.add(field.Duplicate(p.Child("issuer", "url"), a.Issuer.URL))
		}
		urls[a.Issuer.URL] = true
		if d := a.Issuer.DiscoveryURL; d != "" {
			if discoveries[d] {
				v.add(field.Duplicate(p.Child("issuer", "discoveryURL"), d))
			}
			discoveries[d] = true
		}
	}
	if a := c.Anonymous; a != nil && !a.Enabled && len(a.Conditions) > 0 {
		v.add(field.Invalid(field.Root("anonymous").Child("conditions"), field.Raw(fmt.Sprintf("%+v", a.Conditions)), "enabled should be set to true when conditions are defined"))
	}
	if len(v.errs) > 0 {
		return nil, errors.New(v.errs.Text())
	}
	return all, nil
}

// validator collects the errors of a configuration.
type validator struct {
	errs       field.ErrorList
	disallowed []string
}

func (v *validator) add(errs ...*field.Error) { v.errs = append(v.errs, errs...) }

// issuer validates the configuration of one issuer and compiles its expressions.
func (v *validator) issuer(a JWTAuthenticator, p field.Path, algorithms []string) *issuer {
	x := &issuer{config: a, algorithms: algorithms, required: map[string]string{}}
	v.checkIssuer(&a.Issuer, p.Child("issuer"))
	x.claimRules = v.claimRules(a.ClaimValidationRules, p.Child("claimValidationRules"), x.required)
	m, at := &a.ClaimMappings, p.Child("claimMappings")
	x.username = v.mapping(m.Username, at.Child("username"), true)
	x.groups = v.mapping(m.Groups, at.Child("groups"), false)
	switch {
	case m.UID.Claim != "" && m.UID.Expression != "":
		v.add(field.Invalid(at.Child("uid"), "", "claim and expression can't both be set"))
	case m.UID.Expression != "":
		x.uid = v.expression(expr.Claims, m.UID.Expression, at.Child("uid", "expression"), expr.Any)
	}
	x.extra = v.extra(m, at.Child("extra"))
	v.checkEmail(x, at)
	x.userRules = v.userRules(a.UserValidationRules, p.Child("userValidationRules"))
	return x
}

// checkIssuer validates the URLs, the audiences and the certificate authority of an issuer.
func (v *validator) checkIssuer(i *Issuer, p field.Path) {
	if i.URL == "" {
		v.add(field.Required(p.Child("url"), ""))
	} else {
		if slices.Contains(v.disallowed, i.URL) {
			names := slices.Sorted(slices.Values(v.disallowed))
			v.add(field.Invalid(p.Child("url"), i.URL, fmt.Sprintf("URL must not overlap with disallowed issuers: %s", names)))
		}
		v.checkURL(i.URL, p.Child("url"))
	}
	if i.DiscoveryURL != "" {
		if i.URL != "" && strings.TrimRight(i.URL, "/") == strings.TrimRight(i.DiscoveryURL, "/") {
			v.add(field.Invalid(p.Child("discoveryURL"), i.DiscoveryURL, "discoveryURL must be different from URL"))
		}
		v.checkURL(i.DiscoveryURL, p.Child("discoveryURL"))
	}
	v.checkAudiences(i, p)
	if i.CertificateAuthority != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(i.CertificateAuthority)) {
		v.add(field.Invalid(p.Child("certificateAuthority"), "<omitted>", "data does not contain any valid RSA or ECDSA certificates"))
	}
	switch i.EgressSelectorType {
	case "":
	case "controlplane", "cluster":
		v.add(field.Forbidden(p.Child("egressSelectorType"), "kubesim does not simulate egress selection"))
	default:
		v.add(field.Invalid(p.Child("egressSelectorType"), i.EgressSelectorType, "egress selector must be either controlplane or cluster"))
	}
}

func (v *validator) checkURL(text string, p field.Path) {
	u, err := url.Parse(text)
	if err != nil {
		v.add(field.Invalid(p, text, err.Error()))
		return
	}
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{u.Scheme != "https", "URL scheme must be https"},
		{u.User != nil, "URL must not contain a username or password"},
		{u.RawQuery != "", "URL must not contain a query"},
		{u.Fragment != "", "URL must not contain a fragment"},
	} {
		if rule.broken {
			v.add(field.Invalid(p, text, rule.text))
		}
	}
}

func (v *validator) checkAudiences(i *Issuer, p field.Path) {
	at, policy := p.Child("audiences"), p.Child("audienceMatchPolicy")
	if len(i.Audiences) == 0 {
		v.add(field.Required(at, fmt.Sprintf("at least one %s is required", at)))
		return
	}
	for n, audience := range i.Audiences {
		if audience == "" {
			v.add(field.Required(at.Index(n), ""))
		}
		if slices.Contains(i.Audiences[:n], audience) {
			v.add(field.Duplicate(at.Index(n), audience))
		}
	}
	switch many := len(i.Audiences) > 1; {
	case many && i.AudienceMatchPolicy != "MatchAny":
		v.add(field.Invalid(policy, i.AudienceMatchPolicy, "audienceMatchPolicy must be MatchAny for multiple audiences"))
	case !many && i.AudienceMatchPolicy != "" && i.AudienceMatchPolicy != "MatchAny":
		v.add(field.Invalid(policy, i.AudienceMatchPolicy, "audienceMatchPolicy must be empty or MatchAny for single audience"))
	}
}

// expression compiles an expression. It returns nil if there is an error, which it records.
func (v *validator) expression(variable expr.Variable, text string, p field.Path, want expr.Result) *cel.Expression {
	e, problem := cel.CompileExpression(expr.Environment{}, variable, text, want)
	switch {
	case problem == nil:
		return e
	case problem.Internal:
		v.add(field.Internal(p, errors.New(problem.Text)))
	default:
		v.add(field.Invalid(p, text, problem.Text))
	}
	return nil
}
