package crd

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/webhook"
)

// checkNames checks spec.names or status.acceptedNames.
func checkNames(m object.Object, p field.Path) field.ErrorList {
	at := field.CursorOn(p, m)
	for _, name := range []string{"plural", "singular"} {
		checkJoined(at.Child(name).IfGiven(), field.DNS1035Label)
	}
	for _, name := range []string{"kind", "listKind"} {
		checkJoined(at.Child(name).IfGiven(), mixedCase)
	}
	for name := range at.Each("shortNames") {
		checkJoined(name, field.DNS1035Label)
	}
	listKind := at.Child("listKind").IfGiven()
	listKind.InvalidIf(listKind.Has() && listKind.String() == at.String("kind"), "kind and listKind may not be the same")
	for name := range at.Each("categories") {
		checkJoined(name, field.DNS1035Label)
	}
	return at.Errors()
}

func mixedCase(name string) []string {
	texts := field.DNS1035Label(strings.ToLower(name))
	if len(texts) > 0 {
		texts[0] = "may have mixed case, but should otherwise match: " + texts[0]
	}
	return texts
}

// checkJoined applies a rule to a string, with all messages in one error.
func checkJoined(at field.Cursor, rule func(string) []string) {
	if texts := rule(at.String()); at.Has() && len(texts) > 0 {
		at.Invalid(at.Value(), strings.Join(texts, ","))
	}
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

func checkColumns(columns []any, p field.Path) field.ErrorList {
	at := field.CursorOn(p, columns)
	for c := range at.Each() {
		c.Child("name").Required()
		text := "must be one of " + strings.Join(columnTypes, ",")
		kind, format, path := c.Child("type").Required(text), c.Child("format").IfGiven(), c.Child("jsonPath")
		kind.InvalidIf(kind.Has() && !slices.Contains(columnTypes, kind.String()), text)
		format.InvalidIf(format.Has() && !slices.Contains(columnFormats, format.String()), "must be one of "+strings.Join(columnFormats, ","))
		path.ReportAt(c.Child("JSONPath")).Required().Check(simplePath)
	}
	return at.Errors()
}

func simplePath(path string) []string {
	if !strings.HasPrefix(path, ".") {
		return []string{"must be a simple json path starting with ."}
	}
	return nil
}

func checkSubresources(sub object.Object, p field.Path) field.ErrorList {
	at := field.CursorOn(p, sub)
	if !at.Has("scale") {
		return nil
	}
	check := func(path field.Cursor, below string, prefixes ...string) {
		text := path.String()
		switch under := func(prefix string) bool { return strings.HasPrefix(text, prefix) }; {
		case len(simplePath(text)) > 0:
			path.Check(simplePath)
		case !slices.ContainsFunc(prefixes, under):
			path.InvalidIf(path.Has(), "should be a json path under "+below)
		}
	}
	check(at.Child("scale", "specReplicasPath").Required(), ".spec", ".spec.")
	check(at.Child("scale", "statusReplicasPath").Required(), ".status", ".status.")
	check(at.Child("scale", "labelSelectorPath").IfGiven(), "either .spec or .status", ".spec.", ".status.")
	return at.Errors()
}

// selectableMax is how many fields of a version selectors can ask for.
const selectableMax = 8

// selectable checks the selectable fields of a version, or of all of them.
func (v *validator) selectable(x *part, name string) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, f := range x.fields {
		path := object.As(f).String("jsonPath")
		at := x.at.Child("selectableFields").Index(i).Child("jsonPath")
		if path == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		to, schema, err := cel.FieldPath(path, x.openAPI(), false)
		if err != nil {
			errs = append(errs, field.Invalid(at, path, "is an invalid path: "+err.Error()))
			continue
		}
		key := to.String()
		if key[:strings.IndexAny(key+".", ".[")] == "metadata" {
			errs = append(errs, field.Invalid(at, path, "must not point to fields in metadata"))
		}
		if kind := schema.String("type"); kind != "string" && kind != "boolean" && kind != "integer" {
			errs = append(errs, field.Invalid(at, path,
				"must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."))
		}
		if seen[key] {
			errs = append(errs, field.Duplicate(at, path))
		}
		seen[key] = true
	}
	if len(seen) > selectableMax && !v.tooManyBefore(name, x.fields) {
		errs = append(errs, field.TooMany(x.at.Child("selectableFields"), len(seen), selectableMax))
	}
	return errs
}

