// Package quantity implements resource quantities such as "100m", "1Gi" and "5e3". It computes exactly, and prints a number with
// the kind of suffix with which it was written, in the API server's canonical form.
//
//	Quantity   value  = unscaled × 10^exp        "1500m" ─▶ 1500 × 10^-3
//	           format = DecimalSI │ BinarySI │ DecimalExponent: which suffixes it is printed with
//	           text   = the original text, if it is printed unchanged ("1500m", but also "+1" and "1.100")
//	           dec: apimachinery has it as a decimal of any size, not as an int64 with an exponent ("1.5Gi", "1Pi"); see Int64
//
// Numbers are rounded up to a multiple of 10^-9 when they are parsed. See "Quantity" in the Kubernetes API reference.
package quantity

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
)

// Format is the kind of suffix with which a Quantity is printed.
type Format uint8

const (
	DecimalSI       Format = iota // n u m "" k M G T P E
	BinarySI                      // Ki Mi Gi Ti Pi Ei
	DecimalExponent               // e3, e6
)

// Quantity is an immutable number: operations return a new one. The zero Quantity is 0.
type Quantity struct {
	unscaled int64
	big      *big.Int // if not nil, replaces unscaled; never modified
	exp      int32
	format   Format
	dec      bool
	text     string
}

// New returns an integer as a Quantity.
func New(value int64, format Format) Quantity { return Quantity{unscaled: value, format: format} }

// Milli returns a number of thousandths as a Quantity.
func Milli(value int64, format Format) Quantity {
	return Quantity{unscaled: value, exp: -3, format: format}
}

// MustParse is like Parse, but panics if s is invalid.
func MustParse(s string) Quantity {
	q, err := Parse(s)
	if err != nil {
		panic("quantity: " + s + ": " + err.Error())
	}
	return q
}

// Sign returns -1, 0 or 1.
func (q Quantity) Sign() int {
	if q.big != nil {
		return q.big.Sign()
	}
	return cmp.Compare(q.unscaled, 0)
}

// IsZero reports whether q is 0.
func (q Quantity) IsZero() bool { return q.Sign() == 0 }

// Cmp returns -1 if q is less than r, 0 if they are equal, and 1 if q is greater.
func (q Quantity) Cmp(r Quantity) int {
	if q.big == nil && r.big == nil && q.exp == r.exp {
		return cmp.Compare(q.unscaled, r.unscaled)
	}
	if a, b, _, ok := alignSmall(q, r); ok {
		return cmp.Compare(a, b)
	}
	sign := q.Sign()
	if other := r.Sign(); sign != other || sign == 0 {
		return cmp.Compare(sign, other)
	}
	if c := cmp.Compare(q.magnitude(), r.magnitude()); c != 0 {
		return c * sign
	}
	a, b, _ := align(q, r)
	return a.Cmp(b)
}

// CmpInt64 compares q with an integer.
func (q Quantity) CmpInt64(n int64) int { return q.Cmp(New(n, DecimalSI)) }

// magnitude returns the number of digits before the decimal point: 3 for 100, 0 for 0.1, -1 for 0.01.
func (q Quantity) magnitude() int64 { return int64(len(q.digits())) + int64(q.exp) }

// Add returns q + r. If q is zero, the result has the format of r.
func (q Quantity) Add(r Quantity) Quantity {
	sum := q.plus(r)
	sum.dec = q.dec || r.dec
	return sum
}

