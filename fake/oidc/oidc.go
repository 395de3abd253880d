// Package oidc authenticates the tokens of OpenID providers and other issuers of JSON Web Tokens (--authentication-config and the
// flags --oidc-*; Kubernetes documentation, "Authenticating"; KEP-3331).
//
//	flags, or FILE ─ parse, compile ─▶ issuers ◀─ reload when the file changes
//	                                     │ https: discovery document, key set
//	request ─ Prepare(token) ───────────▶┤           before the request, without the Cluster's lock
//	        ─ AuthenticateToken(token) ─▶┴─ signature, audience, time ─▶ claims ─▶ rules and mappings (CEL) ─▶ user
//
// AuthenticateToken uses the known keys. Prepare requests missing ones, so that no request waits for the network
// with the lock. The token in a TokenReview is not prepared: its issuer must have been used before.
package oidc

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim/auth"
)

// Options configure an Authenticator.
type Options struct {
	// File is an AuthenticationConfiguration (--authentication-config). If it is "", Config applies.
	File string
	// Config is the configuration by flags.
	Config Config
	// Algorithms are the accepted signature algorithms. If it is nil, all algorithms of Algorithms are accepted.
	Algorithms []string
	// Disallowed are issuers that may not be configured, because they issue the tokens of service accounts.
	Disallowed []string
	// ID identifies the API server in the labels of metrics.
	ID string
}

// Algorithms returns the signature algorithms that an issuer may use.
func Algorithms() []string {
	return []string{"ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}
}

// Authenticator authenticates tokens. It implements auth.TokenIssuers.
type Authenticator struct {
	options   Options
	anonymous *Anonymous // as it was at the start

	loading sync.Mutex // is held while the file is loaded, and guards the next three fields
	file    configfile.Watched
	retry   time.Time // when to load the file again although it has not changed; zero if never
	text    string    // the contents of the file

	mu      sync.Mutex // guards the fields below
	current []*issuer
	reloads reloads
}

// reloads counts the reloads of the file.
type reloads struct {
	succeeded, failed    int
	successAt, failureAt time.Time
	loadedHash           string
}

// New returns an Authenticator. It returns an error if the configuration is invalid.
func New(o Options) (*Authenticator, error) {
	if o.Algorithms == nil {
		o.Algorithms = Algorithms()
	}
	for _, name := range o.Algorithms {
		if !slices.Contains(Algorithms(), name) {
			return nil, fmt.Errorf("oidc: unsupported signing alg: %q", name)
		}
	}
	a := &Authenticator{options: o, file: configfile.Watched{Name: o.File}}
	config := &o.Config
	if o.File != "" {
		a.file.Changed()
		data, err := os.ReadFile(o.File)
		if err == nil {
			config, err = parse(data)
		}
		if err != nil {
			return nil, fmt.Errorf("failed to load authentication configuration from file %q: %w", o.File, err)
		}
		a.text, a.reloads.loadedHash = string(data), hash(string(data))
	}
	var err error
	if a.current, err = config.compile(o.Disallowed, o.Algorithms); err != nil {
		return nil, fmt.Errorf("invalid authentication configuration: %w", err)
	}
	a.anonymous = config.Anonymous
	return a, nil
}

// Anonymous returns the configuration of anonymous requests in the file, or nil if it has none.
func (a *Authenticator) Anonymous() *Anonymous { return a.anonymous }

// Prepare implements auth.TokenIssuers.
func (a *Authenticator) Prepare(text string) {
	a.reload()
	if x := a.issuer(text); x != nil {
		x.prepare(text)
	}
}

// issuer returns the configured issuer that a token names, or nil.
func (a *Authenticator) issuer(text string) *issuer {
	name := untrustedIssuer(text)
	if name == "" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.current, func(x *issuer) bool { return x.config.Issuer.URL == name }); i >= 0 {
		return a.current[i]
	}
	return nil
}

// AuthenticateToken implements auth.TokenIssuers.
func (a *Authenticator) AuthenticateToken(text string, now time.Time) (*auth.User, error) {
	x := a.issuer(text)
	if x == nil {
		return nil, nil
	}
	claims, err := x.claims(text, now)
	if err != nil {
		return nil, err
	}
	return x.user(claims)
}

