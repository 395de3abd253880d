package podspec

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// projection checks the sources of a projected volume, whose files must have distinct paths.
type projection struct {
	rules *Rules
	at    field.Cursor
	paths field.Seen
}

func projectedVolume(r *Rules, at field.Cursor) {
	v := projection{rules: r, at: at, paths: field.Seen{}}
	fileMode(at.Child("defaultMode"), at.Child("defaultUser"))
	for source := range at.Each("sources") {
		sources := 0
		for _, s := range []struct {
			name  string
			check func(field.Cursor)
		}{{"secret", v.keys}, {"configMap", v.keys}, {"downwardAPI", v.downward}, {"serviceAccountToken", v.token},
			{"clusterTrustBundle", v.trustBundle}, {"podCertificate", v.certificate}} {
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

// claim marks a path in the volume as used. If it is already used, claim reports an error that shows the given value.
func (v *projection) claim(path, shown string) {
	v.at.With(shown).InvalidIf(path != "" && v.paths[path], "conflicting duplicate paths")
	v.paths[path] = true
}

const (
	tokenSecondsMin = 10 * 60
	tokenSecondsMax = 1 << 32
)

// token checks a service account token in a projected volume. Errors about its path have the path of the volume.
func (v *projection) token(at field.Cursor) {
	at.Child("expirationSeconds").OrZero().Min(tokenSecondsMin, "may not specify a duration less than 10 minutes").
		Max(tokenSecondsMax, "may not specify a duration larger than 2^32 seconds")
	if path := at.Child("path").ReportAt(v.at.Child("path")).Required(); !v.rules.Allow.tokenPath() {
		path.Check(field.NonReservedPath)
	}
	fileUser(at.Child("user"))
}

// trustBundle checks a source of trust anchors, which selects a bundle by name or the bundles of a signer (KEP-3257).
func (v *projection) trustBundle(at field.Cursor) {
	name, signer, path := at.Child("name"), at.Child("signerName"), at.Child("path")
	switch {
	case name.Has() && signer.Has():
		kind.InvalidStructIf(at, true, v.bundleType(), "only one of name and signerName may be used")
	case name.Has():
		name.Required("must be a valid object name")
		rule := kind.TrustBundleName(signerOf(name.String()))
		for _, msg := range rule(name.String(), false) {
			name.Invalid(name.Value(), "not a valid clustertrustbundlename: "+msg)
		}
		if labels := at.Child("labelSelector"); labels.Has() {
			kind.InvalidSelector(labels, "labelSelector must be unset if name is specified")
		}
	case signer.Has():
		signer.RequireIf(signer.String() == "", "must be a valid signer name")
		kind.CheckSignerName(signer)
		kind.CheckSelector(at.Child("labelSelector"), selector.ValidateOptions{})
	default:
		at.Missing("either name or signerName must be specified")
	}
	path.RequireIf(path.String() == "", "")
	fileUser(at.Child("user"))
	path.OrEmpty().Check(field.NonReservedPath)
	v.claim(path.String(), path.String())
}

func (v *projection) bundleType() gotext.Type {
	return gotext.ClusterTrustBundleProjection.In(v.rules.ctx.Server.Minor)
}

// signerOf returns the signer that the name of a bundle contains, such as a.com/b for a.com:b:c. If there is none, it returns
// "" (core/validation.extractSignerNameFromClusterTrustBundleName).
func signerOf(bundle string) string {
	return strings.ReplaceAll(bundle[:max(0, strings.LastIndex(bundle, ":"))], ":", "/")
}

// keyTypes are the supported key types for pod certificates.
var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

// certificate checks a projected source that provides a key and its certificate (KEP-4317).
func (v *projection) certificate(at field.Cursor) {
	kind.CheckSignerName(at.Child("signerName"))
	if annotations := at.Child("userAnnotations"); annotations.Has() {
		CheckUserAnnotations(annotations)
	}
	fileUser(at.Child("user"))
	at.Child("keyType").OrEmpty().OneOf(keyTypes...)
	seconds, most := at.Child("maxExpirationSeconds"), kind.CertificateSecondsMax(at.String("signerName"))
	seconds.Min(kind.CertificateSecondsMin, fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", kind.CertificateSecondsMin)).
		Max(most, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", most))
	none := true
	for _, name := range []string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
		if path := at.String(name); path != "" {
			none = false
			at.Child(name).Check(field.NonReservedPath)
			v.claim(path, path)
		}
	}
	at.RequireIf(none, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
}

// annotationsMax is the maximum total size of the annotations, as for the annotations of an object.
const annotationsMax = 256 << 10

// CheckUserAnnotations checks the annotations that a pod certificate passes to its signer.
func CheckUserAnnotations(at field.Cursor) {
	size, annotations := 0, at.Object()
	for _, key := range object.SortedKeys(annotations) {
		size += len(key) + len(annotations.String(key))
		switch key := at.With(strings.ToLower(key)); {
		case key.String() == "":
			at.Missing("")
		case len(field.QualifiedName(key.String())) > 0:
			key.Check(field.QualifiedName)
		case !strings.Contains(key.String(), "/"):
			key.Invalid(key.Value(), `must be a domain-prefixed key (such as "acme.io/foo")`)
		}
	}
	if size > annotationsMax {
		at.TooLong(annotationsMax)
	}
}

// badTokenPath reports whether the path of a service account token is outside its volume.
func badTokenPath(source object.Object) bool {
	return len(field.NonReservedPath(source.String("serviceAccountToken", "path"))) > 0
}
