package field

import "math"

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
