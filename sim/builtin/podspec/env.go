package podspec

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// Downward API: which fields of the pod a container or a volume may ask for.
var (
	envFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
	// convertedFields are the fields that have a name in v1 at all.
	convertedFields = append([]string{"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName",
		"status.phase"}, envFields...)
	resourceFields = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
		"requests.ephemeral-storage", "requests.memory"}
)

// env checks the variables of a container.
func (r *Rules) env(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, v := range c.Objects("env") {
		at := p.Index(i)
		if name := v.String("name"); name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, field.Check(at.Child("name"), name, field.EnvVarName)...)
		}
		if from := v.At("valueFrom"); from != nil {
			errs = append(errs, envSource(from, v.String("value"), at.Child("valueFrom"))...)
		}
	}
	return errs
}

// envSources are the sources of a variable, in the order in which they are counted.
var envSources = []struct {
	name  string
	check func(o object.Object, p field.Path) field.ErrorList
}{
	{"fieldRef", func(o object.Object, p field.Path) field.ErrorList { return fieldRef(o, p, envFields) }},
	{"resourceFieldRef", func(o object.Object, p field.Path) field.ErrorList { return resourceFieldRef(o, p, false) }},
	{"configMapKeyRef", keySelector},
	{"secretKeyRef", keySelector},
	{"fileKeyRef", fileKeySelector},
}

