// Package token signs and checks the tokens of service accounts: JSON Web Tokens (RFC 7519) whose claims say whose they
// are and what they are bound to (Kubernetes documentation, "Managing Service Accounts"; KEP-1205).
//
//	serviceaccounts/token ─▶ claims ─▶ Authority.Sign ─▶ header.claims.signature
//	                                                              │
//	Authorization: Bearer … ─▶ Authority.Check ─┬─ issuer ◀───────┘ another's: no token of ours
//	                                            ├─ signature, by one of the public keys
//	                                            ├─ audiences, time
//	                                            └─ account and bound object, which have to exist ─▶ Holder
//
// Without keys of its own an Authority signs with one that everybody knows (key.go). Those of files are read in pem.go,
// which a page does without.
package token

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Options say who issues tokens and which are good. The fields are kube-apiserver's flags; the zero value is its default
// as far as it has one.
type Options struct {
	// Issuers are what tokens name as theirs: the first issues them, those of all are accepted (--service-account-issuer).
	// nil: DefaultIssuer.
	Issuers []string
	// Audiences are those of the API server (--api-audiences): a token that names none of them is not for it. nil: Issuers.
	Audiences []string
	// SigningKey is the private key that tokens are signed with, RSA or ECDSA, PEM (--service-account-signing-key-file).
	// nil: one that everybody knows, RSA, for tests only.
	SigningKey []byte
	// Keys are files with the keys that tokens are checked with, RSA or ECDSA, public or private, several in one if need be,
	// PEM (--service-account-key-file). nil: the signing key, which is not among them otherwise unless it is the one that
	// everybody knows.
	Keys [][]byte
	// MaxExpiration is the longest time that a token may live (--service-account-max-token-expiration): one that is asked
	// for longer gets it, with a warning. From an hour to 2³² seconds. 0: there is no limit.
	MaxExpiration time.Duration
	// NoExtendExpiration: tokens of pods die when the kubelet expects it, and do not live for a year
	// (--service-account-extend-token-expiration=false).
	NoExtendExpiration bool
	// NoLookup: a token of a Secret is good although neither the Secret nor its account exists
	// (--service-account-lookup=false).
	NoLookup bool
	// JWKSURI is where the OpenID configuration says that the keys are (--service-account-jwks-uri). "": at the server.
	JWKSURI string
}

// DefaultIssuer is the issuer of a server that is not told otherwise, as kubeadm and kind set it.
const DefaultIssuer = "https://kubernetes.default.svc"

// Authority signs and checks tokens as one API server does. Nothing changes it.
type Authority struct {
	options Options
	signer  signer
	keys    []verifier
}

