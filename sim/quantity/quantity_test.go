package quantity

import (
	"cmp"
	"errors"
	"math"
	"testing"

	"github.com/matryer/is"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"00", "0"}, {"0Ki", "0"}, {"-0", "0"},
		{"1", "1"}, {"1000m", "1"}, {"1500m", "1500m"}, {"1.5", "1500m"}, {"0.5", "500m"}, {".5", "500m"},
		{"1000", "1k"}, {"1500", "1500"}, {"1000k", "1M"}, {"1200k", "1200k"}, {"1e3", "1e3"}, {"1000e3", "1e6"}, {"12e4", "120e3"}, {"1E3", "1E3"},
		{"1024Mi", "1Gi"}, {"1536Mi", "1536Mi"}, {"1.5Gi", "1536Mi"}, {"1025Ki", "1025Ki"}, {"0.5Ki", "512"}, {"512Ki", "512Ki"}, {"1Ei", "1Ei"},
		{"0.1Ki", "102400m"}, {"2.1Ki", "2150400m"},
		{"100n", "100n"}, {"0.1n", "1n"}, {"1.0000000001", "1000000001n"}, {"-0.1n", "-1n"},
		{"9223372036854775807", "9223372036854775807"}, {"9223372036854775808", "9223372036854775808"}, {"99Ei", "9223372036854775807"}, {"10Ei", "9223372036854775807"},
		{"-1.5Gi", "-1536Mi"}, {"-5", "-5"},
		{"+1", "+1"}, {"01", "01"}, {"1.100", "1.100"}, // kept as they are written
		{"1000E", "1"},                     // the server loses exponents without a suffix
		{"m", "0"}, {"+", "0"}, {".", "0"}, // not matched by the expression, but read
		{"1e-20", "1e-9"},
		{"1e999999999", "1e999999999"},
	} {
		is := is.New(t)
		got, err := Canonical(c.in)
		is.NoErr(err)
		is.Equal(got, c.want) // as the server prints it
		again, err := Canonical(got)
		is.NoErr(err)
		is.Equal(again, got) // the canonical form stays
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]error{
		"": errFormat, "many": errFormat, "1 ": errFormat, "1Q": errFormat, "1.2.3": errFormat, "0x1": errFormat, "1Ki1x": errFormat,
		"1ii": errSuffix, "--1": errSuffix, "1K": errSuffix, "1e": errSuffix, "1ee3": errSuffix, "1Ki3": errSuffix, "1e99999999999999999999": errSuffix,
		"e-20": errNumeric,
	} {
		is := is.New(t)
		_, err := Parse(in)
		is.True(errors.Is(err, want)) // the error names the part that is wrong
	}
}

func TestCmp(t *testing.T) {
	ordered := []string{"-1e30", "-1Ei", "-1", "-1m", "0", "1n", "1m", "999m", "1", "1001m", "1k", "1Ki", "1M", "1Mi", "9223372036854775807", "9223372036854775808", "1e30", "1e999999999"}
	for i, a := range ordered {
		for j, b := range ordered {
			is := is.New(t)
			is.Equal(MustParse(a).Cmp(MustParse(b)), cmp.Compare(i, j)) // numbers are in order
		}
	}
	is := is.New(t)
	is.Equal(MustParse("1024").Cmp(MustParse("1Ki")), 0)      // whatever they are written like
	is.Equal(MustParse("1500m").CmpInt64(1), 1)               // whole numbers too
	is.Equal(MustParse("0.0").Cmp(MustParse("-0e999999")), 0) // there is one zero
}

func TestArithmetic(t *testing.T) {
	is := is.New(t)
	sum := func(a, b string) string { return MustParse(a).Add(MustParse(b)).String() }
	is.Equal(sum("1", "500m"), "1500m")
	is.Equal(sum("1Gi", "1Gi"), "2Gi")
	is.Equal(sum("0", "1Gi"), "1Gi")         // zero takes the format of the other
	is.Equal(sum("1Gi", "1k"), "1073742824") // otherwise the first counts
	is.Equal(sum("9223372036854775807", "1"), "9223372036854775808")
	is.Equal(sum("1e999999999", "1"), "1e999999999") // too far apart to matter
	is.Equal(MustParse("1").Sub(MustParse("1500m")).String(), "-500m")
	is.Equal(New(math.MinInt64, DecimalSI).Neg().String(), "9223372036854775808")
	is.Equal(MustParse("-3m").Sign(), -1)
}

func TestFloat(t *testing.T) {
	is := is.New(t)
	is.Equal(MustParse("-1500m").Float(), -1.5)
	is.Equal(MustParse("0").Float(), 0.0)
	is.Equal(MustParse("1e3").Add(New(math.MaxInt64, DecimalSI)).Float(), 9223372036854776807.0)
	is.Equal(MustParse("1000000000000000000").Float(), 1.0000000000000001e18) // as apimachinery rounds
}

// The answers are those of isInteger in CEL on a real server.
func TestInt64(t *testing.T) {
	is := is.New(t)
	integer := func(q Quantity) bool { _, ok := q.Int64(); return ok }
	for _, s := range []string{"0", "1", "-0", "1k", "1e3", "1e18", "1.5k", "1Ki", "1Ti"} {
		is.True(integer(MustParse(s))) // s
	}
	for _, s := range []string{"1000m", "1.0", "0.0", "0.5Ki", "1.5Gi", "1Pi", "8Ei", "9223372036854775807", "1e19"} {
		is.True(!integer(MustParse(s))) // s
	}
	is.True(!integer(MustParse("1.5Gi").Sub(MustParse("1"))))
	is.True(!integer(MustParse("1Ki").Add(MustParse("8Ei").Neg())))
	is.True(integer(MustParse("1Ki").Sub(MustParse("1"))))
	is.True(integer(MustParse("0.0").Add(MustParse("1Ki"))))
	is.True(integer(MustParse("1Ki").Add(MustParse("0.0"))))
}

func TestRounding(t *testing.T) {
	is := is.New(t)
	is.Equal(MustParse("100u").RoundUp(-3).String(), "1m")     // up
	is.Equal(MustParse("-100u").RoundUp(-3).String(), "-1m")   // away from zero
	is.Equal(MustParse("1500m").RoundUp(-3).String(), "1500m") // fine enough
	is.Equal(MustParse("+1").RoundUp(-3).String(), "+1")       // and kept as written
	is.Equal(MustParse("1500m").Value(), int64(2))
	is.Equal(MustParse("1500m").MilliValue(), int64(1500))
	is.Equal(MustParse("1n").MilliValue(), int64(1))
	is.Equal(MustParse("1e999999999").Value(), int64(math.MaxInt64)) // the nearest int64
	is.Equal(MustParse("-1e30").MilliValue(), int64(0))              // an overflow has another result in this form
	is.Equal(MustParse("9223372036854775807").MilliValue(), int64(-1000))
	is.True(MustParse("9999999999999999999999").MilliValue()%1000 != 0) // and wraps around in the other
	is.True(MustParse("1536Pi").MilliValue()%1000 != 0)
	is.Equal(MustParse("9Ei").MilliValue(), int64(-1000)) // a binary quantity is capped first
	is.Equal(MustParse("1e-999999999").String(), "1e-9")  // nothing is rounded to zero
}
