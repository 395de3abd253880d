// Package authorization configures the authorizers of an API server: the file of --authorization-config, policies of ABAC, and webhooks
// (Kubernetes documentation, "Authorization"; KEP-3221).
//
//	--authorization-config FILE ──────────┐ parse
//	--authorization-mode, -webhook-*,     ├──────▶ Configuration ─ chain ─▶ []auth.Link ─▶ auth.Auth of each API server
//	                  -policy-file ───────┘             ▲                    │ Webhook: authorizer ─▶ SubjectAccessReview
//	FILE changes ─ File.Reload ─────────────────────────┘                    │ ABAC: policies
//	                                                                         └ Node, RBAC, …: package auth
//
// A webhook is asked during a request, without the Cluster's lock. Since every permission comes from the same chain, this includes
// impersonation, SubjectAccessReviews, the checks against escalation, and the authorizer in expressions of admission policies.
package authorization

import (
	"cmp"
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
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
)

// File is the configuration of authorizers, which a file may replace while the server runs.
type File struct {
	id       string    // identifies the API server in the labels of metrics
	policies *policies // of ABAC; nil if the server has started without it
	required []string  // the types with which the server has started, except Webhook
	counts   *counts

	loading sync.Mutex         // is held while the file is read, and guards the next three fields
	file    configfile.Watched // its name is "" if there is none
	data    string             // the contents that were read last
	current *Configuration

	mu      sync.Mutex // guards reloads; the Cluster's lock is not acquired while it is held
	reloads reloads
}

// Setter changes the authorizers of a running cluster.
type Setter interface{ SetAuthorizers(chain []auth.Link) }

// Configure reads c.AuthorizationConfig and the files in c.Authorization, and sets c.Authorizers and c.Authorization.Chain. If there is
// neither a file nor an authorizer ABAC or Webhook, it returns nil. The errors are kube-apiserver's
// (pkg/kubeapiserver/options.BuiltInAuthorizationOptions).
func Configure(c *config.Cluster) (*File, error) {
	f := &File{id: boot.LeaseName(boot.Host), counts: &counts{}}
	o := &c.Authorization
	switch {
	case c.AuthorizationConfig != "":
		data, err := os.ReadFile(c.AuthorizationConfig)
		if err != nil {
			return nil, err
		}
		f.file.Name, f.data = c.AuthorizationConfig, string(data)
		f.file.Changed()
		if f.current, err = parse(data, nil); err != nil {
			return nil, err
		}
		f.reloads.hash = hash(f.data)
	default:
		if err := check(c.Authorizers, o); err != nil {
			return nil, err
		}
		if !slices.Contains(c.Authorizers, webhookType) && !slices.Contains(c.Authorizers, abacType) {
			return nil, nil
		}
		f.current = fromFlags(c.Authorizers, o)
	}
	c.Authorizers = nil
	for _, a := range f.current.Authorizers {
		c.Authorizers = append(c.Authorizers, a.Type)
		if a.Type != webhookType {
			f.required = append(f.required, a.Type)
		}
	}
	slices.Sort(f.required)
	if slices.Contains(f.required, abacType) {
		all, err := readPolicies(o.PolicyFile)
		if err != nil {
			return nil, fmt.Errorf("invalid authorization config: %w", err)
		}
		f.policies = &all
	}
	var err error
	if o.Chain, err = f.chain(f.current); err != nil {
		return nil, fmt.Errorf("invalid authorization config: %w", err)
	}
	return f, nil
}

// check returns an error if a flag is missing or has no effect.
func check(modes []string, o *config.Authorization) error {
	var wrong []string
	if i := slices.Index(modes, webhookType); i >= 0 && slices.Contains(modes[i+1:], webhookType) {
		wrong = append(wrong, fmt.Sprintf("authorization-mode %q has mode specified more than once", modes))
	}
	for _, c := range []struct{ mode, file, missing, flag string }{
		{abacType, o.PolicyFile, "authorization policy file", "authorization-policy-file"},
		{webhookType, o.WebhookConfigFile, "authorization config file", "authorization-webhook-config-file"},
	} {
		switch has := slices.Contains(modes, c.mode); {
		case has && c.file == "":
			wrong = append(wrong, fmt.Sprintf("authorization-mode %s's %s not passed", c.mode, c.missing))
		case !has && c.file != "":
			wrong = append(wrong, fmt.Sprintf("cannot specify --%s without mode %s", c.flag, c.mode))
		}
	}
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return errors.New(wrong[0])
	}
	return errors.New("[" + strings.Join(wrong, ", ") + "]")
}

