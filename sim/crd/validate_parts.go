package crd

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/webhook"
)

// checkNames checks spec.names or status.acceptedNames.
func checkNames(at field.Cursor) {
	for _, name := range []string{"plural", "singular"} {
		checkJoined(at.Child(name).IfGiven(), field.DNS1035Label)
	}
	for _, name := range []string{"kind", "listKind"} {
		at.Child(name).IfGiven().Check(structural.KindName)
	}
	for name := range at.Each("shortNames") {
		checkJoined(name, field.DNS1035Label)
	}
	listKind := at.Child("listKind").IfGiven()
	listKind.InvalidIf(listKind.Has() && listKind.String() == at.String("kind"), "kind and listKind may not be the same")
	for name := range at.Each("categories") {
		checkJoined(name, field.DNS1035Label)
	}
}

// checkJoined applies a rule to a string and joins all messages into one error.
func checkJoined(at field.Cursor, rule func(string) []string) {
	at.Check(field.Joined(rule, ","))
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

func checkColumns(at field.Cursor) {
	for c := range at.Each() {
		c.Child("name").Required()
		text := "must be one of " + strings.Join(columnTypes, ",")
		kind, format, path := c.Child("type").Required(text), c.Child("format").IfGiven(), c.Child("jsonPath")
		kind.InvalidIf(kind.Has() && !slices.Contains(columnTypes, kind.String()), text)
		format.InvalidIf(format.Has() && !slices.Contains(columnFormats, format.String()), "must be one of "+strings.Join(columnFormats, ","))
		path.ReportAt(c.Child("JSONPath")).Required().Check(simplePath)
	}
}

func simplePath(path string) []string {
	if !strings.HasPrefix(path, ".") {
		return []string{"must be a simple json path starting with ."}
	}
	return nil
}

func checkSubresources(at field.Cursor) {
	if !at.Has("scale") {
		return
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
}

// selectableMax is the maximum number of selectable fields of a version.
const selectableMax = 8

// selectable checks the selectable fields of one version, or of all versions.
func (v *validator) selectable(at field.Cursor, x *part, name string) {
	seen := field.Seen{}
	for f := range at.Each() {
		path := f.Child("jsonPath").Required()
		if !path.Has() {
			continue
		}
		to, schema, err := expr.FieldPath(path.String(), x.openAPI(), false)
		if err != nil {
			path.InvalidIf(true, "is an invalid path: "+err.Error())
			continue
		}
		key, kind := to.String(), schema.String("type")
		path.InvalidIf(key[:strings.IndexAny(key+".", ".[")] == "metadata", "must not point to fields in metadata")
		path.InvalidIf(kind != "string" && kind != "boolean" && kind != "integer",
			"must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")
		path.UniqueBy(seen, key)
	}
	if len(seen) > selectableMax && !v.tooManyBefore(name, x.fields) {
		at.Report(field.ErrorList{field.TooMany(at.Path(), len(seen), selectableMax)})
	}
}

// tooManyBefore reports whether the stored definition has the same selectable fields, which may then exceed the limit.
func (v *validator) tooManyBefore(name string, fields []any) bool {
	return v.before != nil && slices.ContainsFunc(v.before.versions, func(x *version) bool {
		return (name == "" || x.name == name) && sameLists(x.whole.fields, fields)
	})
}

// conversion checks spec.conversion. The paths in errors are those of an older API version.
func (v *validator) conversion(at field.Cursor) {
	oneOf(at.Child("strategy").Required(), "None", "Webhook")
	config := at.Child("webhook", "clientConfig").ReportAt(at.Child("webhookClientConfig"))
	versions := at.Child("webhook", "conversionReviewVersions").ReportAt(at.Child("conversionReviewVersions"))
	switch {
	case at.String("strategy") != "Webhook":
		const text = "should not be set when strategy is not set to Webhook"
		config.ForbidIf(config.Has(), text)
		versions.ForbidIf(versions.Len() > 0, text)
		return
	case config.Has():
		webhook.ValidateClientConfig(config)
		v.bundle(config.Child("caBundle"))
	default:
		config.Missing("required when strategy is set to Webhook")
	}
	old := v.old.Strings("spec", "conversion", "webhook", "conversionReviewVersions")
	webhook.ValidateReviewVersions(versions.Required(), webhook.TakesNone(old))
}

// bundle checks the CA bundle of a conversion webhook. The bundle must be valid only if the definition is Established and its
// stored bundle is valid.
func (v *validator) bundle(at field.Cursor) {
	if v.old == nil || !IsTrue(v.old, Established) || webhook.CheckBundle(bundle(v.old)) != nil {
		return
	}
	at.CheckError(webhook.CheckBundle(webhook.Bundle(map[string]any{"caBundle": at.String()})))
}

// approvedAnnotation is the annotation with the approval of an API in a group of the Kubernetes community.
const approvedAnnotation = "api-approved.kubernetes.io"

// approval requires the annotation in definitions for groups of the Kubernetes community, unless its state is unchanged.
func (v *validator) approval(at field.Cursor) {
	state := approvalState(at.String())
	if protected(v.spec.String("group")) && (v.old == nil || approvalState(v.old.Annotations()[approvedAnnotation]) != state) {
		at.RequireIf(state == "missing", approvalMissing)
		at.InvalidIf(state == "invalid", approvalInvalid)
	}
}

const (
	approvalDemand  = `protected groups must have approval annotation "` + approvedAnnotation + `"`
	approvalSee     = ", see https://github.com/kubernetes/enhancements/pull/1111"
	approvalMissing = approvalDemand + approvalSee
	approvalInvalid = approvalDemand + ` with either a URL or a reason starting with "unapproved"` + approvalSee
)

// protected reports whether a group is reserved for the Kubernetes community.
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
