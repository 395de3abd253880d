package networking

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func ipAddressKind() kind.Kind {
	return kind.Kind{
		Storage: "ipaddresses.networking.k8s.io",
		Strategy: resource.Strategy{
			Checks:   resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			NameRule: func(name string, _ bool) []string { return field.IP(name) }, PlainGenerateName: true,
		},
		Validate: func(_ *resource.Context, at field.Cursor) { validateParentRef(at.Child("spec", "parentRef")) },
		Columns:  []table.Column{table.Name(), table.Doc("ParentRef", table.DocNetworking+"IPAddressSpec", "parentRef")},
		Row: func(now time.Time, obj object.Object) resource.Row {
			ref := obj.At("spec", "parentRef")
			if ref == nil {
				return table.Row(obj.Name(), table.None, table.AgeCell(now, obj))
			}
			name := ref.String("resource")
			if group := ref.String("group"); group != "" {
				name += "." + group
			}
			name = strings.ToLower(name)
			if namespace := ref.String("namespace"); namespace != "" {
				name += "/" + namespace
			}
			return table.Row(obj.Name(), name+"/"+ref.String("name"), table.AgeCell(now, obj)) // one cell more than columns, as it is
		},
	}
}

func validateParentRef(at field.Cursor) {
	if at.RequireIf(!at.Has(), "").Has() {
		at.Child("group").IfGiven().Check(field.DNS1123Subdomain)
		at.Child("resource").Required().Check(field.PathSegment)
		at.Child("name").Required().Check(field.PathSegment)
		at.Child("namespace").OrEmpty().Check(field.PathSegment)
	}
	if at.Changed() {
		at.Invalid(kind.GoPointer(gotext.ParentReference, at.Object()), field.TextImmutable)
	}
}
