package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/schema"
)

// Level is the amount of data that an event contains.
type Level string

const (
	None            Level = "None"
	Metadata        Level = "Metadata"
	Request         Level = "Request"
	RequestResponse Level = "RequestResponse"
)

// Policy decides which requests are recorded (audit.k8s.io/v1).
type Policy struct {
	Metadata          map[string]any `json:"metadata,omitempty"`
	Rules             []PolicyRule   `json:"rules"`
	OmitStages        []string       `json:"omitStages,omitempty"`
	OmitManagedFields bool           `json:"omitManagedFields,omitempty"`
}

// PolicyRule is the rule for requests that match all of its fields. An empty field matches every request.
type PolicyRule struct {
	Level             Level            `json:"level"`
	Users             []string         `json:"users,omitempty"`
	UserGroups        []string         `json:"userGroups,omitempty"`
	Verbs             []string         `json:"verbs,omitempty"`
	Resources         []GroupResources `json:"resources,omitempty"`
	Namespaces        []string         `json:"namespaces,omitempty"`
	NonResourceURLs   []string         `json:"nonResourceURLs,omitempty"`
	OmitStages        []string         `json:"omitStages,omitempty"`
	OmitManagedFields *bool            `json:"omitManagedFields,omitempty"`
}

// GroupResources are resources of an API group.
type GroupResources struct {
	Group         string   `json:"group,omitempty"`
	Resources     []string `json:"resources,omitempty"`
	ResourceNames []string `json:"resourceNames,omitempty"`
}

// readPolicy reads the file of a policy. Its errors are those of kube-apiserver (k8s.io/apiserver/pkg/audit/policy).
func readPolicy(file string) (*Policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("loading audit policy file: failed to read file path %q: %w", file, err)
	}
	p, err := parsePolicy(text)
	if err != nil {
		return nil, fmt.Errorf("loading audit policy file: %w: from file %s", err, file)
	}
	return p, nil
}

// group is the API group of a policy.
const group = "audit.k8s.io"

// parsePolicy parses a policy in YAML or JSON. It returns an error with kube-apiserver's text if the policy is invalid
// or has no rules.
func parsePolicy(text []byte) (*Policy, error) {
	text, err := codec.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("failed decoding: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	if err := checkKind(text); err != nil {
		return nil, err
	}
	p := &Policy{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("failed decoding: %s", strings.ReplaceAll(err.Error(), "audit.", "v1."))
	}
	if errs := p.validate(); len(errs) > 0 {
		return nil, errors(errs.Text())
	}
	if len(p.Rules) == 0 {
		return nil, errors("loaded illegal policy with 0 rules")
	}
	return p, nil
}

// errors is an error with a fixed message.
type errors string

func (e errors) Error() string { return string(e) }

// checkKind returns an error unless the apiVersion and the kind are those of a Policy. The text is kube-apiserver's.
func checkKind(text []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("failed decoding: couldn't get version/kind; json parse error: %w", err)
	}
	if strings.Count(head.APIVersion, "/") > 1 {
		return fmt.Errorf("failed decoding: unexpected GroupVersion string: %s", head.APIVersion)
	}
	kind := schema.ParseGVK(head.APIVersion, head.Kind)
	if kind.Kind == "" {
		kind.Kind = "Policy"
	}
	if head.APIVersion == "" {
		kind.Group, kind.Version = group, "__internal"
	}
	kinds := []string{"Event", "EventList", "Policy", "PolicyList"}
	switch {
	case kind.Group != group || kind.Version != "v1" && kind.Version != "__internal" || !slices.Contains(kinds, kind.Kind):
		return fmt.Errorf("failed decoding: no kind %q is registered for version %q in scheme %q", kind.Kind, kind.GV(), "pkg/runtime/scheme.go:111")
	case kind.Version != "v1":
		return fmt.Errorf("unknown group version field %s in policy", kind)
	case kind.Kind != "Policy":
		return fmt.Errorf("failed decoding: converting (v1.%s) to (audit.Policy): unknown conversion", kind.Kind)
	}
	return nil
}

