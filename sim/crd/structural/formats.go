package structural

import (
	"encoding/base64"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/field"
)

// formats are the formats of strings that are checked, by normal name. Others are ignored, with a warning when the
// definition is written (CustomResourceDefinition documentation, "Validation").
var formats = map[string]func(string) bool{
	"bsonobjectid": allHex(24),
	"uri":          isURI,
	"email":        func(s string) bool { _, err := mail.ParseAddress(s); return err == nil },
	"hostname":     isHostname,
	"ipv4":         func(s string) bool { _, ok := parseIP(s); return ok && strings.Contains(s, ".") },
	"ipv6":         func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() && a.Zone() == "" },
	"cidr":         isCIDR,
	"mac":          isMAC,
	"uuid":         isUUID(0),
	"uuid3":        isUUID('3'),
	"uuid4":        isUUID('4'),
	"uuid5":        isUUID('5'),
	"isbn":         func(s string) bool { return isISBN10(s) || isISBN13(s) },
	"isbn10":       isISBN10,
	"isbn13":       isISBN13,
	"creditcard":   isCreditCard,
	"ssn":          isSSN,
	"hexcolor":     isHexColor,
	"rgbcolor":     isRGBColor,
	"byte":         isBase64,
	"password":     func(string) bool { return true },
	"date":         isDate,
	"duration":     isDuration,
	"datetime":     isDateTime,
	"k8sshortname": func(s string) bool { return len(field.DNS1123Label(s)) == 0 },
	"k8slongname":  func(s string) bool { return len(field.DNS1123Subdomain(s)) == 0 },
}

// normal returns the name under which a format is known: date-time is datetime.
func normal(format string) string { return strings.ReplaceAll(format, "-", "") }

// formatOf reports whether values of the types can have the format.
func formatOf(types []string, format string) bool {
	kind := ""
	if len(types) == 1 {
		kind = types[0]
	}
	return KnownFormat(kind, format)
}

// KnownFormat reports whether values of a type ("" for none or several) are checked against a format.
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

// parseIP reads an address. Zeros in front of the numbers of an IPv4 address are taken, as by the real server.
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

// isHostname checks a host name of RFC 1034; letters of any alphabet and symbols are taken. A name without dots can have
// a hyphen in the second place only, as the real server has it.
func isHostname(s string) bool {
	labels := strings.Split(s, ".")
	if len(s) > 255 || len(labels) == 1 {
		return len(s) <= 63 && isSingleLabel(s)
	}
	top := labels[len(labels)-1]
	if n := utf8.RuneCountInString(top); n < 2 || n > 63 || len(top) > 63 || strings.IndexFunc(top, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 {
		return false
	}
	for _, label := range labels[:len(labels)-1] {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.IndexFunc(label, func(r rune) bool { return r != '-' && !isHostRune(r) }) >= 0 {
			return false
		}
	}
	return true
}

func isSingleLabel(s string) bool {
	for i, r := range []rune(s) {
		if !isHostRune(r) && (r != '-' || i != 1 || i == len([]rune(s))-1) {
			return false
		}
	}
	return s != ""
}

func isHostRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsSymbol(r) || '0' <= r && r <= '9'
}

var isbnSeparators = strings.NewReplacer("-", "", " ", "")

func isISBN10(s string) bool {
	s = isbnSeparators.Replace(s)
	if len(s) != 10 {
		return false
	}
	sum := 0
	for i := range 10 {
		n := int(s[i] - '0')
		if i == 9 && (s[i] == 'X' || s[i] == 'x') {
			n = 10
		} else if s[i] < '0' || s[i] > '9' {
			return false
		}
		sum += (i + 1) * n
	}
	return sum%11 == 0
}

func isISBN13(s string) bool {
	s = isbnSeparators.Replace(s)
	if len(s) != 13 {
		return false
	}
	sum := 0
	for i := range 13 {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		sum += int(s[i]-'0') * (1 + i%2*2)
	}
	return sum%10 == 0
}

// isCreditCard checks the digits in s and their Luhn sum.
func isCreditCard(s string) bool {
	s = strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
	if !isCardNumber(s) {
		return false
	}
	sum := 0
	for i := range len(s) {
		n := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.Strict().DecodeString(s)
	return s != "" && err == nil && !strings.ContainsAny(s, "\r\n")
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isDuration checks a duration of Go, or one of the longer forms that Scala has ("22 seconds").
func isDuration(s string) bool {
	if _, err := time.ParseDuration(s); err == nil {
		return true
	}
	return hasDuration(s)
}
