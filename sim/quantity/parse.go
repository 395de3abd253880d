package quantity

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The errors of Parse, as the API returns them.
var (
	errFormat  = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	errNumeric = errors.New("unable to parse numeric part of quantity")
	errSuffix  = errors.New("unable to parse quantity's suffix")
)

// nano is the exponent of the smallest unit that is kept.
const nano = -9

// Canonical returns s in the API server's canonical form, or an error if s is not a quantity.
func Canonical(s string) (string, error) {
	q, err := Parse(s)
	if err != nil {
		return "", err
	}
	return q.String(), nil
}

// Parse parses a number with an optional suffix. It uses the grammar of the server, which also accepts some strings that its own
// regular expression does not match: "m", "+" and "." are 0. For any other string it returns the API's error.
func Parse(s string) (Quantity, error) {
	switch s {
	case "":
		return Quantity{}, errFormat
	case "0":
		return Quantity{}, nil
	}
	p, ok := split(s)
	if !ok {
		return Quantity{}, errFormat
	}
	u, ok := interpret(p.suffix)
	if !ok {
		return Quantity{}, errSuffix
	}
	if q, ok := p.small(s, u); ok {
		return q, nil
	}
	if !p.digits {
		return Quantity{}, errNumeric
	}
	return p.large(u), nil
}

// parts are the parts of a number: its sign, the digits before and after the decimal point, and its suffix.
type parts struct {
	negative     bool
	whole, fract string // whole has no leading zeros, but is at least "0"
	suffix       string
	digits       bool // whether there is any digit, even a leading zero
}

func split(s string) (parts, bool) {
	var p parts
	rest := s
	if rest[0] == '-' || rest[0] == '+' {
		p.negative = rest[0] == '-'
		rest = rest[1:]
	}
	for rest != "" && rest[0] == '0' {
		rest, p.digits = rest[1:], true
	}
	if p.whole, rest = number(rest); p.whole == "" {
		p.whole = "0"
	} else {
		p.digits = true
	}
	if rest != "" && rest[0] == '.' {
		p.fract, rest = number(rest[1:])
		p.digits = p.digits || p.fract != ""
	}
	p.suffix = rest
	for rest != "" && strings.IndexByte("eEinumkKMGTP", rest[0]) >= 0 {
		rest = rest[1:]
	}
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	_, rest = number(rest)
	return p, rest == ""
}

// number splits s after its leading digits, which it returns first.
func number(s string) (digits, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// unit is the value of a suffix: 10^exp, or 2^exp in BinarySI.
type unit struct {
	format Format
	exp    int32
}

func interpret(suffix string) (unit, bool) {
	switch {
	case suffix == "":
		return unit{DecimalSI, 0}, true
	case len(suffix) == 1:
		i := strings.IndexByte(decimalLetters, suffix[0])
		return unit{DecimalSI, int32(i*3) + nano}, i >= 0
	case len(suffix) == 2 && suffix[1] == 'i':
		i := strings.IndexByte(binaryLetters, suffix[0])
		return unit{BinarySI, int32(i*10) + 10}, i >= 0
	case suffix[0] == 'e' || suffix[0] == 'E':
		n, err := strconv.ParseInt(suffix[1:], 10, 64)
		return unit{DecimalExponent, int32(n)}, err == nil
	}
	return unit{}, false
}

// small converts numbers with up to 18 digits that do not need rounding. It keeps the original text if the server does.
func (p parts) small(s string, u unit) (Quantity, bool) {
	factor, scale, room := uint64(1), u.exp, 18-len(p.whole)-len(p.fract)
	if u.format == BinarySI {
		factor, scale, room = 1<<uint(u.exp), 0, 14-len(p.whole)-int(u.exp)*3/10
		if p.fract != "" {
			return Quantity{}, false
		}
	}
	scale -= int32(len(p.fract))
	if room < 0 || scale < nano {
		return Quantity{}, false
	}
	all, n := p.whole+p.fract, uint64(0)
	for _, digit := range []byte(all) {
		n = n*10 + uint64(digit-'0')
	}
	value, ok := multiply(n, factor)
	if !ok {
		return Quantity{}, false
	}
	q := Quantity{unscaled: value, exp: scale, format: u.format}
	if p.negative {
		q.unscaled = -value
	}
	if u.format == BinarySI {
		if n&7 != 0 {
			q.text = s
		}
	} else if scale%3 == 0 && all[0] != '0' && !strings.HasSuffix(all, "000") {
		q.text = s
	}
	return q, true
}

// large converts any number. It rounds up to a multiple of nano, and limits binary numbers to the greatest int64.
func (p parts) large(u unit) Quantity {
	n, _ := new(big.Int).SetString(p.whole+p.fract, 10)
	exp := -int64(len(p.fract))
	if u.format == BinarySI {
		n.Lsh(n, uint(u.exp))
	} else {
		exp += int64(u.exp)
	}
	if n.Sign() == 0 {
		return Quantity{format: u.format, dec: true}
	}
	exp = min(max(exp, math.MinInt32), math.MaxInt32)
	q := fromBig(n, int32(exp), u.format).RoundUp(nano)
	if u.format == BinarySI {
		if q.CmpInt64(math.MaxInt64) > 0 {
			q = New(math.MaxInt64, BinarySI)
		}
		if q.CmpInt64(1) < 0 {
			q.format = DecimalSI
		}
	}
	q.dec = true
	if p.negative {
		q = q.Neg()
	}
	return q
}
