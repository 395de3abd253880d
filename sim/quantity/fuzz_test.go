package quantity

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
)

var wellFormed = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`)

// model computes the value of a well-formed quantity with fractions: the number times its unit, rounded up to a multiple of nano.
func model(s string) *big.Rat {
	number := strings.TrimRight(s, "KMGTPEinumk")
	suffix := s[len(number):]
	if at := strings.IndexAny(number, "eE"); at >= 0 { // trimmed letters are a suffix, others an exponent
		number, suffix = number[:at], number[at:]
	}
	v, _ := new(big.Rat).SetString(strings.TrimSuffix(strings.TrimPrefix(number, "+"), "."))
	unit := new(big.Rat).SetInt64(1)
	switch at := strings.Index("KMGTPE", strings.TrimSuffix(suffix, "i")); {
	case suffix == "":
	case strings.HasSuffix(suffix, "i"):
		unit.SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*(at+1))))
	case len(suffix) > 1:
		unit.SetString("1" + suffix)
	default:
		unit.SetString("1e" + map[string]string{"n": "-9", "u": "-6", "m": "-3", "k": "3", "M": "6", "G": "9", "T": "12", "P": "15", "E": "18"}[suffix])
	}
	v.Mul(v, unit)
	nanos := new(big.Rat).Mul(v, big.NewRat(1_000_000_000, 1))
	n, rest := new(big.Int).QuoRem(new(big.Int).Abs(nanos.Num()), nanos.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	limit := new(big.Int).Mul(big.NewInt(1<<63-1), big.NewInt(1_000_000_000))
	if strings.HasSuffix(suffix, "i") && n.Cmp(limit) > 0 {
		n = limit
	}
	if v.Sign() < 0 {
		n.Neg(n)
	}
	return new(big.Rat).SetFrac(n, big.NewInt(1_000_000_000))
}

func (q Quantity) rat() *big.Rat {
	v := new(big.Rat).SetInt(q.int())
	unit := pow10(max(int64(q.exp), -int64(q.exp)))
	if q.exp < 0 {
		return v.Quo(v, new(big.Rat).SetInt(unit))
	}
	return v.Mul(v, new(big.Rat).SetInt(unit))
}

// FuzzQuantity compares values and arithmetic with exact fractions, and checks that the canonical form is the same number.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "1.5Gi", "100m", "0.1n", "99Ei", "-1e-12", "12E+2", "9223372036854775808", "1.100", ".5u"} {
		f.Add(s, "1Ki")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		p, err := Parse(a)
		q, err2 := Parse(b)
		if len(a) < 60 && wellFormed.MatchString(a) && err != nil {
			t.Fatalf("%q: %v", a, err)
		}
		if err != nil || err2 != nil || len(a) > 60 || len(b) > 60 || !wellFormed.MatchString(a) || !wellFormed.MatchString(b) {
			_ = p.String() + p.Add(q).String() + p.RoundUp(-3).String()
			p.Cmp(q)
			return
		}
		x, y := model(a), model(b)
		if p.rat().Cmp(x) != 0 {
			t.Fatalf("%q is %s, want %s", a, p.rat(), x)
		}
		if p.Cmp(q) != x.Cmp(y) {
			t.Fatalf("%q and %q compare as %d", a, b, p.Cmp(q))
		}
		if sum := new(big.Rat).Add(x, y); p.Add(q).rat().Cmp(sum) != 0 {
			t.Fatalf("%q + %q is %s", a, b, p.Add(q))
		}
		if diff := new(big.Rat).Sub(x, y); p.Sub(q).rat().Cmp(diff) != 0 {
			t.Fatalf("%q - %q is %s", a, b, p.Sub(q))
		}
		printed := p.String()
		back, err := Parse(printed)
		lost := p.format == DecimalSI && p.magnitude() > 18+3 // no suffix for such an exponent
		if !lost && (err != nil || back.rat().Cmp(x) != 0 || back.String() != printed) {
			t.Fatalf("%q is printed %q, read as %v, %v", a, printed, back, err)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range []string{"100m", "128Mi", "1.5Gi", "2"} {
			if _, err := Canonical(s); err != nil {
				b.Fatal(err)
			}
		}
	}
}
