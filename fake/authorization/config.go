package authorization

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

// kind is the kind of the file.
var kind = configfile.Kind{Group: "apiserver.config.k8s.io", Kind: "AuthorizationConfiguration", Versions: []string{"v1", "v1beta1", "v1alpha1"}}

// Configuration is an AuthorizationConfiguration (apiserver.config.k8s.io/v1).
type Configuration struct {
	Authorizers []AuthorizerConfiguration `json:"authorizers"`
}

// AuthorizerConfiguration configures an authorizer of the chain.
type AuthorizerConfiguration struct {
	Type    string                `json:"type"`
	Name    string                `json:"name"`
	Webhook *WebhookConfiguration `json:"webhook,omitempty"`
}

// WebhookConfiguration configures an authorizer of the type Webhook.
type WebhookConfiguration struct {
	AuthorizedTTL             configfile.Duration `json:"authorizedTTL"`
	CacheAuthorizedRequests   *bool               `json:"cacheAuthorizedRequests,omitempty"`
	UnauthorizedTTL           configfile.Duration `json:"unauthorizedTTL"`
	CacheUnauthorizedRequests *bool               `json:"cacheUnauthorizedRequests,omitempty"`

	Timeout       configfile.Duration `json:"timeout"`
	FailurePolicy string              `json:"failurePolicy"` // NoOpinion or Deny

	SubjectAccessReviewVersion               string `json:"subjectAccessReviewVersion"`
	MatchConditionSubjectAccessReviewVersion string `json:"matchConditionSubjectAccessReviewVersion"`

	ConnectionInfo  WebhookConnectionInfo   `json:"connectionInfo"`
	MatchConditions []WebhookMatchCondition `json:"matchConditions"`
}

// WebhookConnectionInfo describes how the server reaches a webhook.
type WebhookConnectionInfo struct {
	Type           string  `json:"type"` // KubeConfigFile or InClusterConfig
	KubeConfigFile *string `json:"kubeConfigFile"`
}

// WebhookMatchCondition is a condition for calling a webhook, in CEL.
type WebhookMatchCondition struct {
	Expression string `json:"expression"`
}

const (
	webhookType = "Webhook"
	abacType    = "ABAC"

	noOpinion = "NoOpinion"
	deny      = "Deny"

	kubeConfigFile  = "KubeConfigFile"
	inClusterConfig = "InClusterConfig"
)

// types are the types of authorizers, sorted.
var types = []string{abacType, "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", webhookType}

// parse decodes and validates the contents of a file. required are types that the file must have. The errors are kube-apiserver's
// (pkg/kubeapiserver/authorizer.LoadAndValidateData).
func parse(data []byte, required []string) (*Configuration, error) {
	c := &Configuration{}
	if _, err := kind.Decode(data, c); err != nil {
		return nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: %w", err)
	}
	c.setDefaults()
	if errs := c.validate(); len(errs) > 0 {
		return nil, errors.New(errs.Text())
	}
	var wrong, seen []string
	for _, a := range c.Authorizers {
		if a.Type == webhookType {
			continue
		}
		seen = append(seen, a.Type)
		if want := strings.ToLower(a.Type); want != a.Name {
			wrong = append(wrong, fmt.Sprintf("expected name %s for authorizer %s instead of %s", want, a.Type, a.Name))
		}
	}
	if missing := slices.DeleteFunc(slices.Clone(required), func(t string) bool { return slices.Contains(seen, t) }); len(missing) > 0 {
		wrong = append(wrong, fmt.Sprintf("missing required types: %v", missing))
	}
	if len(wrong) > 0 {
		return nil, errors.New(field.Aggregate(wrong))
	}
	return c, nil
}

// setDefaults sets the defaults of webhooks (k8s.io/apiserver/pkg/apis/apiserver/v1.SetDefaults_WebhookConfiguration).
func (c *Configuration) setDefaults() {
	yes := true
	for _, a := range c.Authorizers {
		w := a.Webhook
		if w == nil {
			continue
		}
		if w.AuthorizedTTL == 0 {
			w.AuthorizedTTL = configfile.Duration(authorizedTTL)
		}
		if w.UnauthorizedTTL == 0 {
			w.UnauthorizedTTL = configfile.Duration(unauthorizedTTL)
		}
		if w.CacheAuthorizedRequests == nil {
			w.CacheAuthorizedRequests = &yes
		}
		if w.CacheUnauthorizedRequests == nil {
			w.CacheUnauthorizedRequests = &yes
		}
	}
}

// validate returns the errors of a configuration (k8s.io/apiserver/pkg/apis/apiserver/validation.ValidateAuthorizationConfiguration).
func (c *Configuration) validate() (errs field.ErrorList) {
	root := field.Root("authorizers")
	if len(c.Authorizers) == 0 {
		return field.ErrorList{field.Required(root, "at least one authorization mode must be defined")}
	}
	seenTypes, seenNames := map[string]bool{}, map[string]bool{}
	for i, a := range c.Authorizers {
		p := root.Index(i)
		switch {
		case a.Type == "":
			errs = append(errs, field.Required(p.Child("type"), ""))
			continue
		case !slices.Contains(types, a.Type):
			errs = append(errs, field.NotSupported(p.Child("type"), a.Type, types...))
			continue
		case seenTypes[a.Type] && a.Type != webhookType:
			errs = append(errs, field.Duplicate(p.Child("type"), a.Type))
			continue
		}
		seenTypes[a.Type] = true
		switch wrong := field.DNS1123Subdomain(a.Name); {
		case a.Name == "":
			errs = append(errs, field.Required(p.Child("name"), ""))
		case seenNames[a.Name]:
			errs = append(errs, field.Duplicate(p.Child("name"), a.Name))
		case len(wrong) > 0:
			errs = append(errs, field.Invalid(p.Child("name"), a.Name, "authorizer name is invalid: "+strings.Join(wrong, ", ")))
		}
		seenNames[a.Name] = true
		switch {
		case a.Type == webhookType && a.Webhook == nil:
			errs = append(errs, field.Required(p.Child("webhook"), "required when type=Webhook"))
		case a.Type == webhookType:
			errs = append(errs, a.Webhook.validate(p)...)
		case a.Webhook != nil:
			errs = append(errs, field.Invalid(p.Child("webhook"), "non-null", "may only be specified when type=Webhook"))
		}
	}
	return errs
}

