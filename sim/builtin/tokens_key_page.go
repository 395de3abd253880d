//go:build page

package builtin

// keyPair is a key of P-256. Go's own implementation weighs more than a hundred kilobytes in a page.
type keyPair = curveKey

func newKeyPair(private [32]byte) (keyPair, bool) { return newCurveKey(private) }
