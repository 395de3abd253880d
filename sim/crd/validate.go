package crd

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// validator checks one definition. old is nil for a new one.
type validator struct {
	crd, old object.Object
	spec     *spec
	before   *spec // the parsed spec of old
	meta     structural.Meta
	minor    metadata.Rules
	kept     [2]*bool // cached results of demands: whether the stored definition follows a rule
}

func newValidator(ctx *resource.Context, crd, old object.Object, meta structural.Meta) *validator {
	v := &validator{crd: crd, old: old, spec: specOf(crd), meta: meta, minor: metadata.Rules(ctx.Server.Minor)}
	if old != nil {
		v.before = specOf(old)
	}
	return v
}

// nameRule returns the rule for the name of a definition, which must be PLURAL.GROUP.
func nameRule(_ *resource.Context, crd object.Object) func(name string, prefix bool) []string {
	want := crd.String("spec", "names", "plural") + "." + crd.String("spec", "group")
	return func(name string, prefix bool) []string {
		errs := field.NameDNSSubdomain(name, prefix)
		if name != want {
			errs = append(errs, `must be spec.names.plural+"."+spec.group`)
		}
		return errs
	}
}

// validate returns all errors in a definition except those in metadata.
func (v *validator) validate() field.ErrorList {
	at := field.CursorAt(v.crd, v.old)
	spec, preserve := at.Child("spec"), at.Child("spec", "preserveUnknownFields")
	v.checkSpec(spec)
	if v.old != nil {
		v.immutable(spec)
	}
	checkNames(at.Child("status", "acceptedNames"))
	v.storedVersions(at.Child("status", "storedVersions"))
	v.approval(at.Child("metadata", "annotations").Key(approvedAnnotation))
	preserve.InvalidIf(preserve.True() && !v.old.True("spec", "preserveUnknownFields"),
		"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
	return at.Errors()
}

func (v *validator) checkSpec(at field.Cursor) {
	s := v.spec
	checkGroup(at.Child("group").Required())
	oneOf(at.Child("scope").Required(), "Cluster", "Namespaced")
	v.schemasPresent(at)
	preserve := at.Child("preserveUnknownFields")
	preserve.InvalidIf(preserve.True() && s.hasDefaults(), "must be false in order to use defaults in the schema")
	storages, names, twice := 0, field.Seen{}, false
	for i, x := range s.versions {
		if x.storage {
			storages++
		}
		twice = names.Again(x.name) || twice
		version := at.Child("versions").Index(i)
		checkJoined(version.Child("name").With(x.name), field.DNS1035Label)
		v.checkVersion(version, x)
	}
	versions := at.Child("versions").With(printVersions(s))
	versions.InvalidIf(twice, "must contain unique version names")
	versions.InvalidIf(storages != 1, "must have exactly one version marked as storage version")
	if len(s.versions) > 0 && s.versions[0].name != "" {
		checkJoined(at.Child("version").With(s.versions[0].name), field.DNS1035Label)
	}
	for _, name := range []string{"plural", "singular", "kind", "listKind"} {
		at.Child("names", name).Required()
	}
	checkNames(at.Child("names"))
	v.checkTop(at)
	strategy := at.Child("conversion", "strategy").OrEmpty()
	strategy.InvalidIf(preserve.True() && strategy.String() != "None", "must be None if spec.preserveUnknownFields is true")
	if at.Has("conversion") {
		v.conversion(at.Child("conversion"))
	}
}

// oneOf is like Cursor.OneOf, but its errors print the value as a plain string, because the real server converts it, as in
// string(spec.Scope).
func oneOf(at field.Cursor, allowed ...string) {
	if at.Has() && !slices.Contains(allowed, at.String()) {
		at.NotSupported(at.String(), allowed...)
	}
}

// checkTop checks the fields that all versions share.
func (v *validator) checkTop(at field.Cursor) {
	top := &v.spec.top
	status := top.hasStatus() || slices.ContainsFunc(v.spec.versions, (*version).hasStatus)
	var before map[string]any
	if len(v.spec.versions) > 0 {
		before = v.before.schemaOf(v.spec.versions[0].name)
	}
	v.checkPart(at, top, "", status, before, top.schema != nil, "may only be set when validations.schema is included")
}

func (v *validator) checkVersion(at field.Cursor, x *version) {
	if x.warning != nil {
		deprecation(at.Child("deprecationWarning").With(x.warning), *x.warning, x.deprecated)
	}
	status := v.spec.top.hasStatus() || v.spec.named(x.name).hasStatus()
	v.checkPart(at, &x.part, x.name, status, v.before.schemaOf(x.name), x.openAPI() != nil,
		"may only be set when `version.schema.openAPIV3Schema` is not included")
}

// checkPart checks the fields of one version, or of all versions if name is "". status reports whether the status subresource
// is served. before is the stored schema. selects reports whether selectable fields are allowed; if they are not, why is the
// error.
func (v *validator) checkPart(at field.Cursor, x *part, name string, status bool, before map[string]any, selects bool,
	why string) {
	at.Report(v.checkSchema(x.openAPI(), at.Path(x.validation, "openAPIV3Schema"), status, before))
	checkSubresources(at.Child("subresources").With(x.sub))
	checkColumns(at.Child("additionalPrinterColumns").With(x.columns))
	switch fields := at.Child("selectableFields").With(x.fields); {
	case fields.Len() == 0:
	case !selects:
		fields.Invalid("", why)
	default:
		if why := conversionError(x.openAPI()); why != "" {
			at.Report(field.ErrorList{field.Invalid(at.Path("schema", "openAPIV3Schema"), "", why)})
		}
		v.selectable(fields, x, name)
	}
}

// named returns the first version with the given name, or nil. s may be nil.
func (s *spec) named(name string) *version {
	if s != nil {
		for _, x := range s.versions {
			if x.name == name {
				return x
			}
		}
	}
	return nil
}

// schemaOf returns the openAPIV3Schema of a version, or nil. For an unknown version it returns the schema that all
// versions share (apiextensions.GetSchemaForVersion). s may be nil.
func (s *spec) schemaOf(name string) map[string]any {
	if x := s.named(name); x != nil {
		return x.whole.openAPI()
	}
	if s != nil {
		return s.top.openAPI()
	}
	return nil
}

func checkGroup(at field.Cursor) {
	if at.Has() && len(field.DNS1123Subdomain(at.String())) == 0 {
		at.InvalidIf(!strings.Contains(at.String(), "."), "should be a domain with at least one dot")
	} else {
		checkJoined(at, field.DNS1123Subdomain)
	}
}

// schemasPresent checks that every version has a schema, unless a version in the stored definition had none.
func (v *validator) schemasPresent(at field.Cursor) {
	if v.spec.top.openAPI() != nil || v.before != nil && slices.ContainsFunc(v.before.schemas(), isNil) {
		return
	}
	for i, x := range v.spec.versions {
		at.Child("versions").Index(i).Child("schema", "openAPIV3Schema").RequireIf(x.openAPI() == nil, "")
	}
}

// hasDefaults reports whether any schema has a default.
func (s *spec) hasDefaults() bool {
	free := func(node object.Object) bool { return node["default"] == nil }
	return slices.ContainsFunc(s.schemas(), func(schema map[string]any) bool { return !walk(schema, free) })
}

func isNil(schema map[string]any) bool { return schema == nil }

// deprecation checks a deprecation warning. The value of at is a pointer to it, so that errors print it as JSON.
func deprecation(at field.Cursor, text string, deprecated bool) {
	if !deprecated {
		at.InvalidIf(true, "can only be set for deprecated versions")
		return
	}
	at.InvalidIf(len(text) > 256, "must be <= 256 characters long")
	at.InvalidIf(text == "", "must not be an empty string")
	i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	at.InvalidIf(i >= 0, "must only contain printable UTF-8 characters; non-printable character found at index "+strconv.Itoa(i))
	at.InvalidIf(!utf8.ValidString(text), "must only contain printable UTF-8 characters")
}

// storedVersions checks that every version in which objects may be stored still exists. If a version is listed twice, the error
// contains the index of its last occurrence.
func (v *validator) storedVersions(at field.Cursor) {
	stored := at.Strings()
	if len(stored) == 0 {
		at.Invalid(nil, "must have at least one stored version")
		return
	}
	left := map[string]bool{}
	for _, name := range stored {
		left[name] = true
	}
	for _, x := range v.spec.versions {
		if x.storage && !left[x.name] {
			at.Invalid(stored, "must have the storage version "+x.name)
		}
		delete(left, x.name)
	}
	for i, name := range stored {
		if left[name] && !slices.Contains(stored[i+1:], name) {
			at.Index(i).Invalid(name, "missing from spec.versions; "+name+
				" was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in "+
				name+" and removes "+name+" from status.storedVersions")
		}
	}
}

func (v *validator) immutable(at field.Cursor) {
	check := func(at field.Cursor) { at.InvalidIf(at.Changed(), field.TextImmutable) }
	if IsTrue(v.old, Established) {
		at.Child("scope").OrEmpty().Immutable()
		check(at.Child("names", "kind").OrEmpty())
	}
	check(at.Child("group").OrEmpty())
	check(at.Child("names", "plural").OrEmpty())
}
