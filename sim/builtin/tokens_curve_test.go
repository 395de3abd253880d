package builtin

import (
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/matryer/is"
)

// TestCurve compares the arithmetic of the page with Go's own.
func TestCurve(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, text := range []string{"", "a", "b", "kubesim"} {
		private, sum := sha256.Sum256([]byte("key "+text)), sha256.Sum256([]byte(text))
		want, ok := newKeyPair(private)
		got, also := newCurveKey(private)
		is.True(ok && also)                     // the number is a private key
		is.Equal(got.public(), want.public())   // the public key is the same
		is.Equal(got.sign(sum), want.sign(sum)) // so is the signature

		signature := want.sign(sum)
		is.True(got.verify(sum, signature)) // a good signature is taken
		signature[40] ^= 1
		is.True(!got.verify(sum, signature))  // a changed one is not
		is.True(!got.verify(sum, [64]byte{})) // nor is one of zeros
	}
	var order [32]byte
	curve.order.FillBytes(order[:])
	_, ok := newCurveKey(order)
	is.True(!ok) // the order is no private number
	base := basePoint()
	minus := curvePoint{base.x, new(big.Int).Sub(curve.field, base.y), base.z}
	is.Equal(base.plus(minus).z.Sign(), 0) // a point and its opposite meet at infinity
	x, _ := base.plus(base).affine()
	twice, _ := base.twice().affine()
	is.Equal(x, twice) // a point plus itself is twice the point
}
