package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
)

// Rule is one rule of a Role or ClusterRole.
type Rule = auth.Rule

// Permissions compares the rules that a user needed in a run with the rules that roles grant.
type Permissions struct {
	// User is the name of the user.
	User string
	// Used contains the rules that the run needed, one per resource. A role with exactly these rules is sufficient.
	// list implies watch and vice versa, because informers need both.
	Used []Rule
	// Missing contains the needed rules that roles do not grant, whether or not the server enforces RBAC (auth.RBAC).
	Missing []Rule
	// Unused contains the rules that roles grant but the run did not need, one for each resource and verb. It also
	// contains rules with a *, which grant more than a run can need. Roles that every user has do not count.
	Unused []Rule

	cached []string // resources that were listed and watched, but never read individually
}

// Permissions returns the rules that a user needed since the server started or, without a test of RunT, since the first
// call to Permissions. It omits rules that every user has, such as those for discovery. Together with Server.As or any
// client that authenticates, a test can prove that a role is sufficient and minimal:
//
//	p := srv.Permissions("system:serviceaccount:default:operator")
//	is.Equal(p.Missing, nil)
//	is.Equal(p.Unused, nil)
//
// p.ClusterRole returns such a role. Permissions does not contain rules that only other runs need, so a test should
// also cover the operator's deletions and errors.
func (o *Oracles) Permissions(user string) *Permissions {
	w := o.observer.begun()
	w.mu.Lock()
	n := w.rights.users[user]
	var questions []auth.Attributes
	if n != nil {
		questions = slices.Clone(n.questions)
	}
	w.mu.Unlock()
	questions = w.special(questions)
	p := &Permissions{User: user, Used: merged(questions, true)}
	allowed, _ := w.cluster.AllowedByRoles(auth.User{}, paired(questions), nil)
	var missing []auth.Attributes
	for i, at := range paired(questions) {
		if !allowed[i] {
			missing = append(missing, at)
		}
	}
	p.Missing = merged(missing, false)
	p.Unused = w.unused(user, paired(questions))
	p.cached = cachedOnly(questions)
	return p
}

// special returns the requests that not every authenticated user may send.
func (w *Observer) special(all []auth.Attributes) (some []auth.Attributes) {
	everybody := slices.Clone(all)
	for i := range everybody {
		everybody[i].User = auth.User{Groups: []string{"system:authenticated"}}
	}
	allowed, _ := w.cluster.AllowedByRoles(auth.User{}, everybody, nil)
	for i, at := range all {
		if !allowed[i] {
			some = append(some, at)
		}
	}
	return some
}

// paired adds a watch to each list and a list to each watch.
func paired(all []auth.Attributes) []auth.Attributes {
	out := slices.Clone(all)
	for _, at := range all {
		switch at.Verb {
		case "list":
			at.Verb = "watch"
		case "watch":
			at.Verb = "list"
		default:
			continue
		}
		if !slices.ContainsFunc(out, func(x auth.Attributes) bool { return questionOf(x) == questionOf(at) }) {
			out = append(out, at)
		}
	}
	return out
}

// merged returns one rule for each resource or path, with all its verbs, sorted by name.
func merged(all []auth.Attributes, pairs bool) (rules []Rule) {
	if pairs {
		all = paired(all)
	}
	for _, at := range all {
		one := auth.Needed(at)
		i := slices.IndexFunc(rules, func(r Rule) bool {
			return slices.Equal(r.APIGroups, one.APIGroups) && slices.Equal(r.Resources, one.Resources) &&
				slices.Equal(r.NonResourceURLs, one.NonResourceURLs)
		})
		if i < 0 {
			rules = append(rules, one)
		} else if !slices.Contains(rules[i].Verbs, at.Verb) {
			rules[i].Verbs = append(rules[i].Verbs, at.Verb)
		}
	}
	for i := range rules {
		slices.Sort(rules[i].Verbs)
	}
	slices.SortFunc(rules, func(a, b Rule) int {
		return cmp.Or(slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Resources, b.Resources),
			slices.Compare(a.NonResourceURLs, b.NonResourceURLs))
	})
	return rules
}

