package podspec

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// ColContainers is the column of the names of containers.
func ColContainers() table.Column {
	return table.Text("Containers", "Names of each container in the template.").Wide()
}

// ColImages is the column of the images of containers.
func ColImages() table.Column {
	return table.Text("Images", "Images referenced by each container in the template.").Wide()
}

// TemplateColumns are the last columns of kinds with a pod template and a selector.
func TemplateColumns(specType string) []table.Column {
	return []table.Column{ColContainers(), ColImages(), table.Doc("Selector", specType, "selector").Wide()}
}

// ContainersCell joins one field of the containers of the pod template at the path.
func ContainersCell(obj object.Object, name string, template ...string) string {
	text := ""
	for i, c := range obj.At(template...).Objects("spec", "containers") {
		if i > 0 {
			text += ","
		}
		text += c.String(name)
	}
	return text
}

// DefaultTemplateOf fills in the defaults of spec.template.
func DefaultTemplateOf(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec", "template")
	DefaultTemplate(obj.Map("spec", "template"))
}

// WarnNames warns about a name that is no DNS label though it becomes part of host names.
func WarnNames(ctx *resource.Context, obj object.Object) {
	if msgs := field.DNS1123Label(obj.Name()); len(msgs) > 0 {
		ctx.Warn(fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
	}
}

const selectorMismatch = "`selector` does not match template `labels`"

// ValidateSelected checks that the selector matches the labels of the template at p.
func ValidateSelected(p field.Path, s selector.Labels, template object.Object) field.ErrorList {
	if s.Matches(template.Labels()) {
		return nil
	}
	return field.ErrorList{field.Invalid(p.Child("metadata", "labels"), template.Map("metadata", "labels"), selectorMismatch)}
}
