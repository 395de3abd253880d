package fieldmanager

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
)

// prune merges a configuration that gives up what by applied before, or that it applied in another version. What
// nobody else owns goes away: structured-merge-diff knows what that takes along.
func (a *application) prune(force bool) (*outcome, error) {
	byText := make(map[string]*entry, len(a.entries))
	old := make(fieldpath.ManagedFields, len(a.entries)+1)
	for _, e := range a.entries {
		text := e.id().text()
		byText[text] = e
		old[text] = fieldpath.NewVersionedSet(toSet(a.model.filled(e.fields)), fieldpath.APIVersion(e.apiVersion), e.operation == opApply)
	}
	b := merge.UpdaterBuilder{Converter: converter{a.m, a.d}, IgnoreFilter: a.m.filters(a.d, a.entries, a.by.Subresource)}
	self := a.self.text()
	pruned, fields, err := b.BuildUpdater().Apply(a.liveTyped, a.configTyped, fieldpath.APIVersion(a.d.GV()), old.Copy(), self, force)
	if err != nil {
		return nil, err
	}
	out := &outcome{}
	if pruned != nil {
		m, ok := pruned.AsValue().Unstructured().(map[string]any)
		if !ok {
			return nil, fmt.Errorf("failed to convert new typed object (%s) to object", a.called(a.config))
		}
		out.merged = m
	}
	for _, e := range a.entries {
		text := e.id().text()
		vs, ok := fields[text]
		if !ok || text == self && e.id() != a.self {
			continue
		}
		e := *e
		if !old[text].Set().Equals(vs.Set()) {
			e.fields, e.raw = a.model.emptied(fromSet(vs.Set())), nil
		}
		out.entries = append(out.entries, &e)
	}
	set := map[string]any{}
	if vs, ok := fields[self]; ok {
		set = stripped(a.model.emptied(fromSet(vs.Set())))
	}
	out.entries = a.applied(out.entries, set, out.merged != nil)
	return out, nil
}