// The configuration of a webhook by flags (buildAuthorizationConfiguration).
const (
	flagsName    = "default"
	flagsTimeout = 30 * time.Second
	flagsVersion = "v1beta1"
)

// fromFlags returns the configuration of modes of authorization.
func fromFlags(modes []string, o *config.Authorization) *Configuration {
	ttl := func(given *time.Duration, fallback time.Duration) (d configfile.Duration, cached *bool) {
		if given != nil {
			fallback = *given
		}
		caches := fallback != 0
		return configfile.Duration(fallback), &caches
	}
	c := &Configuration{}
	for _, mode := range modes {
		a := AuthorizerConfiguration{Type: mode, Name: strings.ToLower(mode)}
		if mode == webhookType {
			w := &WebhookConfiguration{Timeout: configfile.Duration(flagsTimeout), FailurePolicy: noOpinion,
				SubjectAccessReviewVersion: cmp.Or(o.WebhookVersion, flagsVersion),
				ConnectionInfo:             WebhookConnectionInfo{kubeConfigFile, &o.WebhookConfigFile}}
			w.AuthorizedTTL, w.CacheAuthorizedRequests = ttl(o.WebhookCacheAuthorizedTTL, authorizedTTL)
			w.UnauthorizedTTL, w.CacheUnauthorizedRequests = ttl(o.WebhookCacheUnauthorizedTTL, unauthorizedTTL)
			a.Name, a.Webhook = flagsName, w
		}
		c.Authorizers = append(c.Authorizers, a)
	}
	return c
}

// chain returns the authorizers of a configuration.
func (f *File) chain(c *Configuration) (links []auth.Link, err error) {
	for _, a := range c.Authorizers {
		l := auth.Link{Type: a.Type, Name: a.Name}
		switch a.Type {
		case webhookType:
			if l.Authorizer, err = newAuthorizer(a.Name, a.Webhook, f.counts); err != nil {
				return nil, err
			}
		case abacType:
			if f.policies == nil {
				return nil, errors.New("authorizer type ABAC is not allowed if it was not enabled at initial server startup")
			}
			l.Authorizer = *f.policies
		case "Node", "RBAC":
			if len(f.required) > 0 && !slices.Contains(f.required, a.Type) {
				return nil, fmt.Errorf("authorizer type %s is not allowed if it was not enabled at initial server startup", a.Type)
			}
		}
		links = append(links, l)
	}
	return links, nil
}

// Reload reads the file if it has changed. If it is valid and still has the types with which the server has started, to.SetAuthorizers
// is called. Otherwise the previous authorizers stay, and logf is called with kube-apiserver's message
// (pkg/kubeapiserver/authorizer.reloadableAuthorizerResolver.checkFile).
func (f *File) Reload(to Setter, logf func(format string, args ...any)) {
	if f == nil || f.file.Name == "" || !f.loading.TryLock() {
		return
	}
	defer f.loading.Unlock()
	if !f.file.Changed() {
		return
	}
	chain, err := f.read()
	if err != nil {
		logf("%q err=%q", "reloading authorization config", err)
	} else if chain != nil {
		to.SetAuthorizers(chain)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.reloads.failed, f.reloads.failureAt = f.reloads.failed+1, time.Now()
	} else if chain != nil {
		f.reloads.succeeded, f.reloads.successAt, f.reloads.hash = f.reloads.succeeded+1, time.Now(), hash(f.data)
	}
}

// read reads the changed file and returns its authorizers, or nil if the new configuration equals the current one.
func (f *File) read() ([]auth.Link, error) {
	data, err := os.ReadFile(f.file.Name)
	if err != nil || string(data) == f.data {
		return nil, err
	}
	f.data = string(data)
	c, err := parse(data, f.required)
	if err != nil || reflect.DeepEqual(c, f.current) {
		return nil, err
	}
	f.current = c
	return f.chain(c)
}
