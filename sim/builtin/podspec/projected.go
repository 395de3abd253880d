package podspec

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// projection checks the sources of a projected volume, whose files must not meet. Sources behind gates that 1.36 has
// off (cluster trust bundles, pod certificates) never get here.
type projection struct {
	rules *Rules
	at    field.Cursor
	paths field.Seen
}

func projectedVolume(r *Rules, at field.Cursor) {
	v := projection{rules: r, at: at, paths: field.Seen{}}
	fileMode(at.Child("defaultMode"))
	for source := range at.Each("sources") {
		sources := 0
		for _, s := range []struct {
			name  string
			check func(field.Cursor)
		}{{"secret", v.keys}, {"configMap", v.keys}, {"downwardAPI", v.downward}, {"serviceAccountToken", v.token}} {
			if one := source.Child(s.name); one.Has() {
				sources++
				s.check(one)
			}
		}
		source.ForbidIf(sources > 1, "may not specify more than 1 volume type per source")
	}
}

// keys checks the keys of a Secret or ConfigMap.
func (v *projection) keys(at field.Cursor) {
	at.Require("name")
	for item := range at.Each("items") {
		keyToPath(item)
		v.claim(item.String("path"), at.String("name"))
	}
}

func (v *projection) downward(at field.Cursor) {
	for file := range at.Each("items") {
		downwardFile(file.ReportAt(at))
		v.claim(file.String("path"), file.String("path"))
	}
}

// claim takes a path of the volume. shown is the value that the error shows when it is taken already.
func (v *projection) claim(path, shown string) {
	v.at.With(shown).InvalidIf(path != "" && v.paths[path], "conflicting duplicate paths")
	v.paths[path] = true
}

const (
	tokenSecondsMin = 10 * 60
	tokenSecondsMax = 1 << 32
)

// token checks a service account token. Its path is reported at the volume.
func (v *projection) token(at field.Cursor) {
	at.Child("expirationSeconds").OrZero().Min(tokenSecondsMin, "may not specify a duration less than 10 minutes").
		Max(tokenSecondsMax, "may not specify a duration larger than 2^32 seconds")
	if path := at.Child("path").ReportAt(v.at.Child("path")).Required(); !v.rules.Allow.tokenPath {
		path.Check(field.NonReservedPath)
	}
}

// badTokenPath reports whether the path of a source's service account token lies outside of its volume.
func badTokenPath(source object.Object) bool {
	return len(field.NonReservedPath(source.String("serviceAccountToken", "path"))) > 0
}
