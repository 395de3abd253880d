package core

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	namespaceFinalizer = "kubernetes"                  // in spec.finalizers; removed when the namespace is empty
	namespaceLabel     = "kubernetes.io/metadata.name" // always the namespace's name
)

func namespaceKind() kind.Kind {
	return kind.Kind{
		Storage: "namespaces",
		Strategy: resource.Strategy{
			Checks:      resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ResetFields: map[string][]string{"finalize": {"status"}},
			HasStatus:   true, ReturnDeletedObject: true, NameRule: field.NameDNSLabel,
			PrepareForCreate: prepareNamespace,
			PrepareForUpdate: prepareNamespaceUpdate,
			Canonicalize: func(obj object.Object) { // a generated name is not known yet when defaults are set
				obj.Set(obj.Name(), "metadata", "labels", namespaceLabel)
			},
			Held: func(obj object.Object) bool {
				return len(obj.List("spec", "finalizers")) > 0
			},
			FirstDelete: deleteNamespace,
		},
		Validate: validateNamespace, ValidateStatus: validateNamespacePhase,
		Defaults: kind.EveryVersion(defaultNamespace),
		Select:   []string{"status.phase"},
		Columns:  []table.Column{table.Name(), table.Text("Status", "The status of the namespace").At("status", "phase"), table.Age()},
	}
}

// deleteNamespace starts the deletion of a namespace. The propagation policy determines the finalizer for its dependents
// as for other kinds, with two exceptions: orphanDependents=false means foregroundDeletion, and neither finalizer replaces
// the other.
func deleteNamespace(_ *resource.Context, obj object.Object, p resource.Propagation) {
	obj.Set("Terminating", "status", "phase")
	names := obj.Finalizers()
	for _, f := range []struct {
		name  string
		wants bool
	}{
		{metadata.Orphan, p.Policy == "Orphan" || p.Orphan != nil && *p.Orphan},
		{metadata.ForegroundDeletion, p.Policy == "Foreground" || p.Orphan != nil && !*p.Orphan},
	} {
		has := slices.Contains(names, f.name)
		switch said := p.Policy != "" || p.Orphan != nil; {
		case f.wants && !has:
			names = append(names, f.name)
		case said && !f.wants && has:
			names = slices.DeleteFunc(names, func(name string) bool { return name == f.name })
		}
	}
	obj.SetFinalizers(names)
}

func defaultNamespace(obj object.Object) {
	if name := obj.Name(); name != "" { // a generated name is not known yet
		obj.Set(name, "metadata", "labels", namespaceLabel)
	}
	kind.SetEmpty(obj, "Active", "status", "phase")
}

func prepareNamespace(_ *resource.Context, obj object.Object) {
	obj["status"] = map[string]any{"phase": "Active"}
	finalizers := obj.List("spec", "finalizers")
	if !slices.Contains(object.Strings(finalizers), namespaceFinalizer) {
		obj.Set(append(finalizers, namespaceFinalizer), "spec", "finalizers")
	}
}

func prepareNamespaceUpdate(ctx *resource.Context, obj, old object.Object) {
	obj.Set(old.Name(), "metadata", "labels", namespaceLabel)
	switch ctx.Subresource {
	case "":
		kind.KeepOld(obj, old, "spec")
	case "finalize":
		kind.KeepOld(obj, old, "status")
	}
}

// validateNamespace checks the finalizers, which must be standard names or qualified names. Only errors of the finalize
// subresource contain the index of the item.
func validateNamespace(ctx *resource.Context, at field.Cursor) {
	list := at.Child("spec", "finalizers")
	for name := range list.Each() {
		if ctx.Subresource != "finalize" {
			name = name.ReportAt(list)
		}
		standard := slices.Contains([]string{namespaceFinalizer, "orphan", "foregroundDeletion"}, name.String())
		name.Check(field.QualifiedName).InvalidIf(!strings.Contains(name.String(), "/") && !standard,
			"name is neither a standard finalizer name nor is it fully qualified")
	}
}

func validateNamespacePhase(_ *resource.Context, at field.Cursor) {
	want, state := "Active", "empty"
	if at.Object().DeletionTimestamp() != "" {
		want, state = "Terminating", "not empty"
	}
	if phase := at.Child("status", "phase").ReportAt(at.Child("status", "Phase")); phase.String() != want {
		phase.InvalidEnum("may only be '" + want + "' if `deletionTimestamp` is " + state)
	}
}

// components returns the components of ComponentStatuses. Only etcd is healthy, because no other component runs on the machine
// of a standalone API server.
func components() []object.Object {
	health := func(name, status, message string) object.Object {
		return object.Object{"metadata": map[string]any{"name": name},
			"conditions": []any{map[string]any{"type": "Healthy", "status": status, "message": message}}}
	}
	refused := func(name, address string) object.Object {
		return health(name, "False", `Get "https://`+address+`/healthz": dial tcp `+address+": connect: connection refused")
	}
	return []object.Object{refused("controller-manager", "127.0.0.1:10257"), refused("scheduler", "127.0.0.1:10259"),
		health("etcd-0", "True", "ok")}
}

// componentStatusKind returns the kind ComponentStatus, whose objects are never stored.
func componentStatusKind() kind.Kind {
	return kind.Kind{
		Storage:    "componentstatuses",
		Strategy:   resource.Strategy{Observe: components},
		Deprecated: "v1 ComponentStatus is deprecated in v1.19+",
		Columns: []table.Column{table.Name(), table.Text("Status", "Status of the component conditions"),
			table.Text("Message", "Message of the component conditions"), table.Text("Error", "Error of the component conditions")},
		Row: func(_ time.Time, obj object.Object) resource.Row {
			status, message := "Unknown", ""
			for _, healthy := range obj.Objects("conditions") { // the only condition
				status, message = map[string]string{"True": "Healthy", "False": "Unhealthy"}[healthy.String("status")], healthy.String("message")
			}
			return table.Row(obj.Name(), status, message, "")
		},
	}
}
