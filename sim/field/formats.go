package field

import (
	"math"
	"strconv"
	"strings"
)

// Error texts that apply to any field.
const (
	TextImmutable   = "field is immutable"
	TextNonNegative = "must be greater than or equal to 0"
	TextPositive    = "must be greater than zero"
	TextEmpty       = "must be non-empty"
)

// Enum is the value of a field whose Go type is a named string type, such as a policy or a UID. Errors print it as JSON,
// which differs from a quoted Go string in <, >, & and control characters.
type Enum string

// Check applies a rule to a string. For each message it returns an Invalid error with the path p.
//
//	errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Label)...)
func Check(p Path, value string, rule func(string) []string) ErrorList {
	if messages := rule(value); len(messages) > 0 { // before the conversion of value to any, which allocates memory
		return Messages(p, value, messages)
	}
	return nil
}

// Messages converts the messages of a rule to Invalid errors about value with the path p.
func Messages(p Path, value any, messages []string) ErrorList {
	var errs ErrorList
	for _, m := range messages {
		errs = append(errs, Invalid(p, value, m))
	}
	return errs
}

// Joined returns a rule that joins all messages of another rule into one.
func Joined(rule func(string) []string, separator string) func(string) []string {
	return func(value string) []string {
		if msgs := rule(value); len(msgs) > 0 {
			return []string{strings.Join(msgs, separator)}
		}
		return nil
	}
}

// Parts of the messages about the length of a name.
const (
	noMoreThan   = "must be no more than "
	inCharacters = " characters"
	inBytes      = " bytes"
)

// CharactersText returns the message for a name that is longer than limit, in the wording of the DNS rules. The limit is
// counted in bytes, although the message says characters.
func CharactersText(limit int) string {
	return noMoreThan + strconv.Itoa(limit) + inCharacters
}

// BytesText returns the message for a label key or value that is longer than limit.
func BytesText(limit int) string {
	return noMoreThan + strconv.Itoa(limit) + inBytes
}

// RangeText returns the message for a number outside the range from lo to hi.
func RangeText(lo, hi int64) string {
	return "must be between " + strconv.FormatInt(lo, 10) + " and " + strconv.FormatInt(hi, 10) + ", inclusive"
}

// RegexText returns the message for a value that does not match a regular expression. It contains the text of the rule,
// the examples and the expression. Like the real server, it separates examples by a comma, two spaces and "or".
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

// unless returns msgs if ok is true. Otherwise it appends the RegexText of a rule to msgs.
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

// all reports whether value is nonempty and ok accepts each of its bytes.
func all(value string, ok func(byte) bool) bool {
	for i := 0; i < len(value); i++ {
		if !ok(value[i]) {
			return false
		}
	}
	return value != ""
}

const decimalText = "must be a valid decimal integer in canonical form"

// PortNumber checks a port number.
func PortNumber(port int64) []string { return InRange(port, 1, 65535) }

// UserID checks a Unix user ID. Group IDs have the same range.
func UserID(id int64) []string { return InRange(id, 0, math.MaxInt32) }

// InRange checks that n is between lo and hi, inclusive.
func InRange(n, lo, hi int64) []string {
	if lo <= n && n <= hi {
		return nil
	}
	return []string{RangeText(lo, hi)}
}

// NonNegative checks that a number is not negative. p is its path.
func NonNegative(n int64, p Path) ErrorList {
	if n < 0 {
		return ErrorList{Invalid(p, n, TextNonNegative)}
	}
	return nil
}

// DecimalInteger checks that a string is an integer without leading zeros or a plus sign.
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
