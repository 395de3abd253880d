package crd

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// checkNames checks spec.names or status.acceptedNames.
func checkNames(m object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"plural", "singular"} {
		if value := m.String(name); value != "" {
			errs = append(errs, joined(p.Child(name), value, value, "", field.DNS1035Label)...)
		}
	}
	for _, name := range []string{"kind", "listKind"} {
		if value := m.String(name); value != "" {
			errs = append(errs, joined(p.Child(name), value, strings.ToLower(value),
				"may have mixed case, but should otherwise match: ", field.DNS1035Label)...)
		}
	}
	for i, name := range object.Strings(m.List("shortNames")) {
		errs = append(errs, joined(p.Child("shortNames").Index(i), name, name, "", field.DNS1035Label)...)
	}
	if kind := m.String("kind"); kind != "" && kind == m.String("listKind") {
		errs = append(errs, field.Invalid(p.Child("listKind"), kind, "kind and listKind may not be the same"))
	}
	for i, name := range object.Strings(m.List("categories")) {
		errs = append(errs, joined(p.Child("categories").Index(i), name, name, "", field.DNS1035Label)...)
	}
	return errs
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

func checkColumns(columns []any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, x := range columns {
		c, at := object.As(x), p.Index(i)
		if c.String("name") == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		text := "must be one of " + strings.Join(columnTypes, ",")
		if kind := c.String("type"); kind == "" {
			errs = append(errs, field.Required(at.Child("type"), text))
		} else if !contains(columnTypes, kind) {
			errs = append(errs, field.Invalid(at.Child("type"), kind, text))
		}
		if format := c.String("format"); format != "" && !contains(columnFormats, format) {
			errs = append(errs, field.Invalid(at.Child("format"), format, "must be one of "+strings.Join(columnFormats, ",")))
		}
		if path := c.String("jsonPath"); path == "" {
			errs = append(errs, field.Required(at.Child("JSONPath"), ""))
		} else {
			errs = append(errs, simplePath(path, at.Child("JSONPath"))...)
		}
	}
	return errs
}

func simplePath(path string, p field.Path) field.ErrorList {
	if path[0] != '.' {
		return field.ErrorList{field.Invalid(p, path, "must be a simple json path starting with .")}
	}
	return nil
}

func checkSubresources(sub object.Object, p field.Path) field.ErrorList {
	scale := sub.Map("scale")
	if scale == nil {
		return nil
	}
	var errs field.ErrorList
	check := func(name, below string, required bool, prefixes ...string) {
		at := p.Child("scale." + name)
		path := object.Object(scale).String(name)
		if path == "" {
			if required {
				errs = append(errs, field.Required(at, ""))
			}
			return
		}
		if bad := simplePath(path, at); bad != nil {
			errs = append(errs, bad...)
			return
		}
		for _, prefix := range prefixes {
			if strings.HasPrefix(path, prefix) {
				return
			}
		}
		errs = append(errs, field.Invalid(at, path, "should be a json path under "+below))
	}
	check("specReplicasPath", ".spec", true, ".spec.")
	check("statusReplicasPath", ".status", true, ".status.")
	check("labelSelectorPath", "either .spec or .status", false, ".spec.", ".status.")
	return errs
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
		} else {
			seen[key] = true
		}
	}
	if len(seen) > selectableMax && !v.tooManyBefore(name, x.fields) {
		errs = append(errs, field.TooMany(x.at.Child("selectableFields"), len(seen), selectableMax))
	}
	return errs
}

// tooManyBefore reports whether the stored definition has the same fields, too many as they are.
func (v *validator) tooManyBefore(name string, fields []any) bool {
	if v.before == nil {
		return false
	}
	for i := range v.before.versions {
		x := &v.before.versions[i]
		if old := v.before.of(x); (name == "" || x.name == name) && object.SemanticEqual(any(old.fields), any(fields)) {
			return true
		}
	}
	return false
}

// conversion checks spec.conversion.
func (v *validator) conversion() field.ErrorList {
	c, p := object.Object(v.spec.Map("conversion")), field.Root("spec.conversion")
	if c == nil {
		return nil
	}
	strategy := c.String("strategy")
	errs := oneOf(p.Child("strategy"), strategy, "None", "Webhook")
	hook := object.Object(c.Map("webhook"))
	config := hook.Map("clientConfig")
	versions := object.Strings(hook.List("conversionReviewVersions"))
	if strategy != "Webhook" {
		if config != nil {
			errs = append(errs, field.Forbidden(p.Child("webhookClientConfig"), "should not be set when strategy is not set to Webhook"))
		}
		if len(versions) > 0 {
			errs = append(errs, field.Forbidden(p.Child("conversionReviewVersions"), "should not be set when strategy is not set to Webhook"))
		}
		return errs
	}
	if config == nil {
		errs = append(errs, field.Required(p.Child("webhookClientConfig"), "required when strategy is set to Webhook"))
	} else {
		errs = append(errs, checkClient(config, p.Child("webhookClientConfig"))...)
	}
	return append(errs, v.reviewVersions(versions, p.Child("conversionReviewVersions"))...)
}

