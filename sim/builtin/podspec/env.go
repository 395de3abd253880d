package podspec

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// The fields of a pod that a container (envFields) or a volume (volumeFields) may refer to with the downward API.
var (
	envFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
	// convertedFields are all fields that v1 can convert to internal field labels.
	convertedFields = append([]string{"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName",
		"status.phase"}, envFields...)
	resourceFields = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
		"requests.ephemeral-storage", "requests.memory"}
)

// env checks the environment variables of a container.
func (r *Rules) env(c field.Cursor) {
	for v := range c.Each("env") {
		v.Child("name").Required().Check(field.EnvVarName)
		if from := v.Child("valueFrom"); from.Has() {
			r.envSource(from, v.String("value"))
		}
	}
}

// envSources are the sources of a variable, in the order in which the server counts them.
var envSources = []struct {
	name  string
	check func(at field.Cursor)
}{
	{"fieldRef", func(at field.Cursor) { fieldRef(at, envFields) }},
	{"resourceFieldRef", func(at field.Cursor) { resourceFieldRef(at, false) }},
	{"configMapKeyRef", keySelector},
	{"secretKeyRef", keySelector},
	{"fileKeyRef", fileKeySelector},
}

func (r *Rules) envSource(from field.Cursor, value string) {
	r.fileKeys = r.fileKeys || from.Has("fileKeyRef")
	sources := 0
	for _, s := range envSources {
		if at := from.Child(s.name); at.Has() {
			sources++
			s.check(at)
		}
	}
	switch {
	case sources == 0:
		from.Invalid("", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case value != "":
		from.Invalid("", "may not be specified when `value` is not empty")
	case sources > 1:
		from.Invalid("", "may not have more than one field specified at a time")
	}
}

// fieldRef checks a reference to a field of the pod. fields lists the fields to which a reference without a subscript may refer.
func fieldRef(ref field.Cursor, fields []string) {
	version, path := ref.Child("apiVersion"), ref.Child("fieldPath")
	if version.String() == "" {
		version.Missing("")
		return
	}
	if !path.Required().Has() {
		return
	}
	name, subscript, subscripted := splitSubscript(path.String())
	if text := fieldConversionError(version.String(), path.String(), name, subscripted); text != "" {
		path.Invalid(path.Value(), "error converting fieldPath: "+text)
		return
	}
	if subscripted {
		if name == "metadata.annotations" {
			subscript = strings.ToLower(subscript)
		}
		ref.With(subscript).Check(field.QualifiedName)
		return
	}
	if name == "spec.host" {
		name = "spec.nodeName"
	}
	if !slices.Contains(fields, name) {
		path.NotSupported(name, fields...)
	}
}

// fieldConversionError returns the reason why a field path cannot be converted to the internal version, or "" if it can be.
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

// splitSubscript splits metadata.labels['app'] into the name and the subscript. If path has another form, splitSubscript returns
// path itself and false.
func splitSubscript(path string) (name, subscript string, ok bool) {
	inner, closed := strings.CutSuffix(path, "']")
	name, subscript, ok = strings.Cut(inner, "['")
	if !closed || !ok || name == "" {
		return path, "", false
	}
	return name, subscript, true
}

// resourceFieldRef checks a reference to a request or limit of a container. In a volume, the reference must name the container.
func resourceFieldRef(ref field.Cursor, volume bool) {
	resource := ref.Child("resource")
	name := resource.String()
	huge := strings.HasPrefix(name, "requests.hugepages-") || strings.HasPrefix(name, "limits.hugepages-")
	switch {
	case volume && ref.String("containerName") == "":
		ref.Child("containerName").Missing("")
	case name == "":
		resource.Missing("")
	case !huge && !slices.Contains(resourceFields, name):
		resource.NotSupported(name, resourceFields...)
	}
	checkDivisor(ref.Child("divisor"), name)
}

// checkDivisor checks the unit in which a request or limit is expressed.
func checkDivisor(at field.Cursor, name string) {
	q := quantity.Of(at.Value())
	if q.IsZero() {
		return
	}
	_, resource, _ := strings.Cut(name, ".")
	units := "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	only := "only divisor's values " + units + " are supported with the "
	switch {
	case resource == "cpu":
		units, only = "1m, 1", "only divisor's values 1m and 1 are supported with the cpu resource"
	case resource == "memory":
		only += "memory resource"
	case resource == "ephemeral-storage":
		only += "local ephemeral storage resource"
	case strings.HasPrefix(resource, "hugepages-"):
		only += "hugepages resource"
	default:
		return
	}
	at.With(name).InvalidIf(!slices.Contains(strings.Split(units, ", "), q.String()), only)
}

// keySelector checks a reference to a key of a ConfigMap or Secret.
func keySelector(ref field.Cursor) {
	ref.Child("name").OrEmpty().Check(field.DNS1123Subdomain)
	ref.Child("key").Required().Check(field.ConfigMapKey)
}

// fileKeySelector checks a reference to a variable in a file of a volume (KEP-3721).
func fileKeySelector(ref field.Cursor) {
	ref.Child("key").Required().Check(field.EnvVarName)
	ref.Child("volumeName").Required().Check(field.DNS1123Label)
	ref.Child("path").Required().Check(field.NoBacksteps)
}

// fileKeyVolumes checks that variables from files refer to volumes of type emptyDir.
func (r *Rules) fileKeyVolumes() {
	if !r.fileKeys {
		return
	}
	for c := range r.eachContainer() {
		for i, v := range c.List("env") {
			if !object.As(v).Has("valueFrom", "fileKeyRef") {
				continue
			}
			name := c.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName").OrEmpty()
			found, empty := false, false
			for _, volume := range r.Spec.Objects("volumes") { // if several volumes have the same name, the last one counts
				if volume.String("name") == name.String() {
					found, empty = true, volume.Has("emptyDir")
				}
			}
			if !found {
				name.NotFound(name.Value())
			}
			name.InvalidIf(found && !empty, "referenced volume must be of type emptyDir")
		}
	}
}

// envFrom checks the sources of environment variables: ConfigMaps and Secrets whose keys all become variables.
func envFrom(list field.Cursor) {
	for from := range list.Each() {
		from.Child("prefix").IfGiven().Check(field.EnvVarName)
		sources := 0
		for _, name := range []string{"configMapRef", "secretRef"} {
			if ref := from.Child(name); ref.Has() {
				sources++
				ref.Child("name").Required().Check(func(name string) []string { return field.NameDNSSubdomain(name, true) })
			}
		}
		switch sources {
		case 0:
			list.Invalid("", "must specify one of: `configMapRef` or `secretRef`")
		case 2:
			list.Invalid("", "may not have more than one field specified at a time")
		}
	}
}
