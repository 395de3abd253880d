package field

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of DNS names (RFC 1035 §2.3.4, RFC 1123 §2.1).
const (
	DNSLabelMax     = 63
	DNSSubdomainMax = 253
)

const (
	dnsLabelRegex     = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	dnsSubdomainRegex = dnsLabelRegex + `(\.` + dnsLabelRegex + ")*"
	dns1035Regex      = "[a-z]([-a-z0-9]*[a-z0-9])?"
	wildcardRegex     = `\*\.` + dnsSubdomainRegex
	underscoreLabel   = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	underscoreRegex   = underscoreLabel + `(\.` + underscoreLabel + ")*"

	dnsLabelSays     = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
	dnsSubdomainSays = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
	anyCaseSays      = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
	underscoreSays   = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character"
	dns1035Says      = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
	wildcardSays     = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)

// DNS1123Label checks a name such as my-name: lower-case letters, digits and '-' (RFC 1123).
func DNS1123Label(value string) []string {
	msgs := limit(value, DNSLabelMax)
	switch {
	case isDNSLabel(value):
		return msgs
	case isDNSSubdomain(value):
		return append(msgs, "must not contain dots")
	}
	return append(msgs, RegexText(dnsLabelSays, dnsLabelRegex, "my-name", "123-abc"))
}

// DNS1123Subdomain checks a name such as example.com: labels joined by dots (RFC 1123).
func DNS1123Subdomain(value string) []string {
	return unless(isDNSSubdomain(value), limit(value, DNSSubdomainMax), dnsSubdomainSays, dnsSubdomainRegex, "example.com")
}

// DNS1123SubdomainAnyCase is like DNS1123Subdomain, but also allows upper-case letters (content.IsDNS1123SubdomainCaseless). The
// pattern in its message nevertheless contains only lower-case letters.
func DNS1123SubdomainAnyCase(value string) []string {
	small := strings.Map(anyCase, value)
	return unless(isDNSSubdomain(small), limit(value, DNSSubdomainMax), anyCaseSays, dnsSubdomainRegex, "Example.com")
}

// anyCase returns the letter a-z that a regular expression with (?i) considers equal to r. It differs from strings.ToLower in two
// letters: ſ equals s, and İ does not equal i.
func anyCase(r rune) rune {
	switch {
	case r == 'ſ':
		return 's'
	case r == '\u212a': // the Kelvin sign
		return 'k'
	case r < utf8.RuneSelf:
		return unicode.ToLower(r)
	}
	return r
}

// DNS1123SubdomainWithUnderscore checks a subdomain whose labels may begin with or contain '_', as in the search paths of a
// pod's DNS configuration.
func DNS1123SubdomainWithUnderscore(value string) []string {
	msgs := limit(value, DNSSubdomainMax)
	for label := range strings.SplitSeq(value, ".") {
		if !isUnderscoreLabel(label) {
			return append(msgs, RegexText(underscoreSays, underscoreRegex, "example.com"))
		}
	}
	return msgs
}

// DNS1035Label checks a name such as my-name, which must begin with a letter (RFC 1035).
func DNS1035Label(value string) []string {
	ok := isDNSLabel(value) && !isDigit(value[0])
	return unless(ok, limit(value, DNSLabelMax), dns1035Says, dns1035Regex, "my-name", "abc-123")
}

// WildcardDNS1123Subdomain checks a name such as *.example.com (RFC 1034 §4.3.3).
func WildcardDNS1123Subdomain(value string) []string {
	rest, ok := strings.CutPrefix(value, "*.")
	return unless(ok && isDNSSubdomain(rest), limit(value, DNSSubdomainMax), wildcardSays, wildcardRegex, "*.example.com")
}

func limit(value string, max int) []string {
	if len(value) > max {
		return []string{CharactersText(max)}
	}
	return nil
}

func isDNSLabel(value string) bool {
	return all(value, func(c byte) bool { return isLower(c) || isDigit(c) || c == '-' }) &&
		value[0] != '-' && value[len(value)-1] != '-'
}

func isDNSSubdomain(value string) bool {
	for label := range strings.SplitSeq(value, ".") {
		if !isDNSLabel(label) {
			return false
		}
	}
	return true
}

