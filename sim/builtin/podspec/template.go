package podspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// ContainerColumns are the columns of the containers of the pod template at the path.
func ContainerColumns(template ...string) []table.Column {
	of := func(name string) func(object.Object) any {
		return func(obj object.Object) any { return ContainersCell(obj, name, template...) }
	}
	return []table.Column{
		table.Text("Containers", "Names of each container in the template.").Wide().Cell(of("name")),
		table.Text("Images", "Images referenced by each container in the template.").Wide().Cell(of("image")),
	}
}

// TemplateColumns are the last columns of kinds with a pod template and a label selector in the spec at the path.
func TemplateColumns(specType string, spec ...string) []table.Column {
	return append(ContainerColumns(slices.Concat(spec, []string{"template"})...),
		table.Doc("Selector", specType, "selector").Wide().Cell(func(obj object.Object) any {
			return selector.FormatLabelSelector(obj.At(spec...).Map("selector"))
		}))
}

// ContainersCell joins one field of the containers of the pod template at the path.
func ContainersCell(obj object.Object, name string, template ...string) string {
	return strings.Join(kind.Texts(obj.At(template...).Objects("spec", "containers"), name), ",")
}

// DefaultTemplateOf fills in the defaults of spec.template.
func DefaultTemplateOf(obj object.Object) {
	DefaultTemplate(kind.ObjectAt(obj, "spec", "template"))
}

// Unlabelled reports whether obj has no labels, but its template has some, which are the default of its own.
func Unlabelled(obj object.Object) bool {
	return len(obj.Map("metadata", "labels")) == 0 && len(obj.Map("spec", "template", "metadata", "labels")) > 0
}

// WarnNames warns about a name that is no DNS label though it becomes part of host names.
func WarnNames(ctx *resource.Context, obj object.Object) {
	if msgs := field.DNS1123Label(obj.Name()); len(msgs) > 0 {
		ctx.Warn(fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
	}
}

// CheckSelected checks that the selector matches the labels of a template.
func CheckSelected(template field.Cursor, s selector.Labels) {
	template.Child("metadata", "labels").InvalidIf(!s.Matches(template.Object().Labels()), "`selector` does not match template `labels`")
}