var (
	levels = []string{string(None), string(Metadata), string(Request), string(RequestResponse)}
	stages = []string{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"}
)

// validate returns the errors of a policy.
func (p *Policy) validate() (errs field.ErrorList) {
	errs = checkStages(p.OmitStages, field.Root("omitStages"))
	for i := range p.Rules {
		errs = append(errs, p.Rules[i].validate(field.Root("rules").Index(i))...)
	}
	return errs
}

func (r *PolicyRule) validate(at field.Path) (errs field.ErrorList) {
	switch {
	case r.Level == "":
		errs = append(errs, field.Required(at.Child("level"), ""))
	case !slices.Contains(levels, string(r.Level)):
		errs = append(errs, field.NotSupported(at.Child("level"), string(r.Level), levels...))
	}
	urls := at.Child("nonResourceURLs")
	for i, url := range r.NonResourceURLs {
		if url == "*" {
			continue
		}
		if !strings.HasPrefix(url, "/") {
			errs = append(errs, field.Invalid(urls.Index(i), url, "non-resource URL rules must begin with a '/' character"))
		}
		if url != "" && strings.Contains(url[:len(url)-1], "*") {
			errs = append(errs, field.Invalid(urls.Index(i), url, "non-resource URL wildcards '*' must be the final character of the rule"))
		}
	}
	for _, g := range r.Resources {
		if texts := field.NameDNSSubdomain(g.Group, false); g.Group != "" && g.Group != "*" && len(texts) > 0 {
			errs = append(errs, field.Invalid(at.Child("resources", "group"), g.Group, strings.Join(texts, ",")))
		}
		if len(g.ResourceNames) > 0 && len(g.Resources) == 0 {
			errs = append(errs, field.Invalid(at.Child("resources", "resourceNames"), list(g.ResourceNames), "using resourceNames requires at least one resource"))
		}
	}
	errs = append(errs, checkStages(r.OmitStages, at.Child("omitStages"))...)
	if len(r.NonResourceURLs) > 0 && len(r.Resources)+len(r.Namespaces) > 0 {
		errs = append(errs, field.Invalid(urls, list(r.NonResourceURLs), "rules cannot apply to both regular resources and non-resource URLs"))
	}
	return errs
}

func checkStages(list []string, at field.Path) (errs field.ErrorList) {
	for i, stage := range list {
		if !slices.Contains(stages, stage) {
			errs = append(errs, field.Invalid(at.Index(i), stage, "allowed stages are "+strings.Join(stages, ",")))
		}
	}
	return errs
}

// list converts strings to the form in which errors list supported values.
func list(values []string) (all []any) {
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// decision contains the level, stages and options with which a policy records a request.
type decision struct {
	level             Level
	omitStages        []string
	omitManagedFields bool
}

// decide returns the decision of the first rule that matches a request.
func (p *Policy) decide(at *auth.Attributes) decision {
	for i := range p.Rules {
		if r := &p.Rules[i]; r.matches(at) {
			d := decision{r.Level, slices.Concat(p.OmitStages, r.OmitStages), p.OmitManagedFields}
			if r.OmitManagedFields != nil {
				d.omitManagedFields = *r.OmitManagedFields
			}
			return d
		}
	}
	return decision{level: None}
}

func (r *PolicyRule) matches(at *auth.Attributes) bool {
	member := func(group string) bool { return slices.Contains(at.User.Groups, group) }
	switch {
	case len(r.Users) > 0 && (at.User.Name == "" || !slices.Contains(r.Users, at.User.Name)),
		len(r.UserGroups) > 0 && !slices.ContainsFunc(r.UserGroups, member),
		len(r.Verbs) > 0 && !slices.Contains(r.Verbs, at.Verb):
		return false
	case len(r.Namespaces)+len(r.Resources) > 0:
		return at.IsResource && (len(r.Namespaces) == 0 || slices.Contains(r.Namespaces, at.Namespace)) &&
			(len(r.Resources) == 0 || slices.ContainsFunc(r.Resources, func(g GroupResources) bool { return g.match(at) }))
	case len(r.NonResourceURLs) > 0:
		return !at.IsResource && slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			return url == at.Path || strings.HasSuffix(url, "*") && strings.HasPrefix(at.Path, strings.TrimRight(url, "*"))
		})
	}
	return true
}

func (g *GroupResources) match(at *auth.Attributes) bool {
	if g.Group != at.Group && g.Group != "*" {
		return false
	}
	name := at.Resource
	if at.Subresource != "" {
		name += "/" + at.Subresource
	}
	return len(g.Resources) == 0 || (len(g.ResourceNames) == 0 || slices.Contains(g.ResourceNames, at.Name)) &&
		slices.ContainsFunc(g.Resources, func(r string) bool {
			return r == name || r == "*" || at.Subresource != "" && r == "*/"+at.Subresource || r == at.Resource+"/*"
		})
}