// plus is Add without dec.
func (q Quantity) plus(r Quantity) Quantity {
	format, integers := q.format, !q.dec && !r.dec
	switch {
	case q.IsZero():
		format = r.format
		if q.exp >= r.exp || integers { // an int64 of 0 has no exponent
			return Quantity{unscaled: r.unscaled, big: r.big, exp: r.exp, format: format}
		}
	case r.IsZero() && integers:
		return Quantity{unscaled: q.unscaled, big: q.big, exp: q.exp, format: format}
	}
	if q.big == nil && r.big == nil && q.exp == r.exp {
		if sum := q.unscaled + r.unscaled; (sum > q.unscaled) == (r.unscaled > 0) {
			return Quantity{unscaled: sum, exp: q.exp, format: format}
		}
	}
	if a, b, exp, ok := alignSmall(q, r); ok {
		if sum := a + b; (sum > a) == (b > 0) {
			return Quantity{unscaled: sum, exp: exp, format: format}
		}
	}
	switch far := int64(q.exp) - int64(r.exp); { // so far apart that the smaller number is insignificant
	case far > maxShift && !q.IsZero():
		return Quantity{unscaled: q.unscaled, big: q.big, exp: q.exp, format: format}
	case far < -maxShift && !r.IsZero():
		return Quantity{unscaled: r.unscaled, big: r.big, exp: r.exp, format: format}
	}
	a, b, exp := align(q, r)
	return fromBig(a.Add(a, b), exp, format)
}

// Sub returns q - r. If q is zero, the result has the format of r.
func (q Quantity) Sub(r Quantity) Quantity { return q.Add(r.Neg()) }

// Neg returns -q.
func (q Quantity) Neg() Quantity {
	negated := Quantity{unscaled: -q.unscaled, exp: q.exp, format: q.format}
	if q.big != nil || q.unscaled == math.MinInt64 {
		n := q.int()
		negated = fromBig(n.Neg(n), q.exp, q.format)
	}
	negated.dec = q.dec
	return negated
}

// RoundUp rounds q to a multiple of 10^scale, away from zero. For example, scale -3 keeps thousandths.
func (q Quantity) RoundUp(scale int) Quantity {
	if int64(q.exp) >= int64(scale) || q.IsZero() {
		return q
	}
	shift := int64(scale) - int64(q.exp)
	if shift > q.magnitude()-int64(q.exp) { // less than one unit of the scale
		return Quantity{unscaled: int64(q.Sign()), exp: int32(scale), format: q.format}
	}
	n, rest := q.int(), new(big.Int)
	n.QuoRem(n, pow10(shift), rest)
	if rest.Sign() != 0 {
		n.Add(n, big.NewInt(int64(q.Sign())))
	}
	return fromBig(n, int32(scale), q.format)
}

// Float returns an approximation of q with the rounding errors of apimachinery (AsApproximateFloat64): its digits as a float64,
// multiplied by a power of ten. Decimals have the digits down to 10^-9.
func (q Quantity) Float() float64 {
	base, exp := float64(q.unscaled), int(q.exp)
	if q.big != nil || q.dec {
		n := q.int()
		if more := exp - nano; q.dec && more > 0 && more <= maxShift {
			n.Mul(n, pow10(int64(more)))
			exp = nano
		}
		base, _ = new(big.Float).SetInt(n).Float64()
	}
	return base * math.Pow10(exp)
}

// Int64 returns the value of q if apimachinery has it as an integer (AsInt64), and otherwise false: "1000m", "1.0", "1.5Gi" and
// "1Pi" are no integers.
func (q Quantity) Int64() (int64, bool) {
	if q.big != nil || q.dec || q.exp < 0 {
		return 0, false
	}
	return q.small(0)
}

// Value returns q rounded up to an integer. If the result does not fit an int64, Value returns the nearest int64.
func (q Quantity) Value() int64 { return q.scaled(0) }

// maxFastDigits is the number of digits up to which the real server represents a decimal quantity as an int64 and an exponent.
const maxFastDigits = 18

