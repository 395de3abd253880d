package webhook

import (
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
)

// reviewVersions are the versions of reviews that the server supports.
var reviewVersions = []string{"v1", "v1beta1"}

// ReviewVersion returns the first of the webhook's review versions that the server supports, or "".
func ReviewVersion(takes []string) string {
	for _, v := range takes {
		if slices.Contains(reviewVersions, v) {
			return v
		}
	}
	return ""
}

// TakesNone reports whether a webhook lists review versions but the server supports none of them.
func TakesNone(versions []string) bool { return len(versions) > 0 && ReviewVersion(versions) == "" }

// ValidateReviewVersions validates the review versions of a webhook. If anyVersions is true, the server need not support any of
// them.
func ValidateReviewVersions(at field.Cursor, anyVersions bool) {
	seen := field.Seen{}
	for v := range at.Each() {
		if seen.Again(v.String()) {
			v.Invalid(v.String(), "duplicate version")
		} else {
			v.Check(field.DNS1035Label)
		}
	}
	at.InvalidIf(!anyVersions && TakesNone(at.Strings()), "must include at least one of "+strings.Join(reviewVersions, ", "))
}

// ValidateClientConfig validates the clientConfig of a webhook in a webhook configuration or a CustomResourceDefinition.
func ValidateClientConfig(at field.Cursor) {
	switch {
	case at.Has("url") == at.Has("service"):
		at.Missing("exactly one of url or service is required")
	case at.Has("url"):
		validateURL(at.Child("url"))
	default:
		validateService(at.Child("service"))
	}
}

// validateURL validates the URL of a webhook (k8s.io/apiserver/pkg/util/webhook.ValidateWebhookURL).
func validateURL(at field.Cursor) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(at.String())
	if err != nil {
		at.Missing("url must be a valid URL: " + err.Error() + form)
		return
	}
	for _, rule := range []struct {
		broken        bool
		value, detail string
	}{
		{u.Scheme != "https", u.Scheme, "'https' is the only allowed URL scheme" + form},
		{u.Host == "", u.Host, "host must be specified" + form},
		{u.User != nil, u.User.String(), "user information is not permitted in the URL"},
		{u.Fragment != "", u.Fragment, "fragments are not permitted in the URL"},
		{u.RawQuery != "", u.RawQuery, "query parameters are not permitted in the URL"},
	} {
		at.With(rule.value).InvalidIf(rule.broken, rule.detail)
	}
}

// validateService validates the service of a webhook. Like the real server, it confuses two fields: it reports a missing name as a
// missing namespace, and vice versa.
func validateService(at field.Cursor) {
	name, namespace, port := at.Child("name"), at.Child("namespace"), at.Child("port").OrZero()
	namespace.ReportAt(name).Required()
	name.ReportAt(namespace).Required()
	if msgs := field.PortNumber(port.Int64()); len(msgs) > 0 {
		port.Invalid(port.Int64(), "port is not valid: "+strings.Join(msgs, ", "))
	}
	validateServicePath(at.Child("path"))
}

func validateServicePath(at field.Cursor) {
	path := at.String()
	switch path {
	case "", "/":
		return
	case "//":
		at.Invalid(path, "segment[0] may not be empty")
		return
	}
	at.InvalidIf(!strings.HasPrefix(path, "/"), "must start with a '/'")
	for i, segment := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if segment == "" {
			at.Invalid(path, fmt.Sprintf("segment[%d] may not be empty", i))
			continue
		}
		for _, m := range field.DNS1123Subdomain(segment) {
			at.Invalid(path, fmt.Sprintf("segment[%d]: %s", i, m))
		}
	}
}

// CheckBundle returns an error if a bundle of PEM certificates cannot be loaded. An empty bundle is valid, and one with at least
// one valid certificate can be loaded. Otherwise the error is about the first problem (client-go's transport.TLSConfigFor).
func CheckBundle(bundle []byte) error {
	if len(bundle) == 0 {
		return nil
	}
	const prefix = "unable to load root certificates: "
	var first error
	for rest := bundle; len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			first = cmp.Or(first, errors.New(prefix+"unable to parse bytes as PEM block"))
			break
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		err := checkCertificate(block.Bytes)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, fmt.Errorf(prefix+"failed to parse certificate: %w", err))
	}
	return cmp.Or(first, errors.New(prefix+"no valid certificate authority data seen"))
}
