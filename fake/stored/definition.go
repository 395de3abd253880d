package stored

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// common are the fields that a CustomResourceDefinition of v1beta1 may have once for all versions, with their names in a version.
var common = [][2]string{{"validation", "schema"}, {"subresources", "subresources"}, {"additionalPrinterColumns", "additionalPrinterColumns"},
	{"selectableFields", "selectableFields"}}

// webhook are the fields of a conversion webhook in v1beta1, with their names in v1.
var webhook = [][2]string{{"webhookClientConfig", "clientConfig"}, {"conversionReviewVersions", "conversionReviewVersions"}}

// serveDefinition converts a CustomResourceDefinition from v1beta1, in which API servers store it, to v1.
func serveDefinition(crd object.Object) {
	spec := crd.At("spec")
	crd["apiVersion"] = "apiextensions.k8s.io/v1"
	if name := spec.String("version"); name != "" && len(spec.List("versions")) == 0 {
		spec["versions"] = []any{map[string]any{"name": name, "served": true, "storage": true}}
	}
	renameColumns(spec, "JSONPath", "jsonPath")
	for _, v := range spec.Objects("versions") {
		renameColumns(v, "JSONPath", "jsonPath")
		for _, names := range common {
			if shared, ok := spec[names[0]]; ok {
				v[names[1]] = object.Copy(shared)
			}
		}
	}
	delete(spec, "version")
	for _, names := range common {
		delete(spec, names[0])
	}
	if spec.Has("preserveUnknownFields") && !spec.True("preserveUnknownFields") {
		delete(spec, "preserveUnknownFields")
	}
	for _, names := range webhook {
		if value, ok := spec.Get("conversion", names[0]); ok {
			spec.Set(value, "conversion", "webhook", names[1])
			spec.Remove("conversion", names[0])
		}
	}
}

// storeDefinition converts a CustomResourceDefinition from v1 to v1beta1, the inverse of serveDefinition. A field that is equal in all
// versions becomes a field of the spec (Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec).
func storeDefinition(crd object.Object) {
	spec := crd.At("spec")
	versions := spec.Objects("versions")
	for i, v := range versions {
		renameColumns(v, "jsonPath", "JSONPath")
		if i == 0 {
			spec["version"] = v.String("name")
		}
	}
	for _, names := range common {
		if len(versions) > 0 && equalInAll(versions, names[1]) {
			if shared, ok := versions[0][names[1]]; ok {
				spec[names[0]] = shared
			}
			for _, v := range versions {
				delete(v, names[1])
			}
		}
	}
	spec.SetDefault(false, "preserveUnknownFields")
	for _, names := range webhook {
		if value, ok := spec.Get("conversion", "webhook", names[1]); ok {
			spec.Set(value, "conversion", names[0])
		}
	}
	spec.Remove("conversion", "webhook")
}

// equalInAll reports whether a field has the same value in all versions, or is missing in all.
func equalInAll(versions []object.Object, field string) bool {
	for _, v := range versions {
		if !object.Equal(v[field], versions[0][field]) {
			return false
		}
	}
	return true
}

// renameColumns renames a field of the printer columns of a spec or a version.
func renameColumns(of object.Object, from, to string) {
	for _, c := range of.Objects("additionalPrinterColumns") {
		if path, ok := c[from]; ok {
			c[to] = path
			delete(c, from)
		}
	}
}

// definitionType returns the Go type of a CustomResourceDefinition of v1beta1, which determines the order of its fields. served is the
// type of v1, from whose fields it consists.
func definitionType(served *schema.Type) *schema.Type {
	spec := served.Field("spec").Type
	version, conversion := spec.Field("versions").Type.Elem, spec.Field("conversion").Type
	optional := *version.Field("schema") // a pointer
	named := func(f schema.Field, name string, t *schema.Type) schema.Field {
		f.Name, f.Type = name, t
		return f
	}
	columns := *version.Field("additionalPrinterColumns")
	columns.Type = &schema.Type{Kind: schema.List, GoType: columns.Type.GoType, Elem: renamedField(columns.Type.Elem, "jsonPath", "JSONPath")}
	versions := *spec.Field("versions")
	versions.Type = &schema.Type{Kind: schema.List, GoType: versions.Type.GoType, Elem: withField(version, columns)}
	hook := conversion.Field("webhook").Type
	name := *spec.Field("names").Type.Field("singular") // a string that may be omitted
	return withField(served, named(*served.Field("spec"), "spec", structOf(spec,
		*spec.Field("group"), named(name, "version", name.Type), *spec.Field("names"), *spec.Field("scope"), named(optional, "validation", optional.Type),
		*version.Field("subresources"), versions, columns, *version.Field("selectableFields"),
		named(*spec.Field("conversion"), "conversion", structOf(conversion, *conversion.Field("strategy"),
			named(*hook.Field("clientConfig"), "webhookClientConfig", hook.Field("clientConfig").Type),
			named(columns, "conversionReviewVersions", hook.Field("conversionReviewVersions").Type))),
		named(optional, "preserveUnknownFields", spec.Field("preserveUnknownFields").Type))))
}

// structOf returns a type like t with other fields.
func structOf(t *schema.Type, fields ...schema.Field) *schema.Type {
	return &schema.Type{Name: t.Name, GoType: t.GoType, Kind: t.Kind, Fields: fields}
}

// withField returns a type like t with another field instead of that of the same name.
func withField(t *schema.Type, f schema.Field) *schema.Type {
	made := structOf(t)
	for _, old := range t.Fields {
		if old.Name == f.Name {
			old = f
		}
		made.Fields = append(made.Fields, old)
	}
	return made
}

// renamedField returns a type like t in which a field has another name.
func renamedField(t *schema.Type, from, to string) *schema.Type {
	made := withField(t, *t.Field(from))
	for i := range made.Fields {
		if made.Fields[i].Name == from {
			made.Fields[i].Name = to
		}
	}
	return made
}
