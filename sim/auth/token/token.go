// Package token signs and checks the tokens of service accounts: JSON Web Tokens (RFC 7519) whose claims name their holder and the
// object to which they are bound (Kubernetes documentation, "Managing Service Accounts"; KEP-1205).
//
//	serviceaccounts/token ─▶ claims ─▶ Authority.Sign ─▶ header.claims.signature
//	                                                              │
//	Authorization: Bearer … ─▶ Authority.Check ─┬─ issuer ◀───────┘ nil for any other issuer
//	                                            ├─ signature, by one of the public keys
//	                                            ├─ audiences, time
//	                                            └─ account and bound object must exist ─▶ Holder
//
// An Authority without a configured key signs with a published one (key.go). pem.go reads keys from files; the page does not link
// it.
package token

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Options configure how tokens are issued and checked. The fields correspond to flags of kube-apiserver. The zero value of a field
// is the flag's default, if it has one.
type Options struct {
	// Issuers are the accepted issuers of tokens. The first one is used to issue them (--service-account-issuer). The default is
	// DefaultIssuer.
	Issuers []string
	// Audiences are the API server's audiences (--api-audiences). A token must have one of them. The default is Issuers.
	Audiences []string
	// SigningKey is the RSA or ECDSA private key that signs tokens, in PEM (--service-account-signing-key-file). The default is a
	// published RSA key, for tests only.
	SigningKey []byte
	// Keys are the contents of the files with the keys that verify tokens (--service-account-key-file): RSA or ECDSA, public or
	// private, in PEM, one or more per file. If Keys is nil, the signing key verifies tokens. Otherwise it does not, unless it is
	// the published key.
	Keys [][]byte
	// SigningEndpoint is the unix socket of a program that signs tokens and has the keys that verify them
	// (--service-account-signing-endpoint). Function Configure of package fake/signer connects to it and sets External.
	SigningEndpoint string   `json:"-"`
	External        External `json:"-"`
	// MaxExpiration is the maximum lifetime of a token (--service-account-max-token-expiration), from one hour to 2³² seconds. A
	// request for a longer lifetime gets MaxExpiration and a warning. 0 means no limit.
	MaxExpiration time.Duration
	// NoExtendExpiration makes tokens of pods expire at the time that the kubelet requests, instead of after a year
	// (--service-account-extend-token-expiration=false).
	NoExtendExpiration bool
	// NoLookup accepts a token of a Secret even if the Secret or its account does not exist (--service-account-lookup=false).
	NoLookup bool
	// JWKSURI is the URL of the keys in the OpenID configuration (--service-account-jwks-uri). The default is the server's own.
	JWKSURI string
}

// External is a program that signs tokens (KEP-740).
type External interface {
	// Sign returns the header and the signature of a token, both encoded, for its encoded claims.
	Sign(ctx context.Context, claims string) (header, signature string, err error)
	// Keys returns the current keys that verify tokens.
	Keys() []*ExternalKey
}

// DefaultIssuer is the default issuer, and that of kubeadm and kind.
const DefaultIssuer = "https://kubernetes.default.svc"

// Authority signs and checks tokens like one API server. It is immutable, except for the keys of an External.
type Authority struct {
	options Options
	signer  signer
	keys    []verifier
}

// New returns an Authority, or an error if the options are invalid (the checks of the flags in pkg/kubeapiserver/options and
// pkg/controlplane/apiserver/options).
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
	switch {
	case o.SigningEndpoint != "" && o.SigningKey != nil:
		return nil, errors.New("service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time")
	case o.SigningEndpoint != "" && len(o.Keys) > 0:
		return nil, errors.New("cannot set mutually exclusive flags `--service-account-key-file` and `--service-account-signing-endpoint` at the same time")
	case o.SigningEndpoint != "" && o.External == nil:
		return nil, errors.New("SigningEndpoint has no effect without External, which signer.Configure of package github.com/kubesim/kubesim/fake/signer sets")
	}
	if err := CheckMaxExpiration(o.MaxExpiration); err != nil && o.External == nil { // the maximum of an External may be lower
		return nil, err
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
	if (o.SigningKey == nil || len(o.Keys) == 0) && o.External == nil {
		a.keys = append(a.keys, a.signer)
	}
	return a, nil
}

