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
	before   *spec // of old
	meta     structural.Meta
	minor    metadata.Rules
	kept     [2]*bool // whether before keeps a rule; nil: not asked yet
}

func newValidator(ctx *resource.Context, crd, old object.Object, meta structural.Meta) *validator {
	v := &validator{crd: crd, old: old, spec: specOf(crd), meta: meta, minor: metadata.Rules(ctx.Server.Minor)}
	if old != nil {
		v.before = specOf(old)
	}
	return v
}

// nameRule is the rule for names of definitions: the resource and the group.
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

// validate returns everything wrong with a definition, metadata aside.
func (v *validator) validate() field.ErrorList {
	errs := v.checkSpec()
	if v.old != nil {
		errs = append(errs, v.immutable()...)
	}
	errs = append(errs, checkNames(v.crd.Map("status", "acceptedNames"), field.Root("status.acceptedNames"))...)
	errs = append(errs, v.storedVersions()...)
	errs = append(errs, v.approval()...)
	if v.spec.True("preserveUnknownFields") && !v.old.True("spec", "preserveUnknownFields") {
		errs = append(errs, field.Invalid(field.Root("spec.preserveUnknownFields"), true,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

func (v *validator) checkSpec() field.ErrorList {
	s := v.spec
	at := field.CursorOn(field.Root("spec"), s.Object)
	checkGroup(at.Child("group").Required())
	oneOf(at.Child("scope").Required(), "Cluster", "Namespaced")
	at.Report(v.schemasPresent())
	preserve := at.Child("preserveUnknownFields")
	preserve.InvalidIf(preserve.True() && s.hasDefaults(), "must be false in order to use defaults in the schema")
	storages, names, twice := 0, map[string]bool{}, false
	for _, x := range s.versions {
		if x.storage {
			storages++
		}
		twice = twice || names[x.name]
		names[x.name] = true
		name := field.CursorOn(x.at.Child("name"), x.name)
		checkJoined(name, field.DNS1035Label)
		at.Report(name.Errors()).Report(v.checkVersion(x))
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
	at.Report(checkNames(s.Map("names"), at.Path("names")))
	at.Report(v.checkTop())
	strategy := at.Child("conversion", "strategy").OrEmpty()
	strategy.InvalidIf(preserve.True() && strategy.String() != "None", "must be None if spec.preserveUnknownFields is true")
	return at.Report(v.conversion()).Errors()
}

// oneOf is Cursor.OneOf for a string that errors print as it is: the real server says string(spec.Scope).
func oneOf(at field.Cursor, allowed ...string) {
	if at.Has() && !slices.Contains(allowed, at.String()) {
		at.NotSupported(at.String(), allowed...)
	}
}

// checkTop checks what all versions have in common.
func (v *validator) checkTop() field.ErrorList {
	top := &v.spec.top
	status := top.hasStatus() || slices.ContainsFunc(v.spec.versions, (*version).hasStatus)
	var before map[string]any
	if len(v.spec.versions) > 0 {
		before = v.before.schemaOf(v.spec.versions[0].name)
	}
	return v.checkPart(top, "", status, before, top.schema != nil, "may only be set when validations.schema is included")
}

func (v *validator) checkVersion(x *version) field.ErrorList {
	var errs field.ErrorList
	if x.warning != nil {
		errs = deprecation(x)
	}
	status := v.spec.top.hasStatus() || v.spec.named(x.name).hasStatus()
	return append(errs, v.checkPart(&x.part, x.name, status, v.before.schemaOf(x.name), x.openAPI() != nil,
		"may only be set when `version.schema.openAPIV3Schema` is not included")...)
}

// checkPart checks what a version says, or all of them, which have no name. status says that the status subresource is
// served, before is the stored schema, and selects that fields can be selected, or else why they cannot.
func (v *validator) checkPart(x *part, name string, status bool, before map[string]any, selects bool, why string) field.ErrorList {
	errs := v.checkSchema(x, status, before)
	errs = append(errs, checkSubresources(x.sub, x.at.Child("subresources"))...)
	errs = append(errs, checkColumns(x.columns, x.at.Child("additionalPrinterColumns"))...)
	switch {
	case len(x.fields) == 0:
		return errs
	case !selects:
		return append(errs, field.Invalid(x.at.Child("selectableFields"), "", why))
	}
	return append(errs, v.selectable(x, name)...)
}

// named returns the first version of a name, or nil. s may be nil.
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

// schemaOf returns the openAPIV3Schema of a version, or nil. s may be nil. One that there is not has that of all versions
// (apiextensions.GetSchemaForVersion).
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

// schemasPresent demands a schema of every version, unless the stored definition had none for some of them.
func (v *validator) schemasPresent() field.ErrorList {
	if v.spec.top.openAPI() != nil || v.before != nil && slices.ContainsFunc(v.before.schemas(), isNil) {
		return nil
	}
	var errs field.ErrorList
	for _, x := range v.spec.versions {
		if x.openAPI() == nil {
			errs = append(errs, field.Required(x.openAPIPath(), ""))
		}
	}
	return errs
}

// hasDefaults reports whether any schema has a default.
func (s *spec) hasDefaults() bool {
	free := func(node object.Object, _ field.Path) bool { return node["default"] == nil }
	return slices.ContainsFunc(s.schemas(), func(schema map[string]any) bool { return !walk(schema, field.Path{}, free) })
}

func isNil(schema map[string]any) bool { return schema == nil }

func deprecation(x *version) field.ErrorList {
	at, text := field.CursorOn(x.at.Child("deprecationWarning"), x.warning), *x.warning // the pointer makes the value print as JSON
	if !x.deprecated {
		at.InvalidIf(true, "can only be set for deprecated versions")
	} else {
		at.InvalidIf(len(text) > 256, "must be <= 256 characters long")
		at.InvalidIf(text == "", "must not be an empty string")
		i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
		at.InvalidIf(i >= 0, "must only contain printable UTF-8 characters; non-printable character found at index "+strconv.Itoa(i))
		at.InvalidIf(!utf8.ValidString(text), "must only contain printable UTF-8 characters")
	}
	return at.Errors()
}

// storedVersions checks that every version in which objects may be stored can still be read. One that is named twice counts
// where it is named last.
func (v *validator) storedVersions() field.ErrorList {
	p := field.Root("status.storedVersions")
	stored := v.crd.Strings("status", "storedVersions")
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(p, nil, "must have at least one stored version")}
	}
	var errs field.ErrorList
	left := map[string]bool{}
	for _, name := range stored {
		left[name] = true
	}
	for _, x := range v.spec.versions {
		if x.storage && !left[x.name] {
			errs = append(errs, field.Invalid(p, stored, "must have the storage version "+x.name))
		}
		delete(left, x.name)
	}
	for i, name := range stored {
		if left[name] && !slices.Contains(stored[i+1:], name) {
			errs = append(errs, field.Invalid(p.Index(i), name, "missing from spec.versions; "+name+
				" was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in "+
				name+" and removes "+name+" from status.storedVersions"))
		}
	}
	return errs
}

func (v *validator) immutable() field.ErrorList {
	var errs field.ErrorList
	check := func(path ...string) {
		if value := v.spec.String(path...); value != v.before.String(path...) {
			var shown any = value
			if path[0] == "scope" {
				shown = field.Enum(value)
			}
			errs = append(errs, field.Invalid(field.Root("spec").Child(path...), shown, field.TextImmutable))
		}
	}
	if IsTrue(v.old, Established) {
		check("scope")
		check("names", "kind")
	}
	check("group")
	check("names", "plural")
	return errs
}
