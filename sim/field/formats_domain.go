package field

import "strings"

const httpPathRegex = `[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`

// FullyQualifiedName checks a domain name of at least three segments, such as the name of a webhook.
func FullyQualifiedName(name string) []string {
	if msgs := Joined(DNS1123Subdomain, ",")(name); len(msgs) > 0 || strings.Count(name, ".") >= 2 {
		return msgs
	}
	return []string{"should be a domain with at least three segments separated by dots"}
}

// FullyQualifiedDomainName checks a domain name of at least two segments; a dot at the end is fine.
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

// DomainPrefixedPath checks a path with a domain in front, such as acme.io/foo: the name of a controller or a signer.
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

// isHTTPPath reports whether c may occur in the path of a URL (RFC 3986 §3.3).
func isHTTPPath(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("/-._~%!$&'()*+,;=:", c) >= 0
}
