package kustomize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// variable is an entry of vars: a field of an object, which replaces $(NAME) in other objects.
type variable struct {
	name string
	of   *item
	path string
}

// declare adds the vars of a kustomization, whose objects are all (ResAccumulator.MergeVars).
func (b *build) declare(k object.Object, all []*item) error {
	for _, v := range k.Objects("vars") {
		name, ref := v.String("name"), v.At("objref")
		path := cmp.Or(v.String("fieldref", "fieldpath"), v.String("fieldref", "fieldPath"), "metadata.name")
		i := slices.IndexFunc(all, func(it *item) bool {
			return it.obj.Kind() == ref.String("kind") && it.obj.APIVersion() == cmp.Or(ref.String("apiVersion"), it.obj.APIVersion()) &&
				it.is(ref.String("namespace"), ref.String("name"))
		})
		if i < 0 {
			group, version, grouped := strings.Cut(ref.String("apiVersion"), "/")
			if !grouped {
				group, version = "[noGrp]", group
			}
			return fmt.Errorf("var '{%s %s.%s.%s {%s}}' cannot be mapped to a field in the set of known resources", name, ref.String("kind"),
				cmp.Or(version, "[noVer]"), group, path)
		}
		if slices.ContainsFunc(b.vars, func(o variable) bool { return o.name == name }) {
			return fmt.Errorf("var '%s' already encountered", name)
		}
		b.vars = append(b.vars, variable{name, all[i], path})
	}
	return nil
}

// inContainers and inKinds list the fields in which vars are replaced (varreference.go). Vars are also replaced in the labels and
// annotations of all kinds.
var (
	inContainers = [][]string{{"args"}, {"command"}, {"env", "value"}, {"volumeMounts", "mountPath"}}
	inKinds      = map[string][][]string{
		"Deployment": {{"spec", "template", "metadata", "annotations"}},
		"Ingress":    {{"spec", "rules", "host"}, {"spec", "tls", "hosts"}, {"spec", "tls", "secretName"}},
		"Service":    {{"spec", "ports", "port"}, {"spec", "ports", "targetPort"}},
	}
	podSpecs = map[string][]string{
		"Pod": {"spec"}, "CronJob": {"spec", "jobTemplate", "spec", "template", "spec"}, "DaemonSet": {"spec", "template", "spec"},
		"Deployment": {"spec", "template", "spec"}, "Job": {"spec", "template", "spec"}, "ReplicaSet": {"spec", "template", "spec"},
		"StatefulSet": {"spec", "template", "spec"},
	}
)

// expand replaces the vars in all objects.
func (b *build) expand(all []*item) error {
	if len(b.vars) == 0 {
		return nil
	}
	values := map[string]any{}
	for _, v := range b.vars {
		found := false
		at(map[string]any(v.of.obj), segments(strings.NewReplacer("[", ".", "]", "").Replace(v.path)), false, func(x any) any {
			values[v.name], found = x, true
			return x
		})
		if !found {
			return fmt.Errorf("field specified in var '%s' not found in corresponding resource", v.name)
		}
	}
	for _, it := range all {
		paths := append([][]string{{"metadata", "labels"}, {"metadata", "annotations"}}, inKinds[it.obj.Kind()]...)
		if spec := podSpecs[it.obj.Kind()]; spec != nil {
			for _, list := range []string{"containers", "initContainers"} {
				for _, field := range inContainers {
					paths = append(paths, slices.Concat(spec, []string{list}, field))
				}
			}
			paths = append(paths, slices.Concat(spec, []string{"volumes", "nfs", "server"}))
		}
		for _, path := range paths {
			walkPath(map[string]any(it.obj), path, func(m map[string]any, field string) {
				if v, ok := m[field]; ok {
					m[field] = expanded(v, values)
				}
			})
		}
	}
	return nil
}

// expanded replaces the vars in a string, or in the strings of a list or map. A string that is only a var becomes the var's value, which
// may be a number.
func expanded(v any, values map[string]any) any {
	switch v := v.(type) {
	case string:
		return expandText(v, values)
	case []any:
		for i, x := range v {
			v[i] = expanded(x, values)
		}
	case map[string]any:
		for name, x := range v { // order does not matter: the entries are independent
			v[name] = expanded(x, values)
		}
	}
	return v
}

// expandText expands a string by the rules of container commands: $$(NAME) stands for $(NAME), and unknown names stay.
func expandText(text string, values map[string]any) any {
	var out strings.Builder
	for rest := text; rest != ""; {
		begin := strings.IndexByte(rest, '$')
		if begin < 0 || begin+1 == len(rest) {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:begin])
		rest = rest[begin:]
		end := strings.IndexByte(rest, ')')
		switch {
		case rest[1] == '$':
			out.WriteByte('$')
			rest = rest[2:]
		case rest[1] == '(' && end > 0:
			if v, ok := values[rest[2:end]]; !ok {
				out.WriteString(rest[:end+1])
			} else if end+1 == len(text) {
				return v
			} else {
				fmt.Fprint(&out, v)
			}
			rest = rest[end+1:]
		default:
			out.WriteByte('$')
			rest = rest[1:]
		}
	}
	return out.String()
}
