package oidc

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/kubesim/kubesim/sim/cel"
)

// requestTimeout limits a request to an issuer, and retryAfter is the time until a request that failed is repeated.
const (
	requestTimeout = 10 * time.Second
	retryAfter     = time.Second
)

// maxBody is the size limit of a document of an issuer.
const maxBody = 10 << 20

// wellKnown is the path of the discovery document (OpenID Connect Discovery 1.0).
const wellKnown = "/.well-known/openid-configuration"

// issuer issues tokens. Its configuration does not change.
type issuer struct {
	config     JWTAuthenticator
	algorithms []string

	required              map[string]string // values of claims
	claimRules, userRules []rule
	username, groups, uid *cel.Expression // nil if a claim is mapped, or none
	extra                 []extra

	fetching sync.Mutex // is held during requests to the issuer
	client   *http.Client
	failed   time.Time // of the last request that failed

	mu      sync.Mutex // guards the fields below, and is never held during a request
	keysURL string     // from the discovery document; "" if it is not known
	keys    jose.JSONWebKeySet
	fetch   fetch
}

// fetch describes the last request for the keys.
type fetch struct {
	at   time.Time // zero if there was none
	ok   bool
	hash string // of the last valid key set
}

// untrustedIssuer returns the issuer that a token names, or "" if text is not a token. The signature is not verified.
func untrustedIssuer(text string) string {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return ""
	}
	if claims.Issuer == "accounts.google.com" { // a token of Google may omit the scheme (OpenID Connect Core 1.0, GoogleIss)
		return "https://accounts.google.com"
	}
	return claims.Issuer
}

// prepare requests the keys of the issuer unless the known keys verify the token.
func (x *issuer) prepare(text string) {
	signed, err := jose.ParseSigned(text, x.signatureAlgorithms())
	if err != nil {
		return
	}
	x.fetching.Lock()
	defer x.fetching.Unlock()
	if _, keys := x.known(); !verified(signed, keys) {
		_ = x.fetchKeys() // AuthenticateToken reports that no key verifies the token
	}
}

// initialize requests the keys unless they are known.
func (x *issuer) initialize() error {
	x.fetching.Lock()
	defer x.fetching.Unlock()
	if _, keys := x.known(); len(keys.Keys) > 0 {
		return nil
	}
	return x.fetchKeys()
}

// known returns the URL of the keys and the keys, as far as they are known.
func (x *issuer) known() (url string, keys jose.JSONWebKeySet) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.keysURL, x.keys
}

