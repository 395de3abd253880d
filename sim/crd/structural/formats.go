package structural

import (
	"encoding/base64"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/field"
)

// formats are the string formats that are validated, by normalized name. Other formats are ignored, with a warning when
// the definition is written (CustomResourceDefinition documentation, "Validation").
var formats = map[string]func(string) bool{
	"bsonobjectid": matches(`^[0-9a-fA-F]{24}$`),
	"uri":          isURI,
	"email":        func(s string) bool { _, err := mail.ParseAddress(s); return err == nil },
	"hostname":     isHostname,
	"ipv4":         func(s string) bool { _, ok := parseIP(s); return ok && strings.Contains(s, ".") },
	"ipv6":         func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() && a.Zone() == "" },
	"cidr":         isCIDR,
	"mac":          matches(`(?i)^([0-9a-f]{2}(([:-][0-9a-f]{2}){5}|([:-][0-9a-f]{2}){7})|[0-9a-f]{4}(\.[0-9a-f]{4}){2,3})$`),
	"uuid":         isUUID("[0-9a-f]", "[0-9a-f]"),
	"uuid3":        isUUID("3", "[0-9a-f]"),
	"uuid4":        isUUID("4", "[89ab]"),
	"uuid5":        isUUID("5", "[89ab]"),
	"isbn":         func(s string) bool { return isISBN10(s) || isISBN13(s) },
	"isbn10":       isISBN10,
	"isbn13":       isISBN13,
	"creditcard":   isCreditCard,
	"ssn":          matches(`^\d{3}[- ]?\d{2}[- ]?\d{4}$`),
	"hexcolor":     matches(`^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`),
	"rgbcolor":     matches(strings.ReplaceAll(`^rgb\(N,N,N\)$`, "N", ` *([01]?\d?\d|2[0-4]\d|25[0-5]) *`)),
	"byte":         isBase64,
	"password":     func(string) bool { return true },
	"date":         isDate,
	"duration":     isDuration,
	"datetime":     isDateTime,
	"k8sshortname": func(s string) bool { return len(field.DNS1123Label(s)) == 0 },
	"k8slongname":  func(s string) bool { return len(field.DNS1123Subdomain(s)) == 0 },
}

// Matches reports whether text has the format, which must be a string format that KnownFormat accepts.
func Matches(format, text string) bool { return formats[normal(format)](text) }

// matches returns a function that matches a regular expression, which is compiled on first use.
func matches(expr string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return func(s string) bool { return compiled().MatchString(s) }
}

