package authorization

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kubesim/kubesim/fake/kubeconfig"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/webhook"
)

// authorizer asks a webhook. It implements auth.Authorizer (k8s.io/apiserver/plugin/pkg/authorizer/webhook.WebhookAuthorizer).
//
//	request ─▶ spec ─ conditions (CEL) ─▶ cache ─▶ SubjectAccessReview ─▶ Connection, without the Cluster's lock ─▶ status
type authorizer struct {
	name, version string
	timeout       time.Duration
	onError       auth.Decision // of a request about which the webhook or a condition fails
	conditions    []*cel.Expression
	connection    *kubeconfig.Connection
	url           string
	structure     *schema.Type // of a SubjectAccessReview in version

	authorizedTTL, unauthorizedTTL time.Duration
	cache                          *cache
	counts                         *counts
}

// The default times for which decisions are cached.
const (
	authorizedTTL   = 5 * time.Minute
	unauthorizedTTL = 30 * time.Second
)

// newAuthorizer returns the authorizer of a configuration, which must be valid. It returns an error if it cannot read the kubeconfig.
func newAuthorizer(name string, c *WebhookConfiguration, counts *counts) (*authorizer, error) {
	if c.ConnectionInfo.Type == inClusterConfig {
		return nil, fmt.Errorf("authorizer %s: kubesim does not run in a cluster: use the connection type %s", name, kubeConfigFile)
	}
	connection, err := kubeconfig.Connect(*c.ConnectionInfo.KubeConfigFile)
	if err != nil {
		return nil, err
	}
	set, err := schema.Load(schema.Default)
	if err != nil {
		return nil, err
	}
	a := &authorizer{name: name, version: c.SubjectAccessReviewVersion, timeout: time.Duration(c.Timeout), connection: connection,
		onError: auth.Decision{Denied: c.FailurePolicy == deny}, cache: newCache(), counts: counts,
		structure: set.Kind(schema.GVK{Group: reviewGroup, Version: "v1", Kind: reviewKind})}
	if *c.CacheAuthorizedRequests {
		a.authorizedTTL = time.Duration(c.AuthorizedTTL)
	}
	if *c.CacheUnauthorizedRequests {
		a.unauthorizedTTL = time.Duration(c.UnauthorizedTTL)
	}
	if a.conditions, _ = compile(field.Path{}, c.MatchConditions); a.version != "v1" && a.version != "v1beta1" {
		return nil, fmt.Errorf("unsupported webhook authorizer version %q, supported versions are \"v1\", \"v1beta1\"", a.version)
	}
	at, err := url.Parse(connection.Server)
	if err != nil {
		return nil, err
	}
	at.RawQuery = url.Values{"timeout": {a.timeout.String()}}.Encode()
	a.url = at.String()
	return a, nil
}

// ForServer implements auth.Authorizer.
func (a *authorizer) ForServer() auth.Authorizer {
	other := *a
	other.cache = newCache()
	return &other
}

// RulesFor implements auth.Authorizer.
func (*authorizer) RulesFor(auth.User, string) (rules []auth.Rule, incomplete bool, err error) {
	return nil, true, errors.New("webhook authorizer does not support user rule resolution")
}

// Authorize implements auth.Authorizer.
func (a *authorizer) Authorize(at auth.Attributes, host auth.Waiter) auth.Decision {
	spec := specOf(at)
	switch matches, err := a.match(spec); {
	case err != nil:
		return a.failed(err)
	case !matches:
		return auth.Decision{}
	}
	key := string(object.JSON(spec))
	status, ok := a.cache.get(key, host.Now())
	if !ok {
		var err error
		if status, err = a.ask(contextOf(at), host, reviewOf(spec, a.version)); err != nil {
			return a.failed(err)
		}
		if mayCache(at) {
			ttl := a.unauthorizedTTL
			if allowed, _ := status.Bool("allowed"); allowed {
				ttl = a.authorizedTTL
			}
			a.cache.add(key, status, host.Now(), ttl)
		}
	}
	d := auth.Decision{Reason: status.String("reason")}
	d.Allowed, _ = status.Bool("allowed")
	if d.Denied, _ = status.Bool("denied"); d.Denied && d.Allowed {
		d.Allowed, d.Err = false, errors.New("webhook subject access review returned both allow and deny response")
	}
	return d
}

// failed returns the decision about a request for which the webhook or a condition fails.
func (a *authorizer) failed(err error) auth.Decision {
	d := a.onError
	d.Err = err
	return d
}

