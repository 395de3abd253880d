//go:build !js

package scheduling

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// workloadKind returns the kind Workload: templates of the groups of an application (KEP-4671). No server serves it by default.
//
//	spec ─┬─ podGroupTemplates ─ name, schedulingPolicy, …
//	      └─ compositePodGroupTemplates (1.37) ─┬─ podGroupTemplates
//	                                            └─ compositePodGroupTemplates ─ …: at most four levels
func workloadKind() kind.Kind {
	return kind.Kind{
		Storage: "workloads.scheduling.k8s.io",
		Gate:    gateWorkload,
		Gates: append(groupGates("spec.podGroupTemplates.*."),
			kind.Gate{Name: gateComposite, Fields: []string{"spec.compositePodGroupTemplates"}},
			kind.Gate{Name: gatePreemption, Fields: []string{"spec.compositePodGroupTemplates.*.preemptionPolicy"}}),
		Since: map[int]func(k *kind.Kind){37: denyUnconditionalUpdate},
		Validate: func(ctx *resource.Context, at field.Cursor) {
			spec := at.Child("spec")
			if ctx.Since(37) {
				checkTemplateTree(ctx, spec)
			}
			spec.Declared(true, func(spec field.Cursor) field.Cursor {
				if ctx.Since(37) {
					checkTemplatesGiven(spec)
				}
				fixed(spec.Child("controllerRef"), checkControllerRef, "apiGroup", "kind", "name")
				t := templates{groupRules{ctx: ctx, template: true}}
				if ctx.Since(37) {
					t.check(spec)
					t.behindComposite(spec)
				} else {
					fixed(spec.Child("podGroupTemplates"), t.checkNew)
					spec.Child("podGroupTemplates").Required()
				}
				return spec
			})
		},
		Columns: []table.Column{table.Name(), table.Age()},
	}
}

func checkControllerRef(at field.Cursor) {
	at.Child("apiGroup").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("kind").OrEmpty().Required().Check(field.PathSegment)
	at.Child("name").OrEmpty().Required().Check(field.PathSegment)
}

// checkTemplatesGiven checks that a Workload has templates of PodGroups, or of CompositePodGroups, but not both.
func checkTemplatesGiven(spec field.Cursor) {
	names := []string{"podGroupTemplates", "compositePodGroupTemplates"}
	changed := false
	for _, name := range names {
		changed = changed || (spec.Len(name) > 0) != (len(spec.Old().List(name)) > 0)
	}
	if !spec.Updates() || changed {
		kind.CheckUnion(spec, names...)
	}
}

// templates are the rules of a list of templates.
type templates struct {
	groupRules
}

// list returns the name of the list.
func (t templates) list() string {
	if t.composite {
		return "compositePodGroupTemplates"
	}
	return "podGroupTemplates"
}

// checkNew checks a list of templates in a new Workload.
func (t templates) checkNew(list field.Cursor) {
	for item := range uniqueNames(list.MaxItems(maxTemplates), t.itemType()) {
		t.checkItem(item)
	}
}

func (t templates) itemType() *schema.Type {
	return t.ctx.Definition.Type().Field("spec").Type.Field(t.list()).Type.Elem
}

func (t templates) checkItem(item field.Cursor) {
	item.Child("name").OrEmpty().Required().Check(field.DNS1123Label)
	t.groupRules.check(item)
	if t.composite {
		templates{groupRules{ctx: t.ctx, template: true}}.check(item)
		t.check(item)
	}
}

// check checks the list of templates in a spec or a composite template. An update may change items, but neither add nor remove any
// (validate.ValSliceUpdate).
func (t templates) check(parent field.Cursor) {
	list := parent.Child(t.list())
	if !parent.Updates() {
		t.checkNew(list)
		return
	}
	before := map[string]object.Object{}
	for _, item := range parent.Old().Objects(t.list()) {
		before[item.String("name")] = item
	}
	if list.MaxItems(maxTemplates); list.Len() > maxTemplates || object.Equal(list.List(), parent.Old().List(t.list())) || !t.keepsItems(list, parent.Old()) {
		return
	}
	for item := range uniqueNames(list, t.itemType()) {
		t.checkItem(item.Was(before[item.String("name")]))
	}
}

// keepsItems reports an item that an update adds or removes, and returns false if there is one.
func (t templates) keepsItems(list field.Cursor, old object.Object) bool {
	kept := true
	before, now := field.Seen{}, field.Seen{}
	for _, item := range old.Objects(t.list()) {
		before.Again(item.String("name"))
	}
	for item := range list.Each() {
		now.Again(item.String("name"))
		if !before[item.String("name")] {
			item.Forbidden("item may not be added")
			kept = false
		}
	}
	for _, item := range old.Objects(t.list()) {
		if !now[item.String("name")] {
			list.Forbidden("item may not be removed")
			kept = false
		}
	}
	return kept
}

// behindComposite checks the templates of CompositePodGroups, which are behind a gate.
func (t templates) behindComposite(spec field.Cursor) {
	t.composite = true
	list := spec.Child(t.list())
	switch {
	case t.ctx.Enabled(gateComposite):
		t.check(spec)
	case list.Len() > 0 && (!list.Updates() || list.Changed()):
		list.Forbidden("")
	}
}