// New returns an Authority, or what is wrong with the options (pkg/kubeapiserver/options and
// pkg/controlplane/apiserver/options check the flags).
func New(o Options) (*Authority, error) {
	if len(o.Issuers) == 0 {
		o.Issuers = []string{DefaultIssuer}
	}
	if err := checkIssuers(o.Issuers); err != nil {
		return nil, err
	}
	if len(o.Audiences) == 0 {
		o.Audiences = o.Issuers
	}
	if o.MaxExpiration != 0 && (o.MaxExpiration < time.Hour || o.MaxExpiration > 1<<32*time.Second) {
		return nil, errors.New("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	}
	if err := checkKeysURI(o.JWKSURI); err != nil {
		return nil, err
	}
	a := &Authority{options: o, signer: builtin()}
	if o.SigningKey != nil {
		key, err := privateKey(o.SigningKey)
		if err != nil {
			return nil, fmt.Errorf("failed to parse service-account-issuer-key-file: %w", err)
		}
		a.signer = key
	}
	for _, file := range o.Keys {
		keys, err := publicKeys(file)
		if err != nil {
			return nil, fmt.Errorf("error reading public key file: %w", err)
		}
		a.keys = append(a.keys, keys...)
	}
	if o.SigningKey == nil || len(o.Keys) == 0 {
		a.keys = append(a.keys, a.signer)
	}
	return a, nil
}

// checkIssuers refuses an issuer that is given twice or looks like a URL and is none.
func checkIssuers(issuers []string) error {
	for i, issuer := range issuers {
		if strings.Contains(issuer, ":") {
			if _, err := url.Parse(issuer); err != nil {
				return fmt.Errorf("service-account-issuer %q contained a ':' but was not a valid URL: %w", issuer, err)
			}
		}
		if issuer == "" {
			return errors.New("service-account-issuer should not be an empty string")
		}
		if slices.Contains(issuers[:i], issuer) {
			return fmt.Errorf("service-account-issuer %q is already specified", issuer)
		}
	}
	return nil
}

func checkKeysURI(uri string) error {
	if uri == "" {
		return nil
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return fmt.Errorf("service-account-jwks-uri must be a valid URL: %w", err)
	case u.Scheme != "https":
		return fmt.Errorf("service-account-jwks-uri requires https scheme, parsed as: %v", u)
	}
	return nil
}

// Audiences are those of the API server, which a token is for when it asks for none.
func (a *Authority) Audiences() []string { return a.options.Audiences }

// MaxSeconds is the longest time that a token may live, 0 for any.
func (a *Authority) MaxSeconds() int64 { return int64(a.options.MaxExpiration / time.Second) }

// Extends says that tokens which the kubelet asks for live longer than they say.
func (a *Authority) Extends() bool { return !a.options.NoExtendExpiration }

// Sign returns claims as a token of the first issuer. The same claims give the same bytes (RFC 8017, section 8.2; RFC 6979).
func (a *Authority) Sign(claims map[string]any) string {
	claims["iss"] = a.options.Issuers[0]
	return a.sign(claims)
}

// SignLegacy returns a token of a service account that is kept in a Secret and does not expire
// (pkg/serviceaccount.LegacyClaims).
func (a *Authority) SignLegacy(namespace, account, uid, secret string) string {
	return a.sign(map[string]any{"iss": legacyIssuer, "sub": "system:serviceaccount:" + namespace + ":" + account,
		legacyNamespace: namespace, legacyName: account, legacyUID: uid, legacySecret: secret})
}

func (a *Authority) sign(claims map[string]any) string {
	header := map[string]any{"alg": a.signer.algorithm(), "kid": a.signer.id()}
	text := encode(mustJSON(header)) + "." + encode(mustJSON(claims))
	return text + "." + encode(a.signer.sign([]byte(text)))
}

// KeySet returns the JSON Web Key Set (RFC 7517) of the keys that tokens are checked with.
func (a *Authority) KeySet() []byte {
	set := struct {
		Keys []webKey `json:"keys"`
	}{}
	for _, k := range a.keys {
		set.Keys = append(set.Keys, k.published())
	}
	return mustJSON(set)
}

// OpenID returns the OpenID configuration of a server at an address, HOST:PORT. ok is false if the first issuer is no URL
// that may have one: then the server publishes neither it nor the keys (pkg/serviceaccount.NewOpenIDMetadataProvider).
func (a *Authority) OpenID(address string) (document []byte, ok bool) {
	issuer := a.options.Issuers[0]
	if u, err := url.Parse(issuer); err != nil || u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, false
	}
	uri := cmp.Or(a.options.JWKSURI, "https://"+address+"/openid/v1/jwks")
	var algorithms []string
	for _, k := range a.keys {
		algorithms = append(algorithms, k.algorithm())
	}
	slices.Sort(algorithms)
	return mustJSON(struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{issuer, uri, []string{"id_token"}, []string{"public"}, slices.Compact(algorithms)}), true
}

// mustJSON prints a part of a token, or what is published about keys; encoding/json sorts the names of maps.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("token: " + err.Error())
	}
	return data
}

// Objects reads stored objects by their storage name, in the hub version; nil stands for none.
type Objects interface {
	Get(storage, namespace, name string) object.Object
}
