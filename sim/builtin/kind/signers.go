package kind

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
)

// signerNameMax is the maximum length of a signer's name. It is the sum of the maximum lengths of a domain, and of a DNS label and
// a DNS subdomain as the path, with separators.
const signerNameMax = 2*field.DNSSubdomainMax + field.DNSLabelMax + 2

// Limits of the lifetime of a pod certificate, in seconds. Kubernetes' own signers allow only shorter ones (KEP-4317).
const (
	CertificateSecondsMin = 3600
	certificateSecondsMax = 91 * 86400
	kubernetesSecondsMax  = 86400
)

// CertificateSecondsMax returns the longest certificate lifetime that a signer accepts, in seconds.
func CertificateSecondsMax(signer string) int64 {
	if domain, _, _ := strings.Cut(signer, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		return kubernetesSecondsMax
	}
	return certificateSecondsMax
}

// CheckSignerName checks the name of a signer, which consists of a domain and a path, such as example.com/my-signer.
func CheckSignerName(at field.Cursor) {
	at = at.Required()
	if !at.Has() {
		return
	}
	domain, path, ok := strings.Cut(at.String(), "/")
	if !ok || strings.Contains(path, "/") {
		at.Invalid(at.String(), "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > field.DNSSubdomainMax {
		at.TooLong(field.DNSSubdomainMax)
	}
	checkLabelsOf(at.With(domain), field.DNS1123Label)
	at.With(domain).InvalidIf(!strings.Contains(domain, "."), "should be a domain with at least two segments separated by dots")
	checkLabelsOf(at.With(path), field.DNS1123Subdomain)
	at.MaxBytes(signerNameMax)
}

// checkLabelsOf checks the dot-separated labels of a string, until one of them is invalid.
func checkLabelsOf(at field.Cursor, rule func(string) []string) {
	for label := range strings.SplitSeq(at.String(), ".") {
		wrong := rule(label)
		for _, m := range wrong {
			at.Invalid(at.Value(), fmt.Sprintf("validating label %q: %s", label, m))
		}
		if len(wrong) > 0 {
			return
		}
	}
}

// TrustBundleName returns the name rule for ClusterTrustBundles. The name must begin with the name of the signer. If there is
// no signer, it must not contain a colon.
func TrustBundleName(signer string) func(name string, prefix bool) []string {
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
			}
			return field.NameDNSSubdomain(name, prefix)
		}
		wanted := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, ok := strings.CutPrefix(name, wanted)
		if !ok {
			return []string{"ClusterTrustBundle for signerName " + signer + " must be named with prefix " + wanted}
		}
		return field.NameDNSSubdomain(rest, prefix)
	}
}
