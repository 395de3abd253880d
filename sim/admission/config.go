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

// Config is the configuration of plugins in a file of --admission-control-config-file.
type Config struct {
	PodSecurity PodSecurity       `json:",omitzero"`
	Limited     []LimitedResource `json:",omitempty"` // ResourceQuota, limitedResources
}

// PodSecurity is the configuration of the plugin PodSecurity.
type PodSecurity struct {
	// Defaults apply to a namespace without a label: enforce, enforce-version, audit, audit-version, warn and warn-version. The
	// default of a mode is privileged, that of a version latest.
	Defaults map[string]string `json:",omitempty"`
	// Usernames, Namespaces and RuntimeClasses are exempt.
	Usernames, Namespaces, RuntimeClasses []string `json:",omitempty"`
}

// LimitedResource describes resources that can be used only if a ResourceQuota limits them.
type LimitedResource struct {
	Group, Resource string
	Contains        []string // parts of the names of limits
	Scopes          []any    // requirements of scopes, as in a ResourceQuota
}

// modes are the modes of PodSecurity.
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

// exempts reports whether no pod of a write is checked.
func (p *PodSecurity) exempts(a *Attributes) bool {
	return slices.Contains(p.Namespaces, a.Namespace) || slices.Contains(p.Usernames, a.User.Name)
}

// exemption warns that the labels of an exempt namespace do nothing.
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

// limits are the amounts of a write that a quota has to cover.
type limits struct {
	names  []string
	scopes []any
}

// limited returns the amounts of a write that a quota has to cover.
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

// matching returns the requirements of scopes that an object meets.
func matching(m *resource.Meter, requirements []any, obj object.Object) (met []any) {
	for _, r := range requirements {
		if m.Within([]any{r}, obj) {
			met = append(met, r)
		}
	}
	return met
}

// covered removes the amounts that a quota limits from the amounts that have to be covered.
func (l *limits) covered(names []string) {
	l.names = slices.DeleteFunc(l.names, func(name string) bool { return slices.Contains(names, name) })
}

// inScopes takes the scopes of a quota that the object meets from what has to be covered.
func (l *limits) inScopes(met []any) {
	l.scopes = slices.DeleteFunc(l.scopes, func(v any) bool {
		return slices.ContainsFunc(met, func(other any) bool {
			return object.As(other).String("scopeName") == object.As(v).String("scopeName")
		})
	})
}

// uncovered refuses a write of which no quota covers something that has to be covered.
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