// validate returns the errors of a webhook (ValidateWebhookConfiguration). p is the path of its authorizer, as in the real server's
// errors.
func (w *WebhookConfiguration) validate(p field.Path) (errs field.ErrorList) {
	switch timeout := time.Duration(w.Timeout); {
	case timeout == 0:
		errs = append(errs, field.Required(p.Child("timeout"), ""))
	case timeout > 30*time.Second || timeout < 0:
		errs = append(errs, field.Invalid(p.Child("timeout"), timeout.String(), "must be > 0s and <= 30s"))
	}
	if ttl := time.Duration(w.AuthorizedTTL); ttl < 0 {
		errs = append(errs, field.Invalid(p.Child("authorizedTTL"), ttl.String(), "must be > 0s"))
	}
	if ttl := time.Duration(w.UnauthorizedTTL); ttl < 0 {
		errs = append(errs, field.Invalid(p.Child("unauthorizedTTL"), ttl.String(), "must be > 0s"))
	}
	errs = append(errs, oneOf(p.Child("subjectAccessReviewVersion"), w.SubjectAccessReviewVersion, "v1", "v1beta1")...)
	switch at := p.Child("matchConditionSubjectAccessReviewVersion"); {
	case w.MatchConditionSubjectAccessReviewVersion != "":
		errs = append(errs, oneOf(at, w.MatchConditionSubjectAccessReviewVersion, "v1")...)
	case len(w.MatchConditions) > 0:
		errs = append(errs, field.Required(at, "required if match conditions are specified"))
	}
	errs = append(errs, oneOf(p.Child("failurePolicy"), w.FailurePolicy, noOpinion, deny)...)
	errs = append(errs, w.ConnectionInfo.validate(p.Child("connectionInfo"))...)
	_, wrong := compile(p.Child("matchConditions"), w.MatchConditions)
	return append(errs, wrong...)
}

// oneOf returns an error if a value is empty or not one of the allowed ones.
func oneOf(p field.Path, value string, allowed ...string) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(p, "")}
	case !slices.Contains(allowed, value):
		return field.ErrorList{field.NotSupported(p, value, allowed...)}
	}
	return nil
}

// validate returns the errors of the fields that describe how the webhook is reached.
func (c *WebhookConnectionInfo) validate(p field.Path) field.ErrorList {
	at, name := p.Child("kubeConfigFile"), ""
	if c.KubeConfigFile != nil {
		name = *c.KubeConfigFile
	}
	invalid := func(detail string) field.ErrorList { return field.ErrorList{field.Invalid(at, name, detail)} }
	switch c.Type {
	case kubeConfigFile:
		info, err := os.Stat(name)
		switch {
		case name == "":
			return field.ErrorList{field.Required(at, "")}
		case !filepath.IsAbs(name):
			return invalid("must be an absolute path")
		case err != nil:
			return invalid(fmt.Sprintf("error loading file: %v", err))
		case !info.Mode().IsRegular():
			return invalid("must be a regular file")
		}
	case inClusterConfig:
		if c.KubeConfigFile != nil {
			return invalid("can only be set when type=KubeConfigFile")
		}
	case "":
		return field.ErrorList{field.Required(p.Child("type"), "")}
	default:
		value := struct { // with the names that the real server prints
			Type           string
			KubeConfigFile *string
		}{c.Type, c.KubeConfigFile}
		return field.ErrorList{field.NotSupported(p.Child("type"), value, inClusterConfig, kubeConfigFile)}
	}
	return nil
}

// conditionsMax is the largest number of match conditions of a webhook.
const conditionsMax = 64

// compile compiles match conditions (compileMatchConditions).
func compile(p field.Path, conditions []WebhookMatchCondition) (all []*cel.Expression, errs field.ErrorList) {
	if n := len(conditions); n > conditionsMax {
		return nil, field.ErrorList{field.TooMany(p, n, conditionsMax)}
	}
	seen := map[string]bool{}
	for i, c := range conditions {
		at := p.Index(i).Child("expression")
		switch {
		case strings.TrimSpace(c.Expression) == "":
			errs = append(errs, field.Required(at, ""))
			continue
		case seen[c.Expression]:
			errs = append(errs, field.Duplicate(at, c.Expression))
			continue
		}
		seen[c.Expression] = true
		e, err := cel.CompileExpression(expr.Environment{}, expr.AccessReview, c.Expression, expr.Bool)
		if err != nil {
			errs = append(errs, field.Invalid(at, c.Expression, err.Text))
			continue
		}
		all = append(all, e)
	}
	return all, errs
}
