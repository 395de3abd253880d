package field

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// LabelValueMax is the greatest length of a label value and of the part of a label key after the '/'.
const LabelValueMax = 63

const (
	labelKeyRegex   = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	labelKeySays    = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	labelValueRegex = "(" + labelKeyRegex + ")?"
	labelValueSays  = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)

// QualifiedName checks a label key, such as app or example.com/app: a name of letters, digits, '-', '_' and '.', with an
// optional DNS subdomain in front. Annotation keys, finalizers and condition types follow it too.
func QualifiedName(value string) []string {
	var msgs []string
	prefix, name, prefixed := strings.Cut(value, "/")
	switch {
	case !prefixed:
		name = value
	case strings.Contains(name, "/"):
		return []string{"a valid label key " + RegexText(labelKeySays, labelKeyRegex, "MyName", "my.name", "123-abc") +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case prefix == "":
		msgs = append(msgs, "prefix part "+TextEmpty)
	default:
		msgs = labelPrefix(prefix)
	}
	if name == "" {
		msgs = append(msgs, "name part "+TextEmpty)
	} else if len(name) > LabelValueMax {
		msgs = append(msgs, "name part "+BytesText(LabelValueMax))
	}
	if !isLabelName(name) {
		msgs = append(msgs, "name part "+RegexText(labelKeySays, labelKeyRegex, "MyName", "my.name", "123-abc"))
	}
	return msgs
}

// labelPrefix checks the subdomain of a label key. Unlike other subdomains, its limit is printed in bytes.
func labelPrefix(prefix string) []string {
	var msgs []string
	if len(prefix) > DNSSubdomainMax {
		msgs = append(msgs, "prefix part "+BytesText(DNSSubdomainMax))
	}
	if !isDNSSubdomain(prefix) {
		msgs = append(msgs, "prefix part "+RegexText(dnsSubdomainSays, dnsSubdomainRegex, "example.com"))
	}
	return msgs
}

// LabelValue checks the value of a label; it may be empty.
func LabelValue(value string) []string {
	var msgs []string
	if len(value) > LabelValueMax {
		msgs = append(msgs, BytesText(LabelValueMax))
	}
	return unless(value == "" || isLabelName(value), msgs, labelValueSays, labelValueRegex, "MyValue", "my_value", "12345")
}

// CheckLabels checks a set of labels; bad keys and bad values are both reported at p. The real server goes through the
// labels in random order, here they are sorted by key.
func CheckLabels[V string | any](p Path, labels map[string]V) ErrorList {
	var errs ErrorList
	for _, k := range object.SortedKeys(labels) {
		if value, ok := any(labels[k]).(string); ok {
			errs = append(errs, Check(p, k, QualifiedName)...)
			errs = append(errs, Check(p, value, LabelValue)...)
		}
	}
	return errs
}

func isLabelName(value string) bool {
	return all(value, func(c byte) bool { return isAlphanumeric(c) || c == '-' || c == '_' || c == '.' }) &&
		isAlphanumeric(value[0]) && isAlphanumeric(value[len(value)-1])
}
