package field

import (
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const (
	subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
	labelText     = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	label1035Text = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
	keyText       = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueText1    = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	configKeyText = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)

func TestFormatMessages(t *testing.T) {
	long := strings.Repeat("a", 254)
	tests := []struct {
		name  string
		rule  func(string) []string
		value string
		want  []string
	}{
		{"subdomain", DNS1123Subdomain, "a.b-c.9", nil},
		{"subdomain in upper case", DNS1123Subdomain, "A", []string{subdomainText}},
		{"empty subdomain", DNS1123Subdomain, "", []string{subdomainText}},
		{"long subdomain", DNS1123Subdomain, long, []string{"must be no more than 253 characters"}},
		{"longest label", DNS1123Label, long[:63], nil},
		{"long label", DNS1123Label, long[:64], []string{"must be no more than 63 characters"}},
		{"dots in a label", DNS1123Label, "a.b", []string{"must not contain dots"}},
		{"dash at the end of a label", DNS1123Label, "a-", []string{labelText}},
		{"digit first", DNS1035Label, "1a", []string{label1035Text}},
		{"empty DNS-1035 label", DNS1035Label, "", []string{label1035Text}},
		{"key", QualifiedName, "a.b/c-D_e.f", nil},
		{"key with two slashes", QualifiedName, "a/b/c", []string{"a valid label key " + keyText + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
		{"key without prefix before the slash", QualifiedName, "/c", []string{"prefix part must be non-empty"}},
		{"key without name", QualifiedName, "a/", []string{"name part must be non-empty", "name part " + keyText}},
		{"key with a bad prefix", QualifiedName, "A.b/c", []string{"prefix part " + subdomainText}},
		{"key with a long prefix", QualifiedName, long + "/c", []string{"prefix part must be no more than 253 bytes"}},
		{"key with a long name", QualifiedName, long[:64], []string{"name part must be no more than 63 bytes"}},
		{"empty label value", LabelValue, "", nil},
		{"bad label value", LabelValue, "not ok!", []string{valueText1}},
		{"long label value", LabelValue, long[:64], []string{"must be no more than 63 bytes"}},
		{"config key", ConfigMapKey, "a b", []string{configKeyText}},
		{"config key of one dot", ConfigMapKey, ".", []string{"must not be '.'"}},
		{"config key of two dots", ConfigMapKey, "..", []string{"must not be '..'"}},
		{"config key with two dots in front", ConfigMapKey, "..a", []string{"must not start with '..'"}},
		{"name of three segments", FullyQualifiedName, "a.b.c", nil},
		{"name of two segments", FullyQualifiedName, "a.b", []string{"should be a domain with at least three segments separated by dots"}},
		{"long name in upper case", FullyQualifiedName, "A" + long, []string{"must be no more than 253 characters," + subdomainText}},
		{"environment variable", EnvVarName, "1 weird name!", nil},
		{"environment variable with =", EnvVarName, "a=b", []string{"a valid environment variable name must consist only of printable ASCII characters other than '='"}},
		{"empty environment variable", EnvVarName, "", []string{"environment variable name must be non-empty"}},
		{"port name", PortName, "http-2", nil},
		{"port name with all mistakes", PortName, "-0123456789_12--", []string{
			"must be no more than 15 characters", "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
			"must contain at least one letter (a-z)", "must not contain consecutive hyphens", "must not begin or end with a hyphen"}},
		{"one dot as a path segment", PathSegment, ".", []string{"may not be '.'"}},
		{"slash and percent", PathSegment, "a/%", []string{"may not contain '/'", "may not contain '%'"}},
		{"percent", Percent, "25%", nil},
		{"percent without digits", Percent, "%", []string{"a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"}},
		{"relative path", DescendingPath, "a/../b", []string{"must not contain '..'"}},
		{"absolute path", DescendingPath, "/a", []string{"must be a relative path"}},
		{"reserved path", NonReservedPath, "..data", []string{"must not start with '..'"}},
		{"leading zero", DecimalInteger, "01", []string{"must be a valid decimal integer in canonical form"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(tt.rule(tt.value), tt.want) // the exact messages
		})
	}
}

// TestFormatsMatchTheirRegex enumerates all short strings over a few characters and checks that a rule accepts exactly
// those that match the regular expression in its message.
func TestFormatsMatchTheirRegex(t *testing.T) {
	rules := []struct {
		name, re string
		rule     func(string) []string
	}{
		{"label", dnsLabelRegex, DNS1123Label},
		{"subdomain", dnsSubdomainRegex, DNS1123Subdomain},
		{"subdomain in any case", "(?i)" + dnsSubdomainRegex, DNS1123SubdomainAnyCase},
		{"underscores", underscoreRegex, DNS1123SubdomainWithUnderscore},
		{"dns 1035", dns1035Regex, DNS1035Label},
		{"wildcard", wildcardRegex, WildcardDNS1123Subdomain},
		{"label key", "(" + dnsSubdomainRegex + "/)?" + labelKeyRegex, QualifiedName},
		{"label value", labelValueRegex, LabelValue},
		{"identifier", identifierRegex, CIdentifier},
		{"header", headerRegex, HTTPHeaderName},
		{"percent", percentRegex, Percent},
		{"condition reason", conditionReasonRegex, ConditionReason},
	}
	words := append(enumerate("aB1-_./*%,", 4), enumerate("ſİıé\u212a.", 3)...)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			is := is.New(t)
			re := regexp.MustCompile("^(" + r.re + ")$")
			for _, w := range words {
				if re.MatchString(w) != (len(r.rule(w)) == 0) {
					is.Equal(w, "") // rule and regular expression agree
				}
			}
		})
	}
}

