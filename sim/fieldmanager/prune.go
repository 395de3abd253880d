package fieldmanager

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// view is an object as one version shows it, for structured-merge-diff.
type view struct {
	d *resource.Definition
	*typed.TypedValue
}

// in returns the object in another version; nil, without an error, where that version is gone. Custom resources go by way
// of the version of the request.
func (a *application) in(x view, apiVersion string) (*view, error) {
	if x.d.GV() == apiVersion {
		return &x, nil
	}
	m, ok := x.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("failed to convert value to unstructured for type %T", x.AsValue().Unstructured())
	}
	obj, from := object.Object(m), x.d
	if from.Form != nil && from != a.d && apiVersion != a.d.GV() {
		var err error
		if obj, err = from.Form.Convert(obj.Copy(), a.d.GV()); err != nil {
			return nil, err
		}
		from = a.d
	}
	d, obj, err := a.m.inVersion(from, obj, apiVersion)
	if d == nil || err != nil {
		return nil, err
	}
	model := a.m.model(typeOf(d), d.Custom)
	v, err := model.parser().FromUnstructured(model.root.complete(map[string]any(obj)), typed.AllowDuplicates)
	return &view{d, v}, err
}

// prune takes out of merged what by applied before and does not any more, unless somebody else owns it. It compares in
// the version of the last apply and then in those in which others own something, in their order: the real server takes
// them in random order, which decides only which of several errors it answers (Updater.prune of structured-merge-diff).
//
//	merged ── without last ──▶ and what somebody owns ──▶ and what by did not own ──▶ in the version of the request
func (a *application) prune(merged *typed.TypedValue, last *entry, set map[string]any) (*typed.TypedValue, error) {
	if len(last.fields) == 0 {
		return merged, nil
	}
	whole, err := a.in(view{a.d, merged}, last.apiVersion)
	if err != nil {
		return nil, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	if whole == nil {
		return merged, nil
	}
	given := a.members(*whole, last.fields)
	pruned, err := a.addOwned(*whole, view{whole.d, whole.RemoveItems(given)}, set)
	if err != nil {
		return nil, fmt.Errorf("failed add back owned items: %w", err)
	}
	if pruned, err = a.addForeign(*whole, *pruned, given); err != nil {
		return nil, fmt.Errorf("failed add back dangling items: %w", err)
	}
	if pruned, err = a.in(*pruned, a.d.GV()); err != nil {
		return nil, err
	}
	return pruned.TypedValue, nil // the version of the request is there
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

// addOwned puts back what pruned lacks of whole and anybody owns, the applier's new set included.
func (a *application) addOwned(whole, pruned view, set map[string]any) (*view, error) {
	owned := map[string]map[string]any{a.d.GV(): set}
	for _, e := range a.entries {
		if e.id() != a.self {
			owned[e.apiVersion] = plus(owned[e.apiVersion], e.fields)
		}
	}
	versions := slices.Sorted(maps.Keys(owned))
	if i := slices.Index(versions, whole.d.GV()); i > 0 { // first: what others own may be needed to convert
		versions = slices.Insert(slices.Delete(versions, i, i+1), 0, whole.d.GV())
	}
	for _, apiVersion := range versions {
		all, err := a.in(whole, apiVersion)
		if err != nil {
			return nil, fmt.Errorf("failed to convert merged object at version %v: %w", apiVersion, err)
		}
		left, err := a.in(pruned, apiVersion)
		if err != nil {
			return nil, fmt.Errorf("failed to convert pruned object at version %v: %w", apiVersion, err)
		}
		if all == nil || left == nil {
			continue
		}
		whole, pruned = *all, *left
		had, err := whole.all()
		if err != nil {
			return nil, fmt.Errorf("failed to create field set from merged object at version %v: %w", apiVersion, err)
		}
		has, err := pruned.all()
		if err != nil {
			return nil, fmt.Errorf("failed to create field set from pruned object at version %v: %w", apiVersion, err)
		}
		kept := has.Union(a.members(whole, owned[apiVersion]))
		pruned = view{whole.d, whole.RemoveItems(had.Difference(kept))}
	}
	return &pruned, nil
}

// addForeign puts back what pruned lacks of whole and the applier did not own: what went away only because it is below
// something that did.
func (a *application) addForeign(whole, pruned view, given *fieldpath.Set) (*view, error) {
	left, err := a.in(pruned, whole.d.GV())
	if err != nil {
		return nil, fmt.Errorf("failed to convert pruned object to last applied version: %w", err)
	}
	if left == nil {
		return &whole, nil
	}
	has, err := left.all()
	if err != nil {
		return nil, fmt.Errorf("failed to create field set from pruned object in last applied version: %w", err)
	}
	had, err := whole.all()
	if err != nil {
		return nil, fmt.Errorf("failed to create field set from merged object in last applied version: %w", err)
	}
	return &view{whole.d, whole.RemoveItems(had.Difference(has).Intersection(given))}, nil
}