// fetchKeys requests the discovery document unless it is known, and the key set.
func (x *issuer) fetchKeys() (err error) {
	if time.Since(x.failed) < retryAfter {
		return errors.New("the last request to the issuer failed")
	}
	defer func() {
		if err != nil {
			x.failed = time.Now()
		}
	}()
	url, _ := x.known()
	if url == "" {
		if url, err = x.discover(); err != nil {
			return err
		}
	}
	var keys jose.JSONWebKeySet
	body, err := x.get(url)
	if err == nil {
		if err = json.Unmarshal(body, &keys); err != nil {
			err = fmt.Errorf("oidc: failed to decode keys: %w", err)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.keysURL = url
	if x.fetch.at, x.fetch.ok = time.Now(), err == nil; err == nil {
		x.keys, x.fetch.hash = keys, hash(string(body))
	}
	return err
}

// discover returns the URL of the keys from the discovery document.
func (x *issuer) discover() (url string, err error) {
	if x.client == nil {
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
		if pem := x.config.Issuer.CertificateAuthority; pem != "" {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM([]byte(pem))
			transport.TLSClientConfig.RootCAs = roots
		}
		x.client = &http.Client{Transport: transport, Timeout: requestTimeout}
	}
	from := x.config.Issuer.DiscoveryURL
	if from == "" {
		from = strings.TrimSuffix(x.config.Issuer.URL, "/") + wellKnown
	}
	body, err := x.get(from)
	if err != nil {
		return "", err
	}
	var found struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return "", fmt.Errorf("oidc: failed to decode provider discovery object: %w", err)
	}
	if found.Issuer != x.config.Issuer.URL {
		return "", fmt.Errorf("oidc: issuer did not match the issuer returned by provider, expected %q got %q", x.config.Issuer.URL, found.Issuer)
	}
	if found.KeysURL == "" {
		return "", errors.New("provider did not return JWKS URL")
	}
	return found.KeysURL, nil
}

// get returns the body of a response with the code 200.
func (x *issuer) get(url string) ([]byte, error) {
	res, err := x.client.Get(url)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return body, err
}

// close closes the idle connections to the issuer.
func (x *issuer) close() {
	x.fetching.Lock()
	defer x.fetching.Unlock()
	if x.client != nil {
		x.client.CloseIdleConnections()
	}
}

func (x *issuer) signatureAlgorithms() []jose.SignatureAlgorithm {
	all := make([]jose.SignatureAlgorithm, len(x.algorithms))
	for i, name := range x.algorithms {
		all[i] = jose.SignatureAlgorithm(name)
	}
	return all
}

// verify returns the payload of a token if one of the keys verifies its signature.
func verify(signed *jose.JSONWebSignature, keys jose.JSONWebKeySet) (payload []byte, ok bool) {
	if len(signed.Signatures) != 1 {
		return nil, false
	}
	id := signed.Signatures[0].Header.KeyID
	for i := range keys.Keys {
		if key := &keys.Keys[i]; id == "" || key.KeyID == id {
			if payload, err := signed.Verify(key); err == nil {
				return payload, true
			}
		}
	}
	return nil, false
}

func verified(signed *jose.JSONWebSignature, keys jose.JSONWebKeySet) bool {
	_, ok := verify(signed, keys)
	return ok
}

// earlyBy is the time by which a token may be used before its time "nbf" (go-oidc).
const earlyBy = 5 * time.Minute

// registered are the claims that each issuer sets (OpenID Connect Core 1.0, ID Token).
type registered struct {
	Audience  audience    `json:"aud"`
	Expiry    json.Number `json:"exp"`
	NotBefore json.Number `json:"nbf"`
}

// audience is a string or a list of strings.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// claims verifies a token and returns its claims (go-oidc, IDTokenVerifier.Verify).
func (x *issuer) claims(text string, now time.Time) (map[string]json.RawMessage, error) {
	url, keys := x.known()
	if url == "" {
		return nil, errors.New("oidc: authenticator not initialized")
	}
	signed, err := jose.ParseSigned(text, x.signatureAlgorithms())
	if err != nil {
		return nil, fmt.Errorf("oidc: verify token: oidc: malformed jwt: %w", err)
	}
	payload, ok := verify(signed, keys)
	if !ok {
		return nil, errors.New("oidc: verify token: failed to verify signature: failed to verify id token signature")
	}
	var r registered
	if err := json.Unmarshal(payload, &r); err != nil {
		return nil, fmt.Errorf("oidc: verify token: oidc: failed to unmarshal claims: %w", err)
	}
	if allowed := x.config.Issuer.Audiences; !slices.ContainsFunc(allowed, func(name string) bool { return slices.Contains(r.Audience, name) }) {
		return nil, fmt.Errorf("oidc: verify token: oidc: expected audience in %q got %q", allowed, []string(r.Audience))
	}
	if expiry := seconds(r.Expiry); now.After(expiry) {
		return nil, fmt.Errorf("oidc: verify token: oidc: token is expired (Token Expiry: %v)", expiry)
	}
	if r.NotBefore != "" && now.Add(earlyBy).Before(seconds(r.NotBefore)) {
		return nil, errors.New("oidc: verify token: oidc: current time is before the nbf (not before) time")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(payload, &all); err != nil {
		return nil, fmt.Errorf("oidc: parse claims: %w", err)
	}
	return all, nil
}

// seconds returns the time of a number of seconds since 1970, which may have a fraction. It returns 1970 for an empty number.
func seconds(n json.Number) time.Time {
	if whole, err := n.Int64(); err == nil {
		return time.Unix(whole, 0)
	}
	f, _ := n.Float64() // an empty number is 0
	return time.Unix(int64(f), 0)
}