// CheckMaxExpiration returns an error if a value of --service-account-max-token-expiration is invalid.
func CheckMaxExpiration(d time.Duration) error {
	if d != 0 && (d < time.Hour || d > 1<<32*time.Second) {
		return errors.New("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	}
	return nil
}

// checkIssuers rejects an issuer that is empty or repeated, or that contains a colon but is not a valid URL.
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

// Audiences returns the audiences of the API server, which are the default audiences of a token.
func (a *Authority) Audiences() []string { return a.options.Audiences }

// MaxSeconds returns the maximum lifetime of a token in seconds, or 0 if there is none.
func (a *Authority) MaxSeconds() int64 { return int64(a.options.MaxExpiration / time.Second) }

// Extends reports whether tokens requested by the kubelet live longer than requested.
func (a *Authority) Extends() bool { return !a.options.NoExtendExpiration }

// Sign returns a token of the first issuer with the claims, signed with the key of the Authority. The same claims always result in the
// same token (RFC 8017, section 8.2; RFC 6979).
func (a *Authority) Sign(claims map[string]any) string {
	claims["iss"] = a.options.Issuers[0]
	return a.sign(claims)
}

// Issue is like Sign, but an External signs the token, if there is one. unlocked calls a function without the Cluster's lock, because
// an External may take long.
func (a *Authority) Issue(ctx context.Context, claims map[string]any, unlocked func(func())) (text string, err error) {
	x := a.options.External
	if x == nil {
		return a.Sign(claims), nil
	}
	claims["iss"] = a.options.Issuers[0]
	payload := encode(mustJSON(claims))
	var header, signature string
	unlocked(func() { header, signature, err = x.Sign(ctx, payload) })
	return header + "." + payload + "." + signature, err
}

// verifiers returns the keys that verify tokens.
func (a *Authority) verifiers() []verifier {
	if a.options.External == nil {
		return a.keys
	}
	var all []verifier
	for _, k := range a.options.External.Keys() {
		all = append(all, k)
	}
	return all
}

// published returns the keys that the key set contains.
func (a *Authority) published() []verifier {
	return slices.DeleteFunc(slices.Clone(a.verifiers()), func(k verifier) bool {
		x, ok := k.(*ExternalKey)
		return ok && x.Unpublished
	})
}

// SignLegacy returns a service account token that is stored in a Secret and does not expire (pkg/serviceaccount.LegacyClaims).
func (a *Authority) SignLegacy(namespace, account, uid, secret string) string {
	return a.sign(map[string]any{"iss": legacyIssuer, "sub": "system:serviceaccount:" + namespace + ":" + account,
		legacyNamespace: namespace, legacyName: account, legacyUID: uid, legacySecret: secret})
}

func (a *Authority) sign(claims map[string]any) string {
	header := map[string]any{"alg": a.signer.algorithm(), "kid": a.signer.id()}
	text := encode(mustJSON(header)) + "." + encode(mustJSON(claims))
	return text + "." + encode(a.signer.sign([]byte(text)))
}

// KeySet returns the JSON Web Key Set (RFC 7517) of the keys that verify tokens.
func (a *Authority) KeySet() []byte {
	set := struct {
		Keys []webKey `json:"keys"`
	}{}
	for _, k := range a.published() {
		set.Keys = append(set.Keys, k.published())
	}
	return mustJSON(set)
}

// OpenID returns the OpenID configuration of a server at the address HOST:PORT. ok is false if the first issuer is not an https URL
// without query and fragment; the server then publishes neither the configuration nor the keys
// (pkg/serviceaccount.NewOpenIDMetadataProvider).
func (a *Authority) OpenID(address string) (document []byte, ok bool) {
	issuer := a.options.Issuers[0]
	if u, err := url.Parse(issuer); err != nil || u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, false
	}
	uri := cmp.Or(a.options.JWKSURI, "https://"+address+"/openid/v1/jwks")
	var algorithms []string
	for _, k := range a.published() {
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

// mustJSON encodes a part of a token or the key set. encoding/json sorts the keys of maps.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("token: " + err.Error())
	}
	return data
}

// Objects reads stored objects in the hub version, by storage name. Get returns nil if the object does not exist.
type Objects interface {
	Get(storage, namespace, name string) object.Object
}
