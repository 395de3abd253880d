package builtin

import "math/big"

// curvePoint is a point (x/z², y/z³) of P-256; z is 0 at infinity.
type curvePoint struct{ x, y, z *big.Int }

func basePoint() curvePoint { return curvePoint{curve.x, curve.y, big.NewInt(1)} }

// affine returns the coordinates of a point that is not at infinity.
func (p curvePoint) affine() (x, y *big.Int) {
	inverse := new(big.Int).ModInverse(p.z, curve.field)
	square := mul(inverse, inverse)
	return mul(p.x, square), mul(p.y, mul(square, inverse))
}

func mul(a, b *big.Int) *big.Int {
	product := new(big.Int).Mul(a, b)
	return product.Mod(product, curve.field)
}

func sub(a, b *big.Int) *big.Int {
	difference := new(big.Int).Sub(a, b)
	return difference.Mod(difference, curve.field)
}

func scale(a *big.Int, by int64) *big.Int { return mul(a, big.NewInt(by)) }

// twice returns p + p (the formulas dbl-2001-b of the Explicit-Formulas Database).
func (p curvePoint) twice() curvePoint {
	delta, gamma := mul(p.z, p.z), mul(p.y, p.y)
	beta := mul(p.x, gamma)
	alpha := scale(mul(sub(p.x, delta), new(big.Int).Add(p.x, delta)), 3)
	x := sub(mul(alpha, alpha), scale(beta, 8))
	y := sub(mul(alpha, sub(scale(beta, 4), x)), scale(mul(gamma, gamma), 8))
	return curvePoint{x, y, scale(mul(p.y, p.z), 2)}
}

// plus returns p + q (the formulas add-1998-cmo-2).
func (p curvePoint) plus(q curvePoint) curvePoint {
	if p.z.Sign() == 0 {
		return q
	}
	if q.z.Sign() == 0 {
		return p
	}
	pz, qz := mul(p.z, p.z), mul(q.z, q.z)
	u, s := mul(p.x, qz), mul(mul(p.y, q.z), qz)
	h, r := sub(mul(q.x, pz), u), sub(mul(mul(q.y, p.z), pz), s)
	if h.Sign() == 0 {
		if r.Sign() == 0 {
			return p.twice()
		}
		return curvePoint{new(big.Int), big.NewInt(1), new(big.Int)}
	}
	square := mul(h, h)
	cube, v := mul(square, h), mul(u, square)
	x := sub(sub(mul(r, r), cube), scale(v, 2))
	y := sub(mul(r, sub(v, x)), mul(s, cube))
	return curvePoint{x, y, mul(mul(p.z, q.z), h)}
}

// times returns n times p.
func (p curvePoint) times(n *big.Int) curvePoint {
	sum := curvePoint{new(big.Int), big.NewInt(1), new(big.Int)}
	for i := n.BitLen() - 1; i >= 0; i-- {
		if sum = sum.twice(); n.Bit(i) == 1 {
			sum = sum.plus(p)
		}
	}
	return sum
}
