package quantity

import (
	"math/big"
	"strconv"
	"strings"
)

var (
	decimalSuffixes = [...]string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"} // 10^-9, 10^-6 …
	binarySuffixes  = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}          // 2^0, 2^10 …
)

// The letters of the suffixes, each at the index of its suffix. The letters of binary suffixes begin with that of 2^10.
const (
	decimalLetters = "num kMGTPE"
	binaryLetters  = "KMGTPE"
)

// String returns the canonical form. It has no fraction, and the largest suffix that does not lose precision.
func (q Quantity) String() string {
	switch {
	case q.text != "":
		return q.text
	case q.IsZero():
		return "0"
	case q.format == BinarySI:
		if s, ok := q.binary(); ok {
			return s
		}
		return q.decimal(DecimalSI)
	}
	return q.decimal(q.format)
}

// digits returns the unscaled number without its sign.
func (q Quantity) digits() string {
	if q.big != nil {
		return strings.TrimPrefix(q.big.String(), "-")
	}
	return strings.TrimPrefix(strconv.FormatInt(q.unscaled, 10), "-")
}

// decimal returns the number with a power of ten that is a multiple of three. Like the server, it drops a power for which no suffix
// exists: "1000E" becomes "1".
func (q Quantity) decimal(format Format) string {
	digits := q.digits()
	kept := strings.TrimRight(digits, "0")
	exp := int64(q.exp) + int64(len(digits)-len(kept))
	var room [32]byte
	b := room[:0]
	if q.Sign() < 0 {
		b = append(b, '-')
	}
	b = append(b, kept...)
	for ; exp%3 != 0; exp-- {
		b = append(b, '0')
	}
	switch i := exp/3 + 3; {
	case format == DecimalExponent && exp != 0:
		b = strconv.AppendInt(append(b, 'e'), exp, 10)
	case format == DecimalSI && i >= 0 && i < int64(len(decimalSuffixes)):
		b = append(b, decimalSuffixes[i]...)
	}
	return string(b)
}

// binary returns the number with a power of 1024. For numbers below 1024 and for fractions, it returns false.
func (q Quantity) binary() (string, bool) {
	if q.CmpInt64(-1024) > 0 && q.CmpInt64(1024) < 0 || q.exp > maxShift {
		return "", false
	}
	if q.big == nil && q.exp == 0 {
		n, power := q.unscaled, 0
		for n%1024 == 0 {
			n, power = n/1024, power+1
		}
		return strconv.FormatInt(n, 10) + binarySuffixes[power], true
	}
	n := q.int()
	if q.exp > 0 {
		n.Mul(n, pow10(int64(q.exp)))
	} else if q.exp < 0 {
		rest := new(big.Int)
		if n.QuoRem(n, pow10(-int64(q.exp)), rest); rest.Sign() != 0 {
			return "", false
		}
	}
	power := 0
	for rest := new(big.Int); ; power++ {
		next, _ := new(big.Int).QuoRem(n, big.NewInt(1024), rest)
		if rest.Sign() != 0 {
			break
		}
		n = next
	}
	if power < len(binarySuffixes) {
		return n.String() + binarySuffixes[power], true
	}
	return n.String(), true
}
