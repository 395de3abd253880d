package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// gate is a feature gate and what it decides about one resource, or about every pod spec. A disabled gate drops its
// fields on every write unless the stored object uses one of them already, and refuses its values unless the stored
// object has them (API changes guide, "Alpha, Beta, and Stable Versions", "New enum value in existing field"). Rows of
// the same name are one gate.
//
//	write ──▶ drop the fields of disabled gates ──▶ the kind's own preparation ──▶ validation, then values of disabled gates
type gate struct {
	name    string
	on      int    // minor (36 is 1.36) from which on it is on by default; 0: off in every minor there is
	storage string // resource, or podSpecs, or podStatus

	// fields are dotted paths; "*" stands for every item of a list and every value of a map. A path that ends in "?" takes
	// what contained the field with it when nothing else is left there.
	fields []string

	// values are enum values at a path that only an enabled gate lets in; allowed are the others.
	values *gatedValue

	// defaults fills in defaults that only an enabled gate has. nil: none.
	defaults func(obj object.Object)

	// without makes a strategy check what servers do that have the gate disabled. nil: the same.
	without func(s *resource.Strategy)
}

type gatedValue struct {
	path, value string
	allowed     []string
}

// podSpecs stands for the pod specs of all kinds that have one.
const podSpecs = "pod specs"

// podSpecPaths are where the kinds have their pod spec.
var podSpecPaths = map[string]string{
	"pods": "spec.", "podtemplates": "template.spec.", "replicationcontrollers": "spec.template.spec.",
	"deployments.apps": "spec.template.spec.", "replicasets.apps": "spec.template.spec.", "statefulsets.apps": "spec.template.spec.",
	"daemonsets.apps": "spec.template.spec.", "jobs.batch": "spec.template.spec.", "cronjobs.batch": "spec.jobTemplate.spec.template.spec.",
}

// inContainers returns the path in containers, init containers and ephemeral containers.
func inContainers(path string) []string {
	return []string{"containers.*." + path, "initContainers.*." + path, "ephemeralContainers.*." + path}
}

// inStatuses returns the path in all container statuses of a pod.
func inStatuses(path string) []string {
	var out []string
	for _, list := range statusLists {
		out = append(out, "status."+list+".*."+path)
	}
	return out
}

// statusLists are the lists of container states in a pod's status.
var statusLists = []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}

// Gates are the enabled feature gates of one API server.
type Gates map[string]bool

// GatesOf returns the gates of a minor ("1.36") with changes. A gate that decides nothing here is an error.
func GatesOf(minor string, changes map[string]bool) (Gates, error) {
	_, number, _ := strings.Cut(minor, ".")
	at, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("builtin: %q is not a minor such as 1.36", minor)
	}
	all := Gates{}
	for _, g := range gates {
		all[g.name] = g.on != 0 && g.on <= at
	}
	for _, name := range object.SortedKeys(changes) {
		if _, ok := all[name]; !ok {
			return nil, fmt.Errorf("feature gate %q decides nothing here; there are %s", name, strings.Join(object.SortedKeys(all), ", "))
		}
		all[name] = changes[name]
	}
	return all, nil
}

// String prints the gates in order, so that equal ones print alike.
func (g Gates) String() string {
	var parts []string
	for _, name := range object.SortedKeys(g) {
		parts = append(parts, name+"="+strconv.FormatBool(g[name]))
	}
	return strings.Join(parts, ",")
}

// of returns the rows of the gates about a resource, their paths complete.
func (g Gates) of(storage string, enabled bool) []gate {
	var out []gate
	for _, row := range gates {
		prefix, isPod := "", row.storage == podSpecs
		if isPod {
			prefix = podSpecPaths[storage]
		}
		if g[row.name] != enabled || row.storage != storage && (!isPod || prefix == "") {
			continue
		}
		row.fields = slices.Clone(row.fields)
		for i := range row.fields {
			row.fields[i] = prefix + row.fields[i]
		}
		if row.values != nil {
			values := *row.values
			values.path = prefix + values.path
			row.values = &values
		}
		out = append(out, row)
	}
	return out
}

// apply makes a kind obey the gates.
func (g Gates) apply(k *kind) {
	if off := g.of(k.storage, false); len(off) > 0 {
		dropDisabled(&k.strategy, off)
	}
	for _, row := range g.of(k.storage, false) {
		if row.without != nil {
			row.without(&k.strategy)
		}
	}
	for _, row := range g.of(k.storage, true) {
		if row.defaults == nil {
			continue
		}
		all := map[string]func(object.Object){}
		for version, base := range k.defaults {
			all[version] = func(obj object.Object) { base(obj); row.defaults(obj) }
		}
		k.defaults = all
	}
}

