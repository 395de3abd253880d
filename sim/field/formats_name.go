package field

import "strings"

// NameRule checks metadata.name of one kind of object. With prefix it checks metadata.generateName, to which the server
// appends characters.
type NameRule func(name string, prefix bool) []string

// NameDNSSubdomain is the rule of most kinds.
func NameDNSSubdomain(name string, prefix bool) []string {
	return DNS1123Subdomain(MaskTrailingDash(name, prefix))
}

// NameDNSLabel is the rule of namespaces and other names that become host names.
func NameDNSLabel(name string, prefix bool) []string {
	return DNS1123Label(MaskTrailingDash(name, prefix))
}

// NameDNS1035Label is the rule of names that become host names and may not start with a digit.
func NameDNS1035Label(name string, prefix bool) []string {
	return DNS1035Label(MaskTrailingDash(name, prefix))
}

// NamePathSegment is the rule every name obeys, and the only one for roles and role bindings.
func NamePathSegment(name string, prefix bool) []string {
	if prefix {
		return pathSegmentPrefix(name)
	}
	return PathSegment(name)
}

// MaskTrailingDash returns the name to check when name is the prefix of a generated one: since more follows, a dash at
// the end is fine. The dash is replaced together with the character before it, so that character is never looked at.
func MaskTrailingDash(name string, prefix bool) string {
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-2] + "a"
	}
	return name
}

// PathSegment checks a name that becomes one segment of a URL path.
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
