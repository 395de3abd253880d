package podspec

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// projection checks the sources of a projected volume, whose files must not meet. Sources behind gates that 1.36 has
// off (cluster trust bundles, pod certificates) never get here.
type projection struct {
	rules *Rules
	path  field.Path
	paths map[string]bool
	errs  field.ErrorList
}

func projectedVolume(r *Rules, source object.Object, p field.Path) field.ErrorList {
	v := projection{rules: r, path: p, paths: map[string]bool{}, errs: fileMode(p.Child("defaultMode"), source, "defaultMode")}
	for i, s := range source.Objects("sources") {
		at := p.Child("sources").Index(i)
		sources := 0
		for _, name := range []string{"secret", "configMap", "downwardAPI", "serviceAccountToken"} {
			o := s.At(name)
			if o == nil {
				continue
			}
			sources++
			switch name {
			case "downwardAPI":
				v.downward(o, at.Child(name))
			case "serviceAccountToken":
				v.token(s, at.Child(name))
			default:
				v.keys(o, at.Child(name))
			}
		}
		if sources > 1 {
			v.errs = append(v.errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
		}
	}
	return v.errs
}

// keys checks the keys of a Secret or ConfigMap.
func (v *projection) keys(o object.Object, p field.Path) {
	v.errs = append(v.errs, field.MustBeSet(p.Child("name"), o.String("name"))...)
	for i, item := range o.Objects("items") {
		v.errs = append(v.errs, keyToPath(item, p.Child("items").Index(i))...)
		v.claim(item.String("path"), o.String("name"))
	}
}

func (v *projection) downward(o object.Object, p field.Path) {
	for _, file := range o.Objects("items") {
		v.errs = append(v.errs, downwardFile(file, p)...)
		v.claim(file.String("path"), file.String("path"))
	}
}

// claim takes a path of the volume. shown is the value that the error shows when it is taken already.
func (v *projection) claim(path, shown string) {
	if path != "" && v.paths[path] {
		v.errs = append(v.errs, field.Invalid(v.path, shown, "conflicting duplicate paths"))
	}
	v.paths[path] = true
}

const (
	tokenSecondsMin = 10 * 60
	tokenSecondsMax = 1 << 32
)

// token checks a service account token. Its path is reported at the volume.
func (v *projection) token(source object.Object, p field.Path) {
	seconds := source.Int64("serviceAccountToken", "expirationSeconds")
	at := p.Child("expirationSeconds")
	if seconds < tokenSecondsMin {
		v.errs = append(v.errs, field.Invalid(at, seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > tokenSecondsMax {
		v.errs = append(v.errs, field.Invalid(at, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	path := source.String("serviceAccountToken", "path")
	if path == "" {
		v.errs = append(v.errs, field.Required(v.path.Child("path"), ""))
	} else if !v.rules.Allow.tokenPath {
		v.errs = append(v.errs, field.Messages(v.path.Child("path"), path, tokenPathMessages(source))...)
	}
}

// tokenPathMessages returns what is wrong with the path of a source's service account token.
func tokenPathMessages(source object.Object) []string {
	return field.NonReservedPath(source.String("serviceAccountToken", "path"))
}
