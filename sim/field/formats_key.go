package field

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

const (
	configMapKeyRegex = `[-._a-zA-Z0-9]+`
	configMapKeySays  = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
	identifierRegex   = "[A-Za-z_][A-Za-z0-9_]*"
	identifierSays    = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'"
	headerRegex       = "[-A-Za-z0-9]+"
	headerSays        = "a valid HTTP header must consist of alphanumeric characters or '-'"
	percentRegex      = "[0-9]+%"
	percentSays       = "a valid percent string must be a numeric string followed by an ending '%'"
	envVarSays        = "a valid environment variable name must consist only of printable ASCII characters other than '='"

	conditionReasonRegex = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
	conditionReasonSays  = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
)

// PortNameMax is the maximum length of a port name (RFC 6335 §5.1).
const PortNameMax = 15

// ConfigMapKey checks a key of a ConfigMap or Secret, which becomes a file name.
func ConfigMapKey(value string) []string {
	ok := all(value, func(c byte) bool { return isAlphanumeric(c) || c == '-' || c == '_' || c == '.' })
	msgs := unless(ok, limit(value, DNSSubdomainMax), configMapKeySays, configMapKeyRegex, "key.name", "KEY_NAME", "key-name")
	switch {
	case value == ".", value == "..":
		msgs = append(msgs, "must not be '"+value+"'")
	case strings.HasPrefix(value, ".."):
		msgs = append(msgs, "must not start with '..'")
	}
	return msgs
}

// EnvVarName checks the name of an environment variable, which may contain all printable ASCII characters except '='
// (KEP-4369).
func EnvVarName(value string) []string {
	if value == "" {
		return []string{"environment variable name " + TextEmpty}
	}
	if !all(value, func(c byte) bool { return ' ' <= c && c <= '~' && c != '=' }) {
		return []string{envVarSays}
	}
	return nil
}

// CIdentifier checks a C identifier.
func CIdentifier(value string) []string {
	ok := all(value, func(c byte) bool { return isAlphanumeric(c) || c == '_' }) && !isDigit(value[0])
	return unless(ok, nil, identifierSays, identifierRegex, "my_name", "MY_NAME", "MyName")
}

// HTTPHeaderName checks the name of an HTTP header.
func HTTPHeaderName(value string) []string {
	ok := all(value, func(c byte) bool { return isAlphanumeric(c) || c == '-' })
	return unless(ok, nil, headerSays, headerRegex, "X-Header-Name")
}

// Percent checks a percentage, such as 25%.
func Percent(value string) []string {
	digits, ok := strings.CutSuffix(value, "%")
	return unless(ok && all(digits, isDigit), nil, percentSays, percentRegex, "1%", "93%")
}

// PortName checks a port name: a lower-case IANA service name (RFC 6335 §5.1).
func PortName(value string) []string {
	msgs := limit(value, PortNameMax)
	if !all(value, func(c byte) bool { return isLower(c) || isDigit(c) || c == '-' }) {
		msgs = append(msgs, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
	}
	if !strings.ContainsFunc(value, func(r rune) bool { return 'a' <= r && r <= 'z' }) {
		msgs = append(msgs, "must contain at least one letter (a-z)")
	}
	if strings.Contains(value, "--") {
		msgs = append(msgs, "must not contain consecutive hyphens")
	}
	if strings.HasPrefix(value, "-") || strings.HasSuffix(value, "-") {
		msgs = append(msgs, "must not begin or end with a hyphen")
	}
	return msgs
}

// DescendingPath checks a relative file path, such as a volume's subPath, that must not leave its directory.
func DescendingPath(value string) []string {
	var msgs []string
	if strings.HasPrefix(value, "/") {
		msgs = append(msgs, "must be a relative path")
	}
	return append(msgs, NoBacksteps(value)...)
}

// NoBacksteps checks that no element of a file path is "..".
func NoBacksteps(value string) []string {
	for element := range strings.SplitSeq(value, "/") {
		if element == ".." {
			return []string{"must not contain '..'"}
		}
	}
	return nil
}

// NonReservedPath checks a DescendingPath. Names such as "..data" at its beginning are invalid, because the kubelet uses
// them itself.
func NonReservedPath(value string) []string {
	msgs := DescendingPath(value)
	if strings.HasPrefix(value, "..") && !strings.HasPrefix(value, "../") {
		msgs = append(msgs, "must not start with '..'")
	}
	return msgs
}

// ConditionReason checks the reason of a condition: one word in CamelCase.
func ConditionReason(value string) []string {
	ok := all(value, func(c byte) bool { return isAlphanumeric(c) || c == '_' || c == ',' || c == ':' }) &&
		isLetter(value[0]) && !strings.HasSuffix(value, ",") && !strings.HasSuffix(value, ":")
	return unless(ok, nil, conditionReasonSays, conditionReasonRegex, "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
}

// LabelValueMax is the maximum length of a label value, and of the name part of a label key.
const LabelValueMax = 63

const (
	labelKeyRegex   = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	labelKeySays    = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	labelValueRegex = "(" + labelKeyRegex + ")?"
	labelValueSays  = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)

// QualifiedName checks a label key, such as app or example.com/app: a name of letters, digits, '-', '_' and '.', with an
// optional DNS subdomain prefix. Annotation keys, finalizers and condition types follow the same rule.
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

// labelPrefix checks the subdomain prefix of a label key. The message states the limit in bytes, unlike the message for other
// subdomains.
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

// LabelValue checks the value of a label, which may be empty.
func LabelValue(value string) []string {
	var msgs []string
	if len(value) > LabelValueMax {
		msgs = append(msgs, BytesText(LabelValueMax))
	}
	return unless(value == "" || isLabelName(value), msgs, labelValueSays, labelValueRegex, "MyValue", "my_value", "12345")
}

// CheckLabels checks a set of labels. Errors about both keys and values have the path p. The labels are checked in the
// order of their keys; the order of the real server is random.
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
