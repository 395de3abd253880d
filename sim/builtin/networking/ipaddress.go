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
		Validate: func(ctx *resource.Context, at field.Cursor) { validateParentRef(ctx, at.Child("spec", "parentRef")) },
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
			return table.Row(obj.Name(), name+"/"+ref.String("name"), table.AgeCell(now, obj)) // there is one more cell than columns, as on the real server
		},
	}
}

// isThere reports an error if the reference at the cursor is missing. An empty reference is not an error here, because other rules
// require its fields.
func isThere(at field.Cursor) field.Cursor { return at.RequireIf(!at.Has(), "") }

func validateParentRef(ctx *resource.Context, at field.Cursor) {
	if at.Declared(ctx.Since(37), isThere).Has() {
		inside := ctx.Since(37) && !at.Changed() // if the tag of the reference forbids a change, the tags of its fields are not checked
		at.Child("group").IfGiven().Check(field.DNS1123Subdomain)
		at.Child("resource").Declared(inside, field.Cursor.Given).Check(field.PathSegment)
		at.Child("name").Declared(inside, field.Cursor.Given).Check(field.PathSegment)
		at.Child("namespace").OrEmpty().Check(field.PathSegment)
	}
	if at.Changed() {
		at.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor {
			return c.Invalid(kind.GoPointer(gotext.ParentReference, c.Object()), field.TextImmutable)
		})
	}
}