// match reports whether all conditions hold. A condition that does not hold precedes an error of another one.
func (a *authorizer) match(spec map[string]any) (bool, error) {
	if len(a.conditions) == 0 {
		return true, nil
	}
	a.counts.evaluate(a.name)
	var errs []string
	for _, c := range a.conditions {
		switch holds, err := c.Eval(spec); {
		case err != nil:
			errs = append(errs, "cel evaluation error: "+err.Text)
		case holds != true:
			a.counts.exclude(a.name)
			if len(errs) > 0 {
				a.counts.conditionFailed(a.name)
			}
			return false, nil
		}
	}
	if len(errs) > 0 {
		a.counts.conditionFailed(a.name)
		return false, errors.New(field.Aggregate(errs))
	}
	return true, nil
}

// contextOf returns the context of the request that is authorized, or an empty one if a controller sends it.
func contextOf(at auth.Attributes) context.Context {
	if by, ok := at.By.(resource.Asker); ok {
		return by.Context()
	}
	return context.Background()
}

// cachedSizeMax is the size of a request's attributes from which the decision is not cached.
const cachedSizeMax = 10000

// mayCache reports whether the decision about a request may be cached (shouldCache).
func mayCache(at auth.Attributes) bool {
	n := 0
	for _, s := range []string{at.Namespace, at.Verb, at.Group, at.Version, at.Resource, at.Subresource, at.Name, at.Path} {
		n += len(s)
	}
	return n < cachedSizeMax
}

// The webhook is called again after an error that may be temporary (DefaultAuthWebhookRetryBackoff, without its random part).
const (
	attempts    = 5
	firstDelay  = 500 * time.Millisecond
	delayFactor = 1.5
)

// ask sends a review and returns the status in the response. It waits without the Cluster's lock.
func (a *authorizer) ask(ctx context.Context, host auth.Waiter, review []byte) (object.Object, error) {
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		began := host.Now()
		status, again, err := a.try(ctx, host, review)
		result := "success"
		switch {
		case err == nil:
		case ctx.Err() != nil:
			result = "canceled"
		case errors.Is(err, context.DeadlineExceeded):
			result = "timeout"
		default:
			result = "error"
		}
		a.counts.call(a.name, result, host.Now().Sub(began))
		if err == nil || !again || attempt == attempts {
			if err != nil && !a.onError.Denied && ctx.Err() == nil {
				a.counts.failOpen(a.name, result)
			}
			return status, err
		}
		host.Unlocked(func() { host.Wait(ctx, delay) })
		delay = time.Duration(float64(delay) * delayFactor)
	}
}

// try sends a review once, and again while the webhook requests that. again reports whether a failed call may be repeated.
func (a *authorizer) try(ctx context.Context, host auth.Waiter, review []byte) (status object.Object, again bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer host.After(a.timeout, func() { cancel(context.DeadlineExceeded) })()
	code := 0
	var call webhook.Call = func(ctx context.Context, _ *webhook.Request) (*webhook.Answer, error) {
		answer, err := a.post(ctx, host, review)
		if answer != nil {
			code = answer.Code
		}
		return answer, err
	}
	var body []byte
	host.Unlocked(func() { body, err = call.Ask(ctx, nil) })
	if err != nil {
		return nil, code == http.StatusInternalServerError || code == http.StatusGatewayTimeout || code == http.StatusTooManyRequests ||
			errors.Is(err, syscall.ECONNRESET), err
	}
	answer, err := webhook.Read(body, schema.GVK{Group: reviewGroup, Version: a.version, Kind: reviewKind}, a.structure)
	return answer.At("status"), false, err
}

// postsMax is the largest number of times that a review is sent if the webhook sends the header Retry-After (client-go).
const postsMax = 11

// post sends a review and returns the response. It is called without the lock.
func (a *authorizer) post(ctx context.Context, host auth.Waiter, review []byte) (*webhook.Answer, error) {
	for n := 1; ; n++ {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(review))
		if err != nil {
			return nil, err
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, */*")
		res, err := (&http.Client{Transport: a.connection}).Do(q)
		if err != nil {
			return nil, a.ended(ctx, err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return nil, a.ended(ctx, err)
		}
		seconds, wrong := strconv.Atoi(res.Header.Get("Retry-After"))
		if (res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusInternalServerError) && wrong == nil && n < postsMax {
			host.Wait(ctx, time.Duration(seconds)*time.Second)
			continue
		}
		return &webhook.Answer{Code: res.StatusCode, ContentType: res.Header.Get("Content-Type"), Body: body}, nil
	}
}

// ended returns the error of a request, with the cause if its context is done.
func (a *authorizer) ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !strings.Contains(err.Error(), cause.Error()) {
		return fmt.Errorf("Post %q: %w", a.url, cause) //nolint:staticcheck // net/http's text
	}
	return err
}