func isUnderscoreLabel(value string) bool {
	value = strings.TrimPrefix(value, "_")
	edge := func(c byte) bool { return isLower(c) || isDigit(c) }
	return all(value, func(c byte) bool { return edge(c) || c == '-' || c == '_' }) &&
		edge(value[0]) && edge(value[len(value)-1])
}

const httpPathRegex = `[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`

// FullyQualifiedName checks a domain name with at least three labels, such as the name of a webhook.
func FullyQualifiedName(name string) []string {
	if msgs := Joined(DNS1123Subdomain, ",")(name); len(msgs) > 0 || strings.Count(name, ".") >= 2 {
		return msgs
	}
	return []string{"should be a domain with at least three segments separated by dots"}
}

// FullyQualifiedDomainName checks a domain name with at least two labels. It may end with a dot.
func FullyQualifiedDomainName(p Path, name string) ErrorList {
	if name == "" {
		return ErrorList{Required(p, "")}
	}
	name = strings.TrimSuffix(name, ".")
	if msgs := DNS1123Subdomain(name); len(msgs) > 0 {
		return ErrorList{Invalid(p, name, strings.Join(msgs, ","))}
	}
	labels := strings.Split(name, ".")
	if len(labels) < 2 {
		return ErrorList{Invalid(p, name, "should be a domain with at least two segments separated by dots")}
	}
	for _, label := range labels {
		if msgs := DNS1123Label(label); len(msgs) > 0 {
			return ErrorList{Invalid(p, label, strings.Join(msgs, ","))}
		}
	}
	return nil
}

// DomainPrefixedPath checks a path with a domain prefix, such as acme.io/foo: the name of a controller or a signer.
func DomainPrefixedPath(p Path, value string) ErrorList {
	if value == "" {
		return ErrorList{Required(p, "")}
	}
	host, path, _ := strings.Cut(value, "/")
	if host == "" || path == "" {
		return ErrorList{Invalid(p, value, `must be a domain-prefixed path (such as "acme.io/foo")`)}
	}
	errs := Check(p, host, DNS1123Subdomain)
	if !all(path, isHTTPPath) {
		errs = append(errs, Invalid(p, path, RegexText("Invalid path", httpPathRegex)))
	}
	return errs
}

// isHTTPPath reports whether c may occur in a URL path (RFC 3986 §3.3).
func isHTTPPath(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("/-._~%!$&'()*+,;=:", c) >= 0
}

// NameRule checks the names of a kind's objects. If prefix is true, name is metadata.generateName, to which the server
// appends characters; otherwise it is metadata.name.
type NameRule func(name string, prefix bool) []string

// NameDNSSubdomain is the name rule of most kinds.
func NameDNSSubdomain(name string, prefix bool) []string {
	return DNS1123Subdomain(MaskTrailingDash(name, prefix))
}

// NameDNSLabel is the rule for namespaces and other names that become hostnames.
func NameDNSLabel(name string, prefix bool) []string {
	return DNS1123Label(MaskTrailingDash(name, prefix))
}

// NameDNS1035Label is the rule for names that become hostnames and must begin with a letter.
func NameDNS1035Label(name string, prefix bool) []string {
	return DNS1035Label(MaskTrailingDash(name, prefix))
}

// NamePathSegment is the rule that all names satisfy. It is the only rule for the names of roles and role bindings.
func NamePathSegment(name string, prefix bool) []string {
	if prefix {
		return pathSegmentPrefix(name)
	}
	return PathSegment(name)
}

// MaskTrailingDash returns the name to check. If name is the prefix of a generated name, it may end in a dash, because more
// characters follow. The dash is replaced together with the preceding character, so that character is not checked.
func MaskTrailingDash(name string, prefix bool) string {
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-2] + "a"
	}
	return name
}

// PathSegment checks a name that is one segment of a URL path.
func PathSegment(name string) []string {
	if name == "." || name == ".." {
		return []string{"may not be '" + name + "'"}
	}
	return pathSegmentPrefix(name)
}

func pathSegmentPrefix(name string) []string {
	var msgs []string
	for _, c := range []string{"/", "%"} {
		if strings.Contains(name, c) {
			msgs = append(msgs, "may not contain '"+c+"'")
		}
	}
	return msgs
}