// tooManyBefore reports whether the stored definition has the same fields, too many as they are.
func (v *validator) tooManyBefore(name string, fields []any) bool {
	return v.before != nil && slices.ContainsFunc(v.before.versions, func(x *version) bool {
		return (name == "" || x.name == name) && sameLists(x.whole.fields, fields)
	})
}

// conversion checks spec.conversion. The paths of errors are those of an older version.
func (v *validator) conversion() field.ErrorList {
	conversion := v.spec.Map("conversion")
	if conversion == nil {
		return nil
	}
	at := field.CursorOn(field.Root("spec.conversion"), conversion)
	oneOf(at.Child("strategy").Required(), "None", "Webhook")
	config := at.Child("webhook", "clientConfig").ReportAt(at.Child("webhookClientConfig"))
	versions := at.Child("webhook", "conversionReviewVersions").ReportAt(at.Child("conversionReviewVersions"))
	switch {
	case at.String("strategy") != "Webhook":
		const text = "should not be set when strategy is not set to Webhook"
		config.ForbidIf(config.Has(), text)
		versions.ForbidIf(versions.Len() > 0, text)
		return at.Errors()
	case config.Has():
		webhook.ValidateClientConfig(config)
	default:
		config.Missing("required when strategy is set to Webhook")
	}
	v.reviewVersions(versions.Required())
	return at.Errors()
}

func (v *validator) reviewVersions(at field.Cursor) {
	seen := map[string]bool{}
	for version := range at.Each() {
		if name := version.String(); !seen[name] {
			seen[name] = true
			version.Check(field.DNS1035Label)
		} else {
			version.Invalid(name, "duplicate version")
		}
	}
	known := func(name string) bool { return name == "v1" || name == "v1beta1" }
	old := v.old.Strings("spec", "conversion", "webhook", "conversionReviewVersions")
	bound := len(old) == 0 || slices.ContainsFunc(old, known)
	if names := at.Strings(); len(names) > 0 && bound && !slices.ContainsFunc(names, known) {
		at.Invalid(names, "must include at least one of v1, v1beta1")
	}
}

// approvedAnnotation says where the API of a group of the community was approved.
const approvedAnnotation = "api-approved.kubernetes.io"

// approval demands the annotation of groups that belong to the community. A definition may stay as it was.
func (v *validator) approval() field.ErrorList {
	text := v.crd.Annotations()[approvedAnnotation]
	state := approvalState(text)
	p := field.Root("metadata.annotations").Key(approvedAnnotation)
	switch {
	case !protected(v.spec.String("group")), v.old != nil && approvalState(v.old.Annotations()[approvedAnnotation]) == state:
		return nil
	case state == "missing":
		return field.ErrorList{field.Required(p, approvalMissing)}
	case state == "invalid":
		return field.ErrorList{field.Invalid(p, text, approvalInvalid)}
	}
	return nil
}

const (
	approvalDemand  = `protected groups must have approval annotation "` + approvedAnnotation + `"`
	approvalSee     = ", see https://github.com/kubernetes/enhancements/pull/1111"
	approvalMissing = approvalDemand + approvalSee
	approvalInvalid = approvalDemand + ` with either a URL or a reason starting with "unapproved"` + approvalSee
)

// protected reports whether a group belongs to the community.
func protected(group string) bool {
	return strings.HasSuffix("."+group, ".k8s.io") || strings.HasSuffix("."+group, ".kubernetes.io")
}

func approvalState(text string) string {
	if text == "" {
		return "missing"
	}
	if strings.HasPrefix(text, "unapproved") {
		return "bypassed"
	}
	if u, err := url.ParseRequestURI(text); err == nil && u.Host != "" && u.Scheme != "" {
		return "approved"
	}
	return "invalid"
}
