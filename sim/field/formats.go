package field

import (
	"math"
	"strconv"
	"strings"
)

// Texts of rules that any field may have.
const (
	TextImmutable   = "field is immutable"
	TextNonNegative = "must be greater than or equal to 0"
	TextPositive    = "must be greater than zero"
	TextEmpty       = "must be non-empty"
)

// Enum is the value of a field of which the Go type is a named string type, such as a policy or a uid. Errors print it as
// JSON and not as a Go string, which differs for < > & and control characters.
type Enum string

// Check applies a rule for strings to value and returns one Invalid error per message, all at p.
//
//	errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Label)...)
func Check(p Path, value string, rule func(string) []string) ErrorList {
	if messages := rule(value); len(messages) > 0 { // before value becomes an any, which takes memory
		return Messages(p, value, messages)
	}
	return nil
}

// Messages turns the messages of a rule about value into Invalid errors at p.
func Messages(p Path, value any, messages []string) ErrorList {
	var errs ErrorList
	for _, m := range messages {
		errs = append(errs, Invalid(p, value, m))
	}
	return errs
}

// Joined is a rule with all of its messages in one.
func Joined(rule func(string) []string, separator string) func(string) []string {
	return func(value string) []string {
		if msgs := rule(value); len(msgs) > 0 {
			return []string{strings.Join(msgs, separator)}
		}
		return nil
	}
}

// CharactersText is the message for a name longer than limit, which is counted in bytes although the text has characters. These are
// the words of the DNS rules.
func CharactersText(limit int) string {
	return "must be no more than " + strconv.Itoa(limit) + " characters"
}

// BytesText is the message for a label key or value longer than limit.
func BytesText(limit int) string {
	return "must be no more than " + strconv.Itoa(limit) + " bytes"
}

// RangeText is the message for a number outside lo to hi.
func RangeText(lo, hi int64) string {
	return "must be between " + strconv.FormatInt(lo, 10) + " and " + strconv.FormatInt(hi, 10) + ", inclusive"
}

// RegexText is the message for a value that does not match the regular expression re: the text of the rule, examples and the
// expression. Between examples the real server prints a comma, two spaces and "or".
func RegexText(says, re string, examples ...string) string {
	if len(examples) == 0 {
		return says + " (regex used for validation is '" + re + "')"
	}
	quoted := make([]string, len(examples))
	for i, e := range examples {
		quoted[i] = "'" + e + "', "
	}
	return says + " (e.g. " + strings.Join(quoted, " or ") + "regex used for validation is '" + re + "')"
}

// unless appends the RegexText of a rule to the errors of a value that violates the rule.
func unless(ok bool, msgs []string, says, re string, examples ...string) []string {
	if ok {
		return msgs
	}
	return append(msgs, RegexText(says, re, examples...))
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return isLower(c | 0x20) }

func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }

// all reports whether value is not empty and ok holds for each of its bytes.
func all(value string, ok func(byte) bool) bool {
	for i := 0; i < len(value); i++ {
		if !ok(value[i]) {
			return false
		}
	}
	return value != ""
}

const decimalText = "must be a valid decimal integer in canonical form"

// PortNumber checks the number of a port.
func PortNumber(port int64) []string { return InRange(port, 1, 65535) }

// UserID checks a Unix user id. Group ids have the same range.
func UserID(id int64) []string { return InRange(id, 0, math.MaxInt32) }

// InRange checks that n lies between lo and hi; both are allowed.
func InRange(n, lo, hi int64) []string {
	if lo <= n && n <= hi {
		return nil
	}
	return []string{RangeText(lo, hi)}
}

// NonNegative checks that the number at p is not negative.
func NonNegative(n int64, p Path) ErrorList {
	if n < 0 {
		return ErrorList{Invalid(p, n, TextNonNegative)}
	}
	return nil
}

// DecimalInteger checks a string that holds an integer without leading zeros or a plus sign.
func DecimalInteger(value string) []string {
	if value == "" {
		return []string{TextEmpty}
	}
	digits := value
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if value != "0" && (!all(digits, isDigit) || digits[0] == '0') {
		return []string{decimalText}
	}
	return nil
}
