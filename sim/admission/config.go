package admission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Config is the configuration of the plugins, read from the files of --admission-control-config-file.
type Config struct {
	PodSecurity PodSecurity       `json:",omitzero"`
	Limited     []LimitedResource `json:",omitempty"` // ResourceQuota, limitedResources
}

// PodSecurity configures the plugin PodSecurity.
type PodSecurity struct {
	// Defaults apply to a namespace that lacks a label. The keys are enforce, enforce-version, audit, audit-version, warn
	// and warn-version. The default of a mode is privileged, that of a version is latest.
	Defaults map[string]string `json:",omitempty"`
	// Usernames, Namespaces and RuntimeClasses are exempt from all checks.
	Usernames, Namespaces, RuntimeClasses []string `json:",omitempty"`
}

// LimitedResource describes resources that can be used only if a ResourceQuota covers them.
type LimitedResource struct {
	Group, Resource string
	Contains        []string // substrings of the names in a quota
	Scopes          []any    // scope requirements, as in a ResourceQuota
}

// modes are the modes of the plugin PodSecurity.
var modes = []string{"enforce", "audit", "warn"}

// Check returns an error if the configuration is invalid.
func (p *PodSecurity) Check() error {
	labels := map[string]string{}
	for name, value := range p.Defaults { // order does not matter
		labels[podSecurityPrefix+name] = value
	}
	_, errs := PodSecurity{}.policy(labels)
	if len(errs) > 0 {
		text := strings.ReplaceAll(errs.Text(), "metadata.labels["+podSecurityPrefix, "defaults.")
		return errors.New(strings.ReplaceAll(text, "]: Invalid", ": Invalid"))
	}
	for _, list := range []struct {
		name   string
		values []string
		check  func(string) []string
	}{{"namespaces", p.Namespaces, field.DNS1123Label}, {"runtimeClasses", p.RuntimeClasses, field.DNS1123Subdomain}, {"usernames", p.Usernames, named}} {
		for i, value := range list.values {
			at := field.Root("exemptions").Child(list.name).Index(i)
			if wrong := list.check(value); len(wrong) > 0 {
				return errors.New(field.ErrorList{field.Invalid(at, value, strings.Join(wrong, ", "))}.Text())
			}
			if slices.Contains(list.values[:i], value) {
				return errors.New(field.ErrorList{field.Duplicate(at, value)}.Text())
			}
		}
	}
	return nil
}

func named(name string) []string {
	if name == "" {
		return []string{"username must not be empty"}
	}
	return nil
}

// exempts returns the reason why a write is exempt from all checks, namespace or user, or "" if it is not exempt.
func (p *PodSecurity) exempts(a *Attributes) string {
	switch {
	case slices.Contains(p.Namespaces, a.Namespace):
		return "namespace"
	case slices.Contains(p.Usernames, a.User.Name):
		return "user"
	}
	return ""
}

// exemption warns that the Pod Security labels of an exempt namespace have no effect.
func (p *PodSecurity) exemption(a *Attributes, policy securityPolicy) {
	defaults, _ := p.policy(nil)
	modesOf := func(s securityPolicy) []security { return []security{s.enforce, s.audit, s.warn} }
	all := modesOf(policy)
	harmless := !slices.ContainsFunc(all, func(s security) bool { return s.level != privileged })
	if harmless || slices.Equal(all, modesOf(defaults)) {
		return
	}
	var said []string
	labels := a.Object.Labels()
	for i, mode := range modes {
		_, level := labels[podSecurityPrefix+mode]
		_, version := labels[podSecurityPrefix+mode+"-version"]
		if all[i].level != privileged && (level || version) {
			said = append(said, mode+"="+all[i].String())
		}
	}
	a.Warn(fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (%s) will be ignored", a.Object.Name(), strings.Join(said, ", ")))
}

// limits holds the names of the amounts, and the scopes, of a write that a quota must cover.
type limits struct {
	names  []string
	scopes []any
}

// limited returns the amounts and scopes of a write that a quota must cover according to the configuration.
func limited(config []LimitedResource, m *resource.Meter, a *Attributes) (l limits) {
	for _, r := range config {
		l.scopes = append(l.scopes, matching(m, r.Scopes, a.Object)...)
		if r.Group != a.Definition.Group || r.Resource != a.Definition.Resource {
			continue
		}
		uses := m.Amounts(a.Context, a.Object)
		for _, name := range uses.Names() {
			part := func(part string) bool { return strings.Contains(name, part) }
			if uses[name].Sign() > 0 && slices.ContainsFunc(r.Contains, part) && !slices.Contains(l.names, name) {
				l.names = append(l.names, name)
			}
		}
	}
	slices.Sort(l.names)
	return l
}

// matching returns those of the given scope requirements that an object meets.
func matching(m *resource.Meter, requirements []any, obj object.Object) (met []any) {
	for _, r := range requirements {
		if m.Within([]any{r}, obj) {
			met = append(met, r)
		}
	}
	return met
}

// covered removes the amounts whose names a quota contains.
func (l *limits) covered(names []string) {
	l.names = slices.DeleteFunc(l.names, func(name string) bool { return slices.Contains(names, name) })
}

// inScopes removes the scopes in met, which a quota covers.
func (l *limits) inScopes(met []any) {
	l.scopes = slices.DeleteFunc(l.scopes, func(v any) bool {
		return slices.ContainsFunc(met, func(other any) bool {
			return object.As(other).String("scopeName") == object.As(v).String("scopeName")
		})
	})
}

// uncovered returns an error if amounts or scopes remain that no quota covers, and nil otherwise.
func (l *limits) uncovered(a *Attributes) *status.Status {
	if len(l.names) > 0 {
		return a.refuse("insufficient quota to consume: %s", strings.Join(l.names, ","))
	}
	if len(l.scopes) == 0 {
		return nil
	}
	var texts []string
	for _, v := range l.scopes {
		o := object.As(v)
		texts = append(texts, fmt.Sprintf("{%s %s %v}", o.String("scopeName"), o.String("operator"), o.Strings("values")))
	}
	return status.Plain("insufficient quota to match these scopes: [%s]", strings.Join(texts, " "))
}
