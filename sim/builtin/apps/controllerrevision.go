package apps

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// cellController names the owner that controls the object: statefulset.apps/web.
func cellController(obj object.Object) string {
	for _, owner := range obj.Objects("metadata", "ownerReferences") {
		if !owner.True("controller") {
			continue
		}
		name := owner.String("kind")
		if group, _, ok := strings.Cut(owner.String("apiVersion"), "/"); ok && group != "" {
			name += "." + group
		}
		return strings.ToLower(name) + "/" + owner.String("name")
	}
	return table.None
}

func controllerRevisionKind() kind.Kind {
	return kind.Kind{
		Storage: "controllerrevisions.apps",
		Strategy: resource.Strategy{
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return append(field.NonNegative(obj.Int64("revision"), field.Root("revision")), validateRevisionData(obj)...)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := field.NonNegative(obj.Int64("revision"), field.Root("revision"))
				return append(errs, kind.ImmutableRaw(field.Root("data"), obj["data"], old["data"])...)
			},
		},
		Columns: []table.Column{
			table.Name(), table.Text("Controller", "Controller of the object"), table.Doc("Revision", docApps+"ControllerRevision", "revision"),
			table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellController(obj), obj.Int64("revision"), table.AgeCell(now, obj))
		},
	}
}

// validateRevisionData checks the data of a new ControllerRevision: any JSON object.
func validateRevisionData(obj object.Object) field.ErrorList {
	if kind.IsObject(obj["data"]) {
		return nil
	}
	detail := "data is mandatory"
	if obj.Has("data") {
		detail = "data must be a valid JSON object"
	}
	return field.ErrorList{field.Required(field.Root("data"), detail)}
}