func envSource(from object.Object, value string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	for _, s := range envSources {
		if o := from.At(s.name); o != nil {
			sources++
			errs = append(errs, s.check(o, p.Child(s.name))...)
		}
	}
	switch {
	case sources == 0:
		return append(errs, field.Invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case value != "":
		return append(errs, field.Invalid(p, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		return append(errs, field.Invalid(p, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// fieldRef checks a reference to a field of the pod; fields are those allowed without a subscript.
func fieldRef(ref object.Object, p field.Path, fields []string) field.ErrorList {
	path := ref.String("fieldPath")
	if ref.String("apiVersion") == "" {
		return field.ErrorList{field.Required(p.Child("apiVersion"), "")}
	}
	if path == "" {
		return field.ErrorList{field.Required(p.Child("fieldPath"), "")}
	}
	name, subscript, subscripted := splitSubscript(path)
	if text := fieldConversionError(ref.String("apiVersion"), path, name, subscripted); text != "" {
		return field.ErrorList{field.Invalid(p.Child("fieldPath"), path, "error converting fieldPath: "+text)}
	}
	if subscripted {
		if name == "metadata.annotations" {
			subscript = strings.ToLower(subscript)
		}
		return field.Check(p, subscript, field.QualifiedName)
	}
	if name == "spec.host" {
		name = "spec.nodeName"
	}
	if slices.Contains(fields, name) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p.Child("fieldPath"), name, fields...)}
}

// fieldConversionError returns why a field has no name in the internal version, or "".
func fieldConversionError(version, path, name string, subscripted bool) string {
	switch {
	case version != "v1":
		return "unsupported pod version: " + version
	case subscripted && name != "metadata.annotations" && name != "metadata.labels":
		return "field label does not support subscript: " + path
	case !subscripted && name != "spec.host" && !slices.Contains(convertedFields, name):
		return "field label not supported: " + path
	}
	return ""
}

// splitSubscript splits metadata.labels['app'] into the name and the subscript.
func splitSubscript(path string) (name, subscript string, ok bool) {
	inner, closed := strings.CutSuffix(path, "']")
	name, subscript, ok = strings.Cut(inner, "['")
	if !closed || !ok || name == "" {
		return path, "", false
	}
	return name, subscript, true
}

// resourceFieldRef checks a reference to a request or limit of a container, which a volume has to name.
func resourceFieldRef(ref object.Object, p field.Path, volume bool) field.ErrorList {
	var errs field.ErrorList
	name := ref.String("resource")
	huge := strings.HasPrefix(name, "requests.hugepages-") || strings.HasPrefix(name, "limits.hugepages-")
	switch {
	case volume && ref.String("containerName") == "":
		errs = append(errs, field.Required(p.Child("containerName"), ""))
	case name == "":
		errs = append(errs, field.Required(p.Child("resource"), ""))
	case !huge && !slices.Contains(resourceFields, name):
		errs = append(errs, field.NotSupported(p.Child("resource"), name, resourceFields...))
	}
	return append(errs, divisor(name, ref["divisor"], p.Child("divisor"))...)
}

// divisor checks the unit that a request or limit is given in.
func divisor(name string, value any, p field.Path) field.ErrorList {
	q := quantity.Of(value)
	if q.IsZero() {
		return nil
	}
	_, kind, _ := strings.Cut(name, ".")
	const bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	units, text := bytes, ""
	switch {
	case kind == "cpu":
		units, text = "1m, 1", "only divisor's values 1m and 1 are supported with the cpu resource"
	case kind == "memory":
		text = "only divisor's values " + bytes + " are supported with the memory resource"
	case kind == "ephemeral-storage":
		text = "only divisor's values " + bytes + " are supported with the local ephemeral storage resource"
	case strings.HasPrefix(kind, "hugepages-"):
		text = "only divisor's values " + bytes + " are supported with the hugepages resource"
	default:
		return nil
	}
	if slices.Contains(strings.Split(units, ", "), q.String()) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, name, text)}
}

// keySelector checks a reference to a key of a ConfigMap or Secret.
func keySelector(ref object.Object, p field.Path) field.ErrorList {
	errs := field.Check(p.Child("name"), ref.String("name"), field.DNS1123Subdomain)
	if key := ref.String("key"); key != "" {
		return append(errs, field.Check(p.Child("key"), key, field.ConfigMapKey)...)
	}
	return append(errs, field.Required(p.Child("key"), ""))
}

// fileKeySelector checks a reference to a variable in a file of a volume (KEP-3721).
func fileKeySelector(ref object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, rule := range []struct {
		name  string
		check func(string) []string
	}{{"key", field.EnvVarName}, {"volumeName", field.DNS1123Label}, {"path", field.NoBacksteps}} {
		if value := ref.String(rule.name); value == "" {
			errs = append(errs, field.Required(p.Child(rule.name), ""))
		} else {
			errs = append(errs, field.Check(p.Child(rule.name), value, rule.check)...)
		}
	}
	return errs
}

// fileKeyVolumes checks that variables from files come from volumes of type emptyDir.
func (r *Rules) fileKeyVolumes() field.ErrorList {
	sources := map[string]object.Object{}
	for _, v := range r.Spec.Objects("volumes") {
		sources[v.String("name")] = v
	}
	var errs field.ErrorList
	r.eachContainer(func(c object.Object, p field.Path) {
		for i, v := range c.Objects("env") {
			ref := v.At("valueFrom", "fileKeyRef")
			if ref == nil {
				continue
			}
			name, at := ref.String("volumeName"), p.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			if source, ok := sources[name]; !ok {
				errs = append(errs, field.NotFound(at, name))
			} else if !source.Has("emptyDir") {
				errs = append(errs, field.Invalid(at, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}

// envFrom checks the ConfigMaps and Secrets whose keys all become variables.
func envFrom(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, from := range c.Objects("envFrom") {
		at := p.Index(i)
		if prefix := from.String("prefix"); prefix != "" {
			errs = append(errs, field.Check(at.Child("prefix"), prefix, field.EnvVarName)...)
		}
		sources := 0
		for _, name := range []string{"configMapRef", "secretRef"} {
			ref := from.At(name)
			if ref == nil {
				continue
			}
			sources++
			if target := ref.String("name"); target == "" {
				errs = append(errs, field.Required(at.Child(name, "name"), ""))
			} else {
				errs = append(errs, field.Messages(at.Child(name, "name"), target, field.NameDNSSubdomain(target, true))...)
			}
		}
		switch {
		case sources == 0:
			errs = append(errs, field.Invalid(p, "", "must specify one of: `configMapRef` or `secretRef`"))
		case sources > 1:
			errs = append(errs, field.Invalid(p, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}