// unused returns the rules that roles grant to the user itself, not to its groups, and that no request needed.
func (w *Observer) unused(user string, questions []auth.Attributes) (rules []Rule) {
	namespaces := []string{""}
	_ = w.Inspect(func(view View) error { // the function does not return an error
		for _, obj := range view.List("namespaces", "") {
			namespaces = append(namespaces, obj.Name())
		}
		return nil
	})
	_, held := w.cluster.AllowedByRoles(auth.User{Name: user}, nil, namespaces)
	for _, namespace := range namespaces {
		list := held[namespace]
		if namespace != "" {
			list = list[len(held[""]):] // the list begins with the cluster-wide rules
		}
		for _, r := range list {
			for _, unit := range r.Split() {
				if !needed(unit, namespace, questions) {
					rules = append(rules, unit)
				}
			}
		}
	}
	return rules
}

// needed reports whether any of the requests needed unit, a rule with one resource and verb. If namespace is not "",
// only requests in that namespace count.
func needed(unit Rule, namespace string, questions []auth.Attributes) bool {
	for _, list := range [][]string{unit.Verbs, unit.APIGroups, unit.Resources, unit.NonResourceURLs} {
		if slices.Contains(list, "*") {
			return false
		}
	}
	return slices.ContainsFunc(questions, func(at auth.Attributes) bool {
		return unit.Allows(at) && (namespace == "" || namespace == at.Namespace)
	})
}

// cachedOnly returns the resources that were listed and watched, but never read individually.
func cachedOnly(all []auth.Attributes) (names []string) {
	got := map[string]bool{}
	for _, at := range all {
		if at.Verb == "get" {
			got[at.Resource+"."+at.Group] = true
		}
	}
	for _, r := range merged(all, true) {
		if len(r.Resources) == 1 && slices.Contains(r.Verbs, "watch") && !got[r.Resources[0]+"."+r.APIGroups[0]] {
			names = append(names, r.Resources[0])
		}
	}
	return names
}

// ClusterRole returns a role with exactly the used rules, as YAML.
func (p *Permissions) ClusterRole() string {
	var b strings.Builder
	name := p.User[strings.LastIndexByte(p.User, ':')+1:]
	fmt.Fprintf(&b, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: %s\n", name)
	if len(p.cached) > 0 {
		fmt.Fprintf(&b, "# Without get, because these are read from a cache, which lists and watches: %s.\n", strings.Join(p.cached, ", "))
	}
	b.WriteString("rules:")
	if len(p.Used) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, r := range p.Used {
		lead := "- "
		for _, f := range []struct {
			name   string
			values []string
		}{{"apiGroups", r.APIGroups}, {"resources", r.Resources}, {"nonResourceURLs", r.NonResourceURLs}, {"verbs", r.Verbs}} {
			if len(f.values) == 0 {
				continue
			}
			fmt.Fprintf(&b, "%s%s: [%s]\n", lead, f.name, quoted(f.values))
			lead = "  "
		}
	}
	return b.String()
}

func quoted(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		if out[i] = v; v == "" {
			out[i] = `""`
		}
	}
	return strings.Join(out, ", ")
}

// questionsMax is the number of recorded requests per user above which object names are no longer distinguished.
const questionsMax = 10_000

// rights records the access that each user needed, without duplicates.
type rights struct {
	users map[string]*needs
}

type needs struct {
	questions []auth.Attributes
	seen      map[question]bool
}

// question is the comparable part of an authorization request.
type question struct{ verb, group, resource, subresource, namespace, name, path string }

func questionOf(at auth.Attributes) question {
	return question{at.Verb, at.Group, at.Resource, at.Subresource, at.Namespace, at.Name, at.Path}
}

// add records an authorization request.
func (r *rights) add(at auth.Attributes) {
	n := r.users[at.User.Name]
	if n == nil {
		n = &needs{seen: map[question]bool{}}
		if r.users == nil {
			r.users = map[string]*needs{}
		}
		r.users[at.User.Name] = n
	}
	q := questionOf(at)
	if at.IsResource {
		q.path = ""
	}
	if n.seen[q] {
		return
	}
	if len(n.questions) >= questionsMax {
		q.name = ""
		if at.Name = ""; n.seen[q] {
			return
		}
	}
	n.seen[q] = true
	n.questions = append(n.questions, at)
}
