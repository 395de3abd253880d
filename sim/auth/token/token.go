// Package token signs and checks the tokens of service accounts: JSON Web Tokens (RFC 7519) whose claims name their holder and the object
// that they are bound to (Kubernetes documentation, "Managing Service Accounts"; KEP-1205).
//
//	serviceaccounts/token ─▶ claims ─▶ Authority.Sign ─▶ header.claims.signature
//	                                                              │
//	Authorization: Bearer … ─▶ Authority.Check ─┬─ issuer ◀───────┘ of another issuer: not ours
//	                                            ├─ signature, by one of the public keys
//	                                            ├─ audiences, time
//	                                            └─ account and bound object, which have to exist ─▶ Holder
//
// An Authority without keys of its own signs with a published one (key.go). pem.go reads keys from files; the page does not link it.
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

// Options set how tokens are issued and checked. The fields are flags of kube-apiserver; the zero value of a field is the flag's
// default, if it has one.
type Options struct {
	// Issuers are the accepted issuers of tokens; the first one issues them (--service-account-issuer). The default is DefaultIssuer.
	Issuers []string
	// Audiences are the API server's audiences (--api-audiences). A token without one of them is refused. The default is Issuers.
	Audiences []string
	// SigningKey is the private key that signs tokens, RSA or ECDSA, PEM (--service-account-signing-key-file). The default is a
	// published RSA key, for tests only.
	SigningKey []byte
	// Keys are the contents of files with the keys that check tokens: RSA or ECDSA, public or private, PEM, several in one file if need
	// be (--service-account-key-file). If Keys is nil, the signing key checks them. Otherwise the signing key is not among them, unless
	// it is the published one.
	Keys [][]byte
	// MaxExpiration is the longest lifetime of a token (--service-account-max-token-expiration), from an hour to 2³² seconds. A request
	// for a longer one gets MaxExpiration and a warning. 0 means no limit.
	MaxExpiration time.Duration
	// NoExtendExpiration makes tokens of pods expire when the kubelet expects it, instead of after a year
	// (--service-account-extend-token-expiration=false).
	NoExtendExpiration bool
	// NoLookup accepts a token of a Secret even if neither the Secret nor its account exists (--service-account-lookup=false).
	NoLookup bool
	// JWKSURI is the address of the keys in the OpenID configuration (--service-account-jwks-uri). The default is the server's own.
	JWKSURI string
}

// DefaultIssuer is the default issuer, as kubeadm and kind set it.
const DefaultIssuer = "https://kubernetes.default.svc"

// Authority signs and checks tokens as one API server does. Nothing changes it.
type Authority struct {
	options Options
	signer  signer
	keys    []verifier
}

// New returns an Authority. It returns an error for invalid options (pkg/kubeapiserver/options and pkg/controlplane/apiserver/options
// check the flags).
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

// Audiences returns the audiences of the API server, which are the default of a token.
func (a *Authority) Audiences() []string { return a.options.Audiences }

// MaxSeconds is the longest time that a token may live, 0 for any.
func (a *Authority) MaxSeconds() int64 { return int64(a.options.MaxExpiration / time.Second) }

// Extends reports whether tokens that the kubelet requests live longer than requested.
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

// mustJSON prints a part of a token, or of the published keys. encoding/json sorts the names of maps.
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
