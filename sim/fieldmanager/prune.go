package fieldmanager

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// view is an object as one version shows it, for structured-merge-diff.
type view struct {
	d *resource.Definition
	*typed.TypedValue
	known []any // managedFields that a conversion sees in it
}

// in returns the object in another version; nil, without an error, where that version is gone. Custom resources go by way
// of the version of the request.
func (a *application) in(x view, apiVersion string) (*view, error) {
	if x.d.GV() == apiVersion {
		return &x, nil
	}
	obj, err := x.object()
	if err != nil {
		return nil, err
	}
	from := x.d
	if from.StorageCodec != nil && from != a.d && apiVersion != a.d.GV() {
		if obj, err = convertCustom(from, obj, a.d.GV(), x.known); err != nil {
			return nil, err
		}
		from = a.d
	}
	d, obj, err := a.m.inVersion(from, obj, apiVersion, x.known)
	if d == nil || err != nil {
		return nil, err
	}
	model := a.m.model(typeOf(d), d.Custom)
	return &view{d, model.typed(model.whole(d, obj)), x.known}, nil
}

// pruning is an object on its way through versions.
type pruning struct {
	a      *application
	whole  view // what merging gave
	pruned view // the same without what is to go
}

// prune takes out of merged what by applied before and does not any more, unless somebody owns it. At first all goes that
// by owned. Each version in which somebody owns something takes that back, beginning with the version of the last apply:
// what is owned may be needed to convert the object. Last comes back what by did not own and what went only because it is
// below something that by did. The real server takes the versions in random order, which decides only which of several
// errors it answers (Updater.prune of structured-merge-diff).
func (a *application) prune(merged map[string]any, last *entry, set map[string]any) (map[string]any, error) {
	if len(last.fields) == 0 {
		return merged, nil
	}
	whole, err := a.in(view{a.d, a.model.typed(merged), a.known}, last.apiVersion)
	switch {
	case err != nil:
		return nil, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	case whole == nil:
		return merged, nil
	}
	given := a.members(*whole, last.fields)
	p := &pruning{a: a, whole: *whole, pruned: view{whole.d, whole.RemoveItems(given), a.known}}
	if given.Has(fieldpath.MakePathOrDie("metadata")) {
		p.pruned.known = nil
	}
	owned := a.ownedBy(set)
	for _, apiVersion := range inOrder(owned, last.apiVersion) {
		at := "at version " + apiVersion
		if err = p.keep(apiVersion, at, at, func(v view, gone *fieldpath.Set) *fieldpath.Set {
			return gone.Difference(a.members(v, owned[apiVersion]))
		}); err != nil {
			return nil, fmt.Errorf("failed add back owned items: %w", err)
		}
	}
	p.whole = *whole
	if err = p.keep(last.apiVersion, "to last applied version", "in last applied version", func(_ view, gone *fieldpath.Set) *fieldpath.Set {
		return gone.Intersection(given)
	}); err != nil {
		return nil, fmt.Errorf("failed add back dangling items: %w", err)
	}
	p.pruned.known = a.known
	done, err := a.in(p.pruned, a.d.GV())
	if err != nil {
		return nil, err
	}
	return done.object() // the version of the request is there
}

// object returns the object of a view.
func (x view) object() (object.Object, error) {
	v := x.AsValue().Unstructured()
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("failed to convert value to unstructured for type %T", v)
	}
	return m, nil
}

// keep makes what is gone in a version less: to what of picks of it. Versions that are not there any more pick nothing.
// to and in are how errors call the version.
func (p *pruning) keep(apiVersion, to, in string, of func(v view, gone *fieldpath.Set) *fieldpath.Set) error {
	whole, err := p.a.in(p.whole, apiVersion)
	if err != nil {
		return fmt.Errorf("failed to convert merged object %s: %w", to, err)
	}
	pruned, err := p.a.in(p.pruned, apiVersion)
	if err != nil {
		return fmt.Errorf("failed to convert pruned object %s: %w", to, err)
	}
	if whole == nil || pruned == nil {
		return nil
	}
	had, err := whole.all()
	if err != nil {
		return fmt.Errorf("failed to create field set from merged object %s: %w", in, err)
	}
	has, err := pruned.all()
	if err != nil {
		return fmt.Errorf("failed to create field set from pruned object %s: %w", in, err)
	}
	p.whole, p.pruned = *whole, view{whole.d, whole.RemoveItems(of(*whole, had.Difference(has))), pruned.known}
	return nil
}

// ownedBy returns what anybody owns, by apiVersion. set is what the applier does from now on.
func (a *application) ownedBy(set map[string]any) map[string]map[string]any {
	owned := map[string]map[string]any{a.d.GV(): set}
	for _, e := range a.entries {
		if e.id() != a.self {
			owned[e.apiVersion] = plus(owned[e.apiVersion], e.fields)
		}
	}
	return owned
}

// inOrder returns the keys of a map, sorted but for one that comes first if it is there.
func inOrder(owned map[string]map[string]any, first string) []string {
	rank := func(key string) string {
		if key == first {
			return ""
		}
		return key
	}
	return slices.SortedFunc(maps.Keys(owned), func(x, y string) int { return strings.Compare(rank(x), rank(y)) })
}

// members returns a set of x's version, with the declared fields on the way to what is in it.
func (a *application) members(x view, fields map[string]any) *fieldpath.Set {
	return x.withFields(toSet(a.m.model(typeOf(x.d), x.d.Custom).filled(fields)))
}

func (x view) withFields(set *fieldpath.Set) *fieldpath.Set {
	return set.EnsureNamedFieldsAreMembers(x.Schema(), x.TypeRef())
}

// all returns every path of the object, with the declared fields on the way.
func (x view) all() (*fieldpath.Set, error) {
	set, err := x.ToFieldSet()
	if err != nil {
		return nil, err
	}
	return x.withFields(set), nil
}