// enumerate returns all strings of at most n of the characters.
func enumerate(characters string, n int) []string {
	words := []string{""}
	for start := 0; n > 0; n-- {
		last := words[start:]
		start = len(words)
		for _, w := range last {
			for _, c := range characters {
				words = append(words, w+string(c))
			}
		}
	}
	return words
}

func TestNameRules(t *testing.T) {
	is := is.New(t)
	is.Equal(NameDNSSubdomain("web-", true), nil)                       // a prefix may end in a dash
	is.Equal(len(NameDNSSubdomain("web-", false)), 1)                   // a name may not
	is.Equal(len(NameDNSLabel("-", true)), 1)                           // a dash alone is no prefix
	is.Equal(NamePathSegment("..", true), nil)                          // more follows, so this is fine
	is.Equal(NamePathSegment("..", false), []string{"may not be '..'"}) // but invalid as a name
	is.Equal(MaskTrailingDash("a.-", true), "aa")                       // the character before the dash is not looked at
}

func TestDomains(t *testing.T) {
	tests := []struct {
		rule        func(Path, string) ErrorList
		value, want string
	}{
		{FullyQualifiedDomainName, "a.b.", ""},
		{FullyQualifiedDomainName, "a.", `p: Invalid value: "a": should be a domain with at least two segments separated by dots`},
		{DomainPrefixedPath, "acme.io/foo/bar?", `p: Invalid value: "foo/bar?": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`},
		{DomainPrefixedPath, "foo", `p: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")`},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			is := is.New(t)
			text := ""
			if errs := tt.rule(Root("p"), tt.value); len(errs) > 0 {
				text = errs.Text()
			}
			is.Equal(text, tt.want) // the exact error
		})
	}
}

func TestCheckLabelsSorts(t *testing.T) {
	is := is.New(t)
	errs := CheckLabels(Root("metadata.labels"), map[string]string{"b": "-", "a": "-", "-": "ok"})
	is.Equal(len(errs), 3)         // one bad key, two bad values
	is.Equal(errs[0].Value, "-")   // the key sorts first
	is.Equal(errs.Text()[:1], "[") // several errors
}

func TestNumbers(t *testing.T) {
	is := is.New(t)
	is.Equal(PortNumber(65535), nil)                                                                        // last port
	is.Equal(PortNumber(0), []string{"must be between 1 and 65535, inclusive"})                             // no port 0
	is.Equal(UserID(1<<31), []string{"must be between 0 and 2147483647, inclusive"})                        // 31 bits
	is.Equal(NonNegative(-1, Root("a")).Text(), "a: Invalid value: -1: must be greater than or equal to 0") // text
	is.Equal(NonNegative(0, Root("a")), nil)                                                                // zero is fine
}
