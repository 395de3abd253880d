package field

import "strings"

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

// PortNameMax is the greatest length of a port name (RFC 6335 §5.1).
const PortNameMax = 15

// ConfigMapKey checks a key of a ConfigMap or Secret: it becomes a file name.
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

// EnvVarName checks the name of an environment variable (KEP-4369: anything printable except '=').
func EnvVarName(value string) []string {
	if value == "" {
		return []string{"environment variable name " + TextEmpty}
	}
	if !all(value, func(c byte) bool { return ' ' <= c && c <= '~' && c != '=' }) {
		return []string{envVarSays}
	}
	return nil
}

// CIdentifier checks an identifier of the language C.
func CIdentifier(value string) []string {
	ok := all(value, func(c byte) bool { return isAlphanumeric(c) || c == '_' }) && !isDigit(value[0])
	return unless(ok, nil, identifierSays, identifierRegex, "my_name", "MY_NAME", "MyName")
}

// HTTPHeaderName checks the name of an HTTP header.
func HTTPHeaderName(value string) []string {
	ok := all(value, func(c byte) bool { return isAlphanumeric(c) || c == '-' })
	return unless(ok, nil, headerSays, headerRegex, "X-Header-Name")
}

// Percent checks a percentage such as 25%.
func Percent(value string) []string {
	digits, ok := strings.CutSuffix(value, "%")
	return unless(ok && all(digits, isDigit), nil, percentSays, percentRegex, "1%", "93%")
}

// PortName checks the name of a port: an IANA service name in lower case (RFC 6335 §5.1).
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

// DescendingPath checks a relative file path that never leaves its directory, such as a volume's subPath.
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

// NonReservedPath checks a DescendingPath whose first element does not start with "..", which the kubelet uses itself.
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