// MilliValue returns q × 1000 rounded up to an integer. It overflows in the same way as the real server (resource.Quantity), whose
// multiplication depends on the representation, because messages contain the result.
func (q Quantity) MilliValue() int64 {
	if n, ok := q.small(-3); ok {
		return n
	}
	shift := int64(q.exp) + 3
	switch n := q.int(); {
	case shift < 0:
		return q.scaled(-3)
	case q.format != BinarySI && len(q.digits()) <= maxFastDigits && shift <= 3:
		return n.Int64() * tens[shift]
	case q.format != BinarySI && len(q.digits()) <= maxFastDigits:
		return 0
	case q.format == BinarySI && n.Cmp(big.NewInt(math.MaxInt64)) > 0:
		return -1000 // the real server limits it to the greatest int64, which overflows to this when multiplied by 1000
	case shift < int64(len(tens)):
		return n.Int64() * tens[shift]
	}
	return q.int().Int64() * math.MinInt64
}

func (q Quantity) scaled(scale int) int64 {
	if n, ok := q.small(int64(scale)); ok {
		return n
	}
	r := q.RoundUp(scale)
	if r.IsZero() {
		return 0
	}
	if r.magnitude()-int64(scale) <= 19 {
		n := r.int()
		n.Mul(n, pow10(int64(r.exp)-int64(scale)))
		if n.IsInt64() {
			return n.Int64()
		}
	}
	if r.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// tens are the powers of ten that fit an int64.
var tens = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// small returns q in units of 10^scale, rounded away from zero. In the rare case that int64 arithmetic is insufficient, it returns
// false.
func (q Quantity) small(scale int64) (int64, bool) {
	shift := int64(q.exp) - scale
	switch {
	case q.big != nil || shift >= int64(len(tens)) || -shift >= int64(len(tens)):
		return 0, false
	case shift >= 0:
		n := q.unscaled * tens[shift]
		return n, n/tens[shift] == q.unscaled
	}
	n, rest := q.unscaled/tens[-shift], q.unscaled%tens[-shift]
	return n + int64(cmp.Compare(rest, 0)), true
}

// alignSmall is like align, but only for nonzero numbers that fit an int64 at a common exponent. Otherwise ok is false.
func alignSmall(q, r Quantity) (a, b int64, exp int32, ok bool) {
	if q.IsZero() || r.IsZero() {
		return 0, 0, 0, false
	}
	exp = min(q.exp, r.exp)
	a, okA := q.small(int64(exp))
	b, okB := r.small(int64(exp))
	return a, b, exp, okA && okB
}

// maxShift limits the powers of ten that are computed, because "1e1000000000" is a valid quantity.
const maxShift = 4096

// align returns both numbers with a common exponent. The difference between their exponents must not exceed maxShift or the number
// of their digits.
func align(q, r Quantity) (a, b *big.Int, exp int32) {
	a, b = q.int(), r.int()
	switch {
	case q.exp > r.exp && a.Sign() != 0:
		a.Mul(a, pow10(int64(q.exp)-int64(r.exp)))
		return a, b, r.exp
	case q.exp < r.exp && b.Sign() != 0:
		b.Mul(b, pow10(int64(r.exp)-int64(q.exp)))
		return a, b, q.exp
	case a.Sign() == 0:
		return a, b, r.exp
	}
	return a, b, q.exp
}

// int returns the unscaled number as a new big.Int.
func (q Quantity) int() *big.Int {
	if q.big != nil {
		return new(big.Int).Set(q.big)
	}
	return big.NewInt(q.unscaled)
}

func fromBig(n *big.Int, exp int32, format Format) Quantity {
	if n.IsInt64() {
		return Quantity{unscaled: n.Int64(), exp: exp, format: format}
	}
	return Quantity{big: n, exp: exp, format: format}
}

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// multiply returns a × b. If the product does not fit an int64, it returns false.
func multiply(a, b uint64) (int64, bool) {
	hi, lo := bits.Mul64(a, b)
	return int64(lo), hi == 0 && lo <= math.MaxInt64
}

// Of returns the quantity in a decoded field. If the value is not a valid quantity, it returns 0.
func Of(v any) Quantity {
	text, _ := v.(string)
	q, err := Parse(text)
	if err != nil {
		return Quantity{}
	}
	return q
}