// isUUID returns a function that matches UUIDs with the given version and variant: groups of 8, 4, 4, 4 and 12 digits,
// with or without hyphens.
func isUUID(version, variant string) func(string) bool {
	return matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?` + version + `[0-9a-f]{3}-?` + variant + `[0-9a-f]{3}-?[0-9a-f]{12}$`)
}

// normal returns the normalized name of a format: date-time becomes datetime.
func normal(format string) string { return strings.ReplaceAll(format, "-", "") }

// formatOf reports whether a format is known for values of the given types.
func formatOf(types []string, format string) bool {
	kind := ""
	if len(types) == 1 {
		kind = types[0]
	}
	return KnownFormat(kind, format)
}

// KnownFormat reports whether values of a type are validated against a format. If a schema allows any type or several types, kind
// is "".
func KnownFormat(kind, format string) bool {
	switch kind {
	case "", "string":
		return formats[normal(format)] != nil
	case "integer":
		return format == "int32" || format == "int64"
	case "number":
		return format == "float" || format == "double"
	}
	return false
}

// parseIP parses an IP address without a zone. Like the real server, it accepts leading zeros in the numbers of an IPv4 address. It
// returns false if s is invalid.
func parseIP(s string) (netip.Addr, bool) {
	if !strings.Contains(s, ":") {
		parts := strings.Split(s, ".")
		for i, part := range parts {
			if trimmed := strings.TrimLeft(part, "0"); trimmed != "" {
				parts[i] = trimmed
			} else if part != "" {
				parts[i] = "0"
			}
		}
		s = strings.Join(parts, ".")
	}
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Zone() == ""
}

func isCIDR(s string) bool {
	host, length, ok := strings.Cut(s, "/")
	a, valid := parseIP(host)
	n, err := strconv.Atoi(length)
	return ok && valid && err == nil && n >= 0 && n <= a.BitLen() && length[0] != '+' && length[0] != '-'
}

func isURI(s string) bool {
	_, err := url.ParseRequestURI(s)
	return err == nil
}

// The labels of a hostname. H stands for any letter, symbol or digit.
var (
	isTopLabel    = matches(`^\p{L}{2,63}$`)
	isLabel       = matches(strings.ReplaceAll(`^H(-*H+)*$`, "H", `[\p{L}\p{S}0-9]`))
	isSingleLabel = matches(strings.ReplaceAll(`^H(-?H+)?$`, "H", `[\p{L}\p{S}0-9]`))
)

// isHostname reports whether s is a hostname according to RFC 1034, except that letters of all alphabets and symbols are also
// allowed. As in the real server, a name without dots may have a hyphen only in the second position.
func isHostname(s string) bool {
	labels := strings.Split(s, ".")
	top := len(labels) - 1
	if top == 0 {
		return len(s) <= 63 && isSingleLabel(s)
	}
	tooLong := func(label string) bool { return len(label) > 63 }
	isWrong := func(label string) bool { return !isLabel(label) }
	return len(s) <= 255 && isTopLabel(labels[top]) &&
		!slices.ContainsFunc(labels, tooLong) && !slices.ContainsFunc(labels[:top], isWrong)
}

var isbnSeparators = strings.NewReplacer("-", "", " ", "")

var isISBNDigits = matches(`^\d{9}[\dXx]$|^\d{13}$`)

// isISBN10 reports whether s is an ISBN-10 with a valid checksum. The last digit may be X, for ten.
func isISBN10(s string) bool {
	s = isbnSeparators.Replace(s)
	sum := 0
	for i, c := range s {
		n := int(c - '0')
		if c == 'X' || c == 'x' {
			n = 10
		}
		sum += (i + 1) * n
	}
	return len(s) == 10 && isISBNDigits(s) && sum%11 == 0
}

func isISBN13(s string) bool {
	s = isbnSeparators.Replace(s)
	sum := 0
	for i, c := range s {
		sum += int(c-'0') * (1 + i%2*2)
	}
	return len(s) == 13 && isISBNDigits(s) && sum%10 == 0
}

var (
	notDigits = regexp.MustCompile(`\D`)
	// isCardNumber matches numbers with the prefixes and lengths of the card issuers.
	isCardNumber = matches(`^(4\d{12}(\d{3})?|(5[1-5]|35|65)\d{14}|6011\d{12}|3[47]\d{13}|(2131|1800|30[0-5]|3[68]\d)\d{11})$`)
)

// isCreditCard checks the digits in s and their Luhn checksum.
func isCreditCard(s string) bool {
	s = notDigits.ReplaceAllString(s, "")
	sum := 0
	for i := range len(s) {
		n := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			n = n*2/10 + n*2%10
		}
		sum += n
	}
	return isCardNumber(s) && sum%10 == 0
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.Strict().DecodeString(s)
	return s != "" && err == nil && !strings.ContainsAny(s, "\r\n")
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// unit matches the part of a duration that determines its validity: a number and the beginning of a unit name.
var unit = matches(`(?i)\d ?(ns|nano|us|µs|m|s|h|d|w)`)

// isDuration reports whether s is a Go duration or a duration in Scala's longer format ("22 seconds").
func isDuration(s string) bool {
	_, err := time.ParseDuration(s)
	return err == nil || unit(s)
}

// clock matches the time in a date-time, after the date. Any character may precede a fraction.
var clock = matches(`^[tT]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?([zZ]|[+-]\d\d:\d\d)$`)

// isDateTime reports whether s is a date-time of RFC 3339, ignoring case.
func isDateTime(s string) bool {
	date := len(time.DateOnly)
	return len(s) > date && isDate(s[:date]) && clock(s[date:])
}