// dropDisabled makes a strategy drop and refuse what belongs to disabled gates.
func dropDisabled(s *resource.Strategy, off []gate) {
	create, update, validate, change := s.PrepareForCreate, s.PrepareForUpdate, s.Validate, s.ValidateUpdate
	s.PrepareForCreate = func(ctx *resource.Context, obj object.Object) {
		dropGated(off, obj, nil)
		if create != nil {
			create(ctx, obj)
		}
	}
	s.PrepareForUpdate = func(ctx *resource.Context, obj, old object.Object) {
		dropGated(off, obj, old)
		if update != nil {
			update(ctx, obj, old)
		}
	}
	if !slices.ContainsFunc(off, func(g gate) bool { return g.values != nil }) {
		return
	}
	s.Validate = func(ctx *resource.Context, obj object.Object) field.ErrorList {
		var errs field.ErrorList
		if validate != nil {
			errs = validate(ctx, obj)
		}
		return append(errs, gatedValues(off, obj, nil)...)
	}
	s.ValidateUpdate = func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
		var errs field.ErrorList
		if change != nil {
			errs = change(ctx, obj, old)
		}
		return append(errs, gatedValues(off, obj, old)...)
	}
}

// dropGated drops the fields of disabled gates that old does not use. What obj shares with old is as it is to be.
func dropGated(off []gate, obj, old object.Object) {
	shared := func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return object.Same(obj[top], old[top])
	}
	for _, g := range off {
		if !slices.ContainsFunc(g.fields, func(path string) bool { return !shared(path) }) {
			continue
		}
		if slices.ContainsFunc(g.fields, func(path string) bool { return uses(map[string]any(old), strings.TrimSuffix(path, "?")) }) {
			continue
		}
		for _, path := range g.fields {
			if !shared(path) {
				dropField(map[string]any(obj), path)
			}
		}
	}
}

// uses reports whether a value has a field with a value at the path.
func uses(v any, path string) bool {
	if path == "" {
		return v != nil
	}
	head, rest, _ := strings.Cut(path, ".")
	if head != "*" {
		m, _ := v.(map[string]any)
		next, ok := m[head]
		return ok && uses(next, rest)
	}
	found := false
	eachValue(v, func(item any) { found = found || uses(item, rest) })
	return found
}

// dropField takes the field at the path out of a value. It reports whether that has left the value empty, where the path
// ends in "?".
func dropField(v any, path string) (empty bool) {
	head, rest, deeper := strings.Cut(path, ".")
	m, _ := v.(map[string]any)
	switch {
	case head == "*":
		eachValue(v, func(item any) { dropField(item, rest) })
	case deeper:
		if next, ok := m[head]; ok && dropField(next, rest) {
			delete(m, head)
		}
	default:
		name, parent := strings.CutSuffix(head, "?")
		_, had := m[name]
		delete(m, name)
		return parent && had && len(m) == 0
	}
	return false
}

// eachValue calls f with the items of a list, or the values of a map in the order of its keys.
func eachValue(v any, f func(any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f(item)
		}
	case map[string]any:
		for _, key := range object.SortedKeys(v) {
			f(v[key])
		}
	}
}

// gatedValues returns errors for the values of disabled gates that old does not have.
func gatedValues(off []gate, obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, g := range off {
		if g.values == nil || len(findValue(map[string]any(old), g.values.path, g.values.value, field.Path{})) > 0 {
			continue
		}
		for _, at := range findValue(map[string]any(obj), g.values.path, g.values.value, field.Path{}) {
			errs = append(errs, field.MustBeOneOf(at, g.values.value, g.values.allowed...)...)
		}
	}
	return errs
}

// findValue returns where a value has the text at the path.
func findValue(v any, path, text string, at field.Path) []field.Path {
	if path == "" {
		if v == text {
			return []field.Path{at}
		}
		return nil
	}
	head, rest, _ := strings.Cut(path, ".")
	if head != "*" {
		m, _ := v.(map[string]any)
		next := field.Root(head)
		if !at.IsRoot() {
			next = at.Child(head)
		}
		return findValue(m[head], rest, text, next)
	}
	var found []field.Path
	list, _ := v.([]any)
	for i, item := range list {
		found = append(found, findValue(item, rest, text, at.Index(i))...)
	}
	return found
}
