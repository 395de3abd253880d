//go:build !js

package boot

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// gatesText lists the rules that feature gates add to the default roles (rbac/bootstrappolicy), one role per line. If the role does not
// exist without the gate, it is created with a binding: for the service account of a controller, or for the group.
//
//go:embed gates.jsonl
var gatesText string

// controllerRole is the beginning of the names of controllers' roles.
const controllerRole = "system:controller:"

// gatedRole is a line of gatesText.
type gatedRole struct{ object.Object }

// gatedRoles returns the parsed lines.
var gatedRoles = sync.OnceValue(func() (all []gatedRole) {
	for line := range strings.Lines(gatesText) {
		all = append(all, gatedRole{must(object.Parse([]byte(line)))})
	}
	return all
})

// before returns the number of default rules that follow the added ones.
func (g gatedRole) before() int { return int(g.Int64("before")) }

// rolesFor returns the lines for the gates of a server, except gates that are enabled by default: the recorded objects of the minor
// version have their rules.
func rolesFor(minor string, gates resource.Gates) (roles []gatedRole) {
	usual := must(kind.Server(minor, nil)).Gates
	for _, g := range gatedRoles() {
		only := g.String("minor")
		if gate := g.String("gate"); gates[gate] && !usual[gate] && (only == "" || only == minor) {
			roles = append(roles, g)
		}
	}
	return roles
}

// ChangesRoles returns the enabled gates that add rules to the default roles of a minor version, sorted.
func ChangesRoles(minor string, gates resource.Gates) []string {
	var names []string
	for _, g := range rolesFor(minor, gates) {
		names = append(names, g.String("gate"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// gated returns the objects with the rules of the gates in o.Gates.
func (o Options) gated(all []own) []own {
	gates := resource.Gates{}
	for _, name := range o.Gates {
		gates[name] = true
	}
	for _, g := range rolesFor(o.Minor, gates) {
		name := g.String("role")
		i := slices.IndexFunc(all, func(x own) bool { return x.obj.Kind() == "ClusterRole" && x.obj.Name() == name })
		if i < 0 {
			all = g.create(all)
			continue
		}
		obj := all[i].whole().Copy()
		rules := obj.List("rules")
		obj["rules"] = slices.Insert(slices.Clone(rules), len(rules)-g.before(), g.List("rules")...)
		all[i] = own{d: all[i].d, obj: obj}
	}
	return all
}

// create adds the role and its binding. They follow the last recorded ones.
func (g gatedRole) create(all []own) []own {
	name := g.String("role")
	ref := map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
	subject := map[string]any{"kind": "ServiceAccount", "name": strings.TrimPrefix(name, controllerRole), "namespace": "kube-system"}
	if group := g.String("group"); group != "" {
		subject = map[string]any{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": group}
	}
	for _, x := range []struct {
		kind   string
		fields map[string]any
	}{
		{"ClusterRole", map[string]any{"rules": g.List("rules")}},
		{"ClusterRoleBinding", map[string]any{"subjects": []any{subject}, "roleRef": ref}},
	} {
		last := len(all) - 1
		for all[last].obj.Kind() != x.kind || !strings.HasPrefix(all[last].obj.Name(), controllerRole) {
			last--
		}
		made := own{d: all[last].d, obj: all[last].whole().Copy()}
		made.obj.Set(name, "metadata", "name")
		for field, value := range x.fields { // order does not matter
			made.obj[field] = value
		}
		all = slices.Insert(all, last+1, made)
	}
	return all
}
