package builtin

import (
	"crypto/sha256"
	"math/big"
)

// The curve P-256 (SP 800-186, 3.2.1.3): y² = x³ - 3x + b over the integers modulo field; its points are a group of the
// prime order, which base generates.
var curve = struct{ field, order, x, y *big.Int }{
	field: hexNumber("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
	order: hexNumber("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
	x:     hexNumber("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
	y:     hexNumber("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
}

func hexNumber(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 16)
	if !ok {
		panic("builtin: not a number: " + text)
	}
	return n
}

// curveKey is a key of P-256 in plain arithmetic. It takes no care to hide the key from who can measure time: the keys
// of a simulator follow from its seed and are no secrets.
type curveKey struct {
	private *big.Int
	at      curvePoint // private times the base
}

// newCurveKey returns the key with a private number. ok is false for 0 and for what is not below the group's order.
func newCurveKey(private [32]byte) (k curveKey, ok bool) {
	n := new(big.Int).SetBytes(private[:])
	if n.Sign() == 0 || n.Cmp(curve.order) >= 0 {
		return k, false
	}
	return curveKey{n, basePoint().times(n)}, true
}

func (k curveKey) public() (p point) {
	x, y := k.at.affine()
	p[0] = 4
	x.FillBytes(p[1:33])
	y.FillBytes(p[33:])
	return p
}

// sign returns both numbers of the ECDSA signature of a SHA-256 sum (FIPS 186-5, 6.4).
func (k curveKey) sign(sum [32]byte) (out [64]byte) {
	hash := new(big.Int).SetBytes(sum[:])
	for draw := newNonces(k.private, hash); ; {
		nonce := draw.next()
		x, _ := basePoint().times(nonce).affine()
		r := x.Mod(x, curve.order)
		s := new(big.Int).Mul(r, k.private)
		s.Add(s, hash).Mul(s, new(big.Int).ModInverse(nonce, curve.order)).Mod(s, curve.order)
		if r.Sign() != 0 && s.Sign() != 0 {
			r.FillBytes(out[:32])
			s.FillBytes(out[32:])
			return out
		}
	}
}

func (k curveKey) verify(sum [32]byte, signature [64]byte) bool {
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if r.Sign() == 0 || s.Sign() == 0 || r.Cmp(curve.order) >= 0 || s.Cmp(curve.order) >= 0 {
		return false
	}
	inverse := new(big.Int).ModInverse(s, curve.order)
	u := new(big.Int).SetBytes(sum[:])
	u.Mul(u, inverse).Mod(u, curve.order)
	v := inverse.Mul(inverse, r)
	v.Mod(v, curve.order)
	sumPoint := basePoint().times(u).plus(k.at.times(v))
	if sumPoint.z.Sign() == 0 {
		return false
	}
	x, _ := sumPoint.affine()
	return x.Mod(x, curve.order).Cmp(r) == 0
}

// nonces are the secret numbers of a signature, drawn from the key and the sum (RFC 6979, 3.2).
type nonces struct{ key, value []byte }

func newNonces(private, hash *big.Int) *nonces {
	n := &nonces{key: make([]byte, 32), value: make([]byte, 32)}
	for i := range n.value {
		n.value[i] = 1
	}
	var seed [64]byte
	private.FillBytes(seed[:32])
	new(big.Int).Mod(hash, curve.order).FillBytes(seed[32:])
	n.stir(0, seed[:])
	n.stir(1, seed[:])
	return n
}

func (n *nonces) stir(separator byte, seed []byte) {
	n.key = keyedSum(n.key, n.value, []byte{separator}, seed)
	n.value = keyedSum(n.key, n.value)
}

func (n *nonces) next() *big.Int {
	for {
		n.value = keyedSum(n.key, n.value)
		if k := new(big.Int).SetBytes(n.value); k.Sign() != 0 && k.Cmp(curve.order) < 0 {
			return k
		}
		n.stir(0, nil)
	}
}

// keyedSum is HMAC-SHA-256 with a key of at most 64 bytes (RFC 2104).
func keyedSum(key []byte, parts ...[]byte) []byte {
	inner, outer := make([]byte, 64), make([]byte, 64)
	for i := range inner {
		inner[i], outer[i] = 0x36, 0x5c
		if i < len(key) {
			inner[i] ^= key[i]
			outer[i] ^= key[i]
		}
	}
	for _, p := range parts {
		inner = append(inner, p...)
	}
	sum := sha256.Sum256(inner)
	sum = sha256.Sum256(append(outer, sum[:]...))
	return sum[:]
}
