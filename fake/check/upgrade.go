package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// Upgrade reports how a cluster is affected by an upgrade of its API servers from one minor version to another, such as from "1.36" to
// "1.37". The objects are those of the sources and of o.Import:
//
//	sources ─ created on a server of each version ─▶ responses that differ, stored objects that differ
//	imported and created by the old server ─ read by the new one, over the same store ─▶ kinds that it does not serve, fields that
//	                                        it drops or sets, objects whose updates it refuses
func Upgrade(s *Sources, from, to string, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	o.Minors = []string{from}
	before, err := Run(s, o)
	if err != nil {
		return nil, err
	}
	o.Minors = []string{to}
	r, err := Run(s, o)
	if err != nil {
		return nil, err
	}
	r.Minors = []string{from, to}
	list := ordered(s.Objects)
	refused := map[string]bool{} // by the older server, by file and name
	for i, o := range list {
		if before.Answers[i].Verdicts[from].refused() {
			refused[o.File+" "+o.title()] = true
		}
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		return len(f.Minors) > 0 && (before.has(f) || f.Level == Error && refused[f.File+" "+f.Object])
	})
	regressions := 0
	for i, o := range list {
		was, is := before.Answers[i].Verdicts[from], r.Answers[i].Verdicts[to]
		r.Answers[i].Verdicts[from] = was
		switch {
		case was.refused():
		case is.refused():
			regressions++
		default:
			r.addChanges(o, was.stored, is.stored, to, "in a new object, ")
		}
	}
	if err := r.upgrade(list, from, to, &o); err != nil {
		return nil, err
	}
	r.finish()
	r.Refused = regressions
	return r, nil
}

// has reports whether the report has a finding, regardless of its minor versions.
func (r *Report) has(f Finding) bool {
	return slices.ContainsFunc(r.Findings, func(have Finding) bool { return have.same(f) })
}

// addChanges adds a warning for each field whose value differs between was and is, the object on the older and on the newer server.
// The message begins with when, which says how the object got there.
func (r *Report) addChanges(o *Object, was, is object.Object, to, when string) {
	for _, c := range object.Diff(map[string]any(comparable(was)), map[string]any(comparable(is))) {
		text := fmt.Sprintf("Kubernetes %s changes %s from %s to %s", to, c.Path, object.JSON(c.Before), object.JSON(c.After))
		switch {
		case c.Path == "apiVersion":
			continue
		case c.After == nil:
			text = fmt.Sprintf("Kubernetes %s drops %s, which was %s", to, c.Path, object.JSON(c.Before))
		case c.Before == nil:
			text = fmt.Sprintf("Kubernetes %s sets %s to %s", to, c.Path, object.JSON(c.After))
		}
		r.add(o.finding(Warning, c.Path, when+text), to)
	}
}

// upgrade stores the objects on a server of version from, and adds findings about reading and updating them on a server of version
// to over the same store.
func (r *Report) upgrade(list []*Object, from, to string, o *Options) error {
	older, srv, err := o.simulated(from, to)
	if err != nil {
		return err
	}
	defer srv.Close()
	newer := o.connectTo(srv, 2)
	if err := older.run(list, from, newReport(&Sources{}, list, nil)); err != nil {
		return err
	}
	imported, err := o.importedObjects()
	if err != nil {
		return err
	}
	r.Imported = len(imported)
	for _, obj := range append(imported, list...) {
		if err := r.compare(obj, older, newer, to); err != nil {
			return fmt.Errorf("%s: %s: %w", obj.File, obj.title(), err)
		}
	}
	return nil
}

// importedObjects returns the objects in o.Import.
func (o *Options) importedObjects() (all []*Object, err error) {
	if o.imported == nil {
		return nil, nil
	}
	for _, item := range o.imported.Objects {
		obj, err := object.Parse(item.JSON)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", item.Place(), err)
		}
		all = append(all, &Object{Object: obj, File: item.File, line: item.Line})
	}
	return all, nil
}

// compare reads an object that the older server has stored on the newer server, tries to update it there in a dry run, and adds
// findings about the differences.
func (r *Report) compare(o *Object, older, newer *server, to string) error {
	at, _, err := older.place(o.Object)
	if err != nil || at.unserved != nil || o.Name() == "" {
		return err
	}
	was, err := older.ask(older.admin.Request(wire.MethodGet, at.path, nil, "", nil))
	if err != nil || was.refused() {
		return err
	}
	there, _, err := newer.place(o.Object)
	if err != nil {
		return err
	}
	if v := there.unserved; v != nil {
		r.add(o.finding(Error, "apiVersion", v.Message), to)
		return nil
	}
	is, err := newer.ask(newer.admin.Request(wire.MethodGet, at.path, nil, "", nil))
	if err != nil {
		return err
	}
	if is.refused() {
		return errors.New(cmp.Or(is.Message, "it cannot be read"))
	}
	r.addChanges(o, was.stored, is.stored, to, "")
	q := client.Query("dryRun", "All", "fieldManager", fieldManager)
	v, err := newer.ask(newer.admin.Request(wire.MethodPut, at.path, q, "application/json", object.JSON(map[string]any(is.stored))))
	if err != nil || !v.refused() {
		return err
	}
	for _, f := range o.findings(v) {
		f.Message = "updates are refused: " + f.Message
		r.add(f, to)
	}
	return nil
}
