package apps

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// cellController returns a cell that names the controlling owner of the object: statefulset.apps/web.
func cellController(obj object.Object) any {
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
		},
		Validate: validateRevision,
		Columns: []table.Column{
			table.Name(), table.Text("Controller", "Controller of the object").Cell(cellController),
			table.Doc("Revision", docApps+"ControllerRevision", "revision").Int("revision").Of("string"), table.Age(),
		},
	}
}

// validateRevision checks a ControllerRevision. Its data is any JSON object and must not change. Even whitespace and the
// order of keys are significant.
func validateRevision(_ *resource.Context, at field.Cursor) {
	at.Child("revision").NonNegative()
	data := at.Child("data")
	switch {
	case at.Updates():
		data.InvalidIf(!object.Equal(data.Value(), at.Old()["data"]), field.TextImmutable)
	case !data.Has():
		data.Missing("data is mandatory")
	default:
		data.RequireIf(!kind.IsObject(data.Value()), "data must be a valid JSON object")
	}
}