func (v *validator) reviewVersions(versions []string, p field.Path) field.ErrorList {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(p, "")}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, name := range versions {
		if seen[name] {
			errs = append(errs, field.Invalid(p.Index(i), name, "duplicate version"))
			continue
		}
		seen[name] = true
		errs = append(errs, field.Check(p.Index(i), name, field.DNS1035Label)...)
	}
	old := object.Strings(v.old.List("spec", "conversion", "webhook", "conversionReviewVersions"))
	known := func(list []string) bool { return contains(list, "v1") || contains(list, "v1beta1") }
	if !known(versions) && (len(old) == 0 || known(old)) {
		errs = append(errs, field.Invalid(p, versions, "must include at least one of v1, v1beta1"))
	}
	return errs
}

func checkClient(config object.Object, p field.Path) field.ErrorList {
	address, hasURL := config["url"].(string)
	service := object.Object(config.Map("service"))
	if hasURL == (service != nil) {
		return field.ErrorList{field.Required(p, "exactly one of url or service is required")}
	}
	if hasURL {
		return checkURL(p.Child("url"), address)
	}
	var errs field.ErrorList
	p = p.Child("service")
	if service.String("namespace") == "" { // the real server takes one for the other
		errs = append(errs, field.Required(p.Child("name"), ""))
	}
	if service.String("name") == "" {
		errs = append(errs, field.Required(p.Child("namespace"), ""))
	}
	if port, ok := service.Int("port"); ok && len(field.PortNumber(port)) > 0 {
		errs = append(errs, field.Invalid(p.Child("port"), port, "port is not valid: "+strings.Join(field.PortNumber(port), ", ")))
	}
	return append(errs, checkURLPath(p.Child("path"), service.String("path"))...)
}

func checkURL(p field.Path, text string) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(p, "url must be a valid URL: "+err.Error()+form)}
	}
	var errs field.ErrorList
	if u.Scheme != "https" {
		errs = append(errs, field.Invalid(p, u.Scheme, "'https' is the only allowed URL scheme"+form))
	}
	if u.Host == "" {
		errs = append(errs, field.Invalid(p, u.Host, "host must be specified"+form))
	}
	if u.User != nil {
		errs = append(errs, field.Invalid(p, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Fragment != "" {
		errs = append(errs, field.Invalid(p, u.Fragment, "fragments are not permitted in the URL"))
	}
	if u.RawQuery != "" {
		errs = append(errs, field.Invalid(p, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	return errs
}

func checkURLPath(p field.Path, path string) field.ErrorList {
	switch path {
	case "", "/":
		return nil
	case "//":
		return field.ErrorList{field.Invalid(p, path, "segment[0] may not be empty")}
	}
	var errs field.ErrorList
	if path[0] != '/' {
		errs = append(errs, field.Invalid(p, path, "must start with a '/'"))
	}
	for i, step := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if step == "" {
			errs = append(errs, field.Invalid(p, path, "segment["+strconv.Itoa(i)+"] may not be empty"))
			continue
		}
		for _, text := range field.DNS1123Subdomain(step) {
			errs = append(errs, field.Invalid(p, path, "segment["+strconv.Itoa(i)+"]: "+text))
		}
	}
	return errs
}

// approvedAnnotation says where the API of a group of the community was approved.
const approvedAnnotation = "api-approved.kubernetes.io"

// approval demands the annotation of groups that belong to the community. A definition may stay as it was.
func (v *validator) approval() field.ErrorList {
	if !protected(v.spec.String("group")) {
		return nil
	}
	text := v.crd.Annotations()[approvedAnnotation]
	state := approvalState(text)
	if v.old != nil && approvalState(v.old.Annotations()[approvedAnnotation]) == state {
		return nil
	}
	p := field.Root("metadata.annotations").Key(approvedAnnotation)
	switch state {
	case "missing":
		return field.ErrorList{field.Required(p, approvalMissing)}
	case "invalid":
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
