//go:build !js

package scheduling

import (
	"encoding/json"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// goField is a field of a struct in kube-apiserver's internal types, which an error prints as JSON without tags: with capital letters, in
// the order of the struct, and with missing values.
type goField struct {
	name   string // as in JSON with tags
	zero   string // the JSON of a missing value
	fields []goField
}

var (
	goConstraints = goField{name: "schedulingConstraints", zero: "null", fields: []goField{
		{name: "topology", zero: "null", fields: []goField{{name: "key", zero: `""`}}}}}
	goMode = goField{name: "disruptionMode", zero: "null", fields: []goField{goPointer("single"), goPointer("all")}}
	goLast = []goField{{name: "priorityClassName", zero: `""`}, {name: "priority", zero: "null"}, {name: "preemptionPolicy", zero: "null"}}

	goGroup = append([]goField{
		{name: "name", zero: `""`}, goPolicy("minCount"), goConstraints,
		{name: "resourceClaims", zero: "null", fields: []goField{
			{name: "name", zero: `""`}, {name: "resourceClaimName", zero: "null"}, {name: "resourceClaimTemplateName", zero: "null"}}},
		goMode,
	}, goLast...)
	goComposite = append([]goField{{name: "name", zero: `""`}, goPolicy("minGroupCount"), goConstraints, goMode}, goLast...)
)

func goPointer(name string, fields ...goField) goField {
	return goField{name: name, zero: "null", fields: append([]goField{}, fields...)}
}

// goPolicy returns the scheduling policy of a group. least is the minimum of a gang.
func goPolicy(least string) goField {
	return goField{name: "schedulingPolicy", zero: `{"Basic":null,"Gang":null}`,
		fields: []goField{goPointer("basic"), goPointer("gang", goField{name: least, zero: "0"})}}
}

// goTemplates returns a list of composite templates as kube-apiserver's JSON of its internal type.
func goTemplates(list []object.Object) field.Raw {
	var b strings.Builder
	appendTemplates(&b, list)
	return field.Raw(b.String())
}

func appendTemplates(b *strings.Builder, list []object.Object) {
	appendList(b, list, func(template object.Object) {
		appendFields(b, template, goComposite)
		b.WriteString(`,"PodGroupTemplates":`)
		appendList(b, template.Objects("podGroupTemplates"), func(group object.Object) {
			appendFields(b, group, goGroup)
		})
		b.WriteString(`,"CompositePodGroupTemplates":`)
		appendTemplates(b, template.Objects("compositePodGroupTemplates"))
	})
}

func appendList(b *strings.Builder, list []object.Object, appendItem func(object.Object)) {
	if len(list) == 0 {
		b.WriteString("null")
		return
	}
	for i, item := range list {
		if i == 0 {
			b.WriteString("[{")
		} else {
			b.WriteString(",{")
		}
		appendItem(item)
		b.WriteByte('}')
	}
	b.WriteByte(']')
}

func appendFields(b *strings.Builder, obj object.Object, fields []goField) {
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.ToUpper(f.name[:1]) + f.name[1:] + `":`)
		switch v := obj[f.name].(type) {
		case nil:
			b.WriteString(f.zero)
		case map[string]any:
			b.WriteByte('{')
			appendFields(b, v, f.fields)
			b.WriteByte('}')
		case []any:
			appendList(b, obj.Objects(f.name), func(item object.Object) { appendFields(b, item, f.fields) })
		default:
			text, err := json.Marshal(v)
			if err != nil {
				panic("scheduling: a value from JSON cannot be encoded: " + err.Error())
			}
			b.Write(text)
		}
	}
}