// reload loads the file again if it has changed. The new configuration applies if it is valid, has the same configuration of
// anonymous requests, and all of its issuers respond (kube-apiserver's BuiltInAuthenticationOptions.ApplyTo). Otherwise the old one
// stays. If an issuer did not respond, reload tries again later.
func (a *Authenticator) reload() {
	if a.options.File == "" || !a.loading.TryLock() { // another request loads it
		return
	}
	defer a.loading.Unlock()
	if !a.file.Changed() && (a.retry.IsZero() || time.Now().Before(a.retry)) {
		return
	}
	data, err := os.ReadFile(a.options.File)
	text := string(data)
	if err == nil && text == a.text {
		return
	}
	a.retry = time.Now().Add(retryAfter)
	var issuers []*issuer
	if err == nil {
		if issuers, err = a.load(data); err != nil {
			a.text, a.retry = text, time.Time{} // the contents will not become valid
		}
	}
	if err == nil {
		err = initialize(issuers)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.reloads.failed, a.reloads.failureAt = a.reloads.failed+1, time.Now()
		return
	}
	for _, x := range a.current {
		go x.close() // a request to the issuer may be under way
	}
	a.current, a.text, a.retry = issuers, text, time.Time{}
	a.reloads.succeeded, a.reloads.successAt, a.reloads.loadedHash = a.reloads.succeeded+1, time.Now(), hash(text)
}

// load parses and compiles a changed file.
func (a *Authenticator) load(data []byte) ([]*issuer, error) {
	config, err := parse(data)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(config.Anonymous, a.anonymous) {
		return nil, errors.New("anonymous: Forbidden: changed from initial configuration file")
	}
	return config.compile(a.options.Disallowed, a.options.Algorithms)
}

// initialize requests the keys of all issuers.
func initialize(issuers []*issuer) error {
	for _, x := range issuers {
		if err := x.initialize(); err != nil {
			return err
		}
	}
	return nil
}

// hash returns the label of metrics for a text.
func hash(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
}

// Metrics returns the metrics of reloads and of key sets in the text format of Prometheus (k8s.io/apiserver/pkg/server/options/
// authenticationconfig/metrics, plugin/pkg/authenticator/token/oidc).
func (a *Authenticator) Metrics() string {
	a.mu.Lock()
	r, current := a.reloads, a.current
	a.mu.Unlock()
	var b strings.Builder
	family := func(name, help, kind string, samples ...string) {
		if samples = slices.DeleteFunc(samples, func(s string) bool { return s == "" }); len(samples) == 0 {
			return
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
		for _, s := range samples {
			fmt.Fprintf(&b, "%s{%s\n", name, s)
		}
	}
	id := fmt.Sprintf("apiserver_id_hash=%q", hash(a.options.ID))
	count := func(status string, n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%s,status=%q} %d", id, status, n)
	}
	when := func(labels string, at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return fmt.Sprintf("%s,%s} %v", id, labels, float64(at.UnixNano())/1e9)
	}
	const config, keys = "apiserver_authentication_config_controller_", "apiserver_authentication_jwt_authenticator_jwks_fetch_"
	family(config+"automatic_reload_last_timestamp_seconds", "[BETA] Timestamp of the last automatic reload of authentication configuration "+
		"split by status and apiserver identity.", "gauge", when(`status="failure"`, r.failureAt), when(`status="success"`, r.successAt))
	family(config+"automatic_reloads_total", "[BETA] Total number of automatic reloads of authentication configuration split by status and "+
		"apiserver identity.", "counter", count("failure", r.failed), count("success", r.succeeded))
	if r.loadedHash != "" {
		family(config+"last_config_info", "[ALPHA] Information about the last applied authentication configuration with hash as label, split by "+
			"apiserver identity.", "gauge", fmt.Sprintf("%s,hash=%q} 1", id, r.loadedHash))
	}
	var sets, times []string
	for _, x := range current {
		x.mu.Lock()
		f, name := x.fetch, fmt.Sprintf("jwt_issuer_hash=%q", hash(x.config.Issuer.URL))
		x.mu.Unlock()
		if f.hash != "" {
			sets = append(sets, fmt.Sprintf("%s,hash=%q,%s} 1", id, f.hash, name))
		}
		times = append(times, when(fmt.Sprintf("%s,result=%q", name, map[bool]string{true: "success", false: "failure"}[f.ok]), f.at))
	}
	family(keys+"last_key_set_info", "[ALPHA] Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api "+
		"server identity and jwt issuer.", "gauge", sets...)
	family(keys+"last_timestamp_seconds", "[ALPHA] Timestamp of the last successful or failed JWKS fetch split by result, api server identity and "+
		"jwt issuer for the JWT authenticator.", "gauge", times...)
	return b.String()
}
