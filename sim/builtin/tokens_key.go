//go:build !page

package builtin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/asn1"
	"math/big"
)

// keyPair is a key of P-256 in Go's own arithmetic.
type keyPair struct{ private *ecdsa.PrivateKey }

// newKeyPair returns the key with a private number. ok is false for 0 and for what is not below the group's order.
func newKeyPair(private [32]byte) (k keyPair, ok bool) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), private[:])
	return keyPair{key}, err == nil
}

func (k keyPair) public() (p point) {
	raw, err := k.private.PublicKey.Bytes()
	if err != nil || copy(p[:], raw) != len(p) {
		panic("builtin: the public key of a token cannot be printed")
	}
	return p
}

// sign returns both numbers of the signature of a SHA-256 sum.
func (k keyPair) sign(sum [32]byte) (out [64]byte) {
	der, err := k.private.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		panic("builtin: a token could not be signed: " + err.Error())
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil {
		panic("builtin: a signature is not what it should be: " + err.Error())
	}
	signature.R.FillBytes(out[:32])
	signature.S.FillBytes(out[32:])
	return out
}

func (k keyPair) verify(sum [32]byte, signature [64]byte) bool {
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	return ecdsa.Verify(&k.private.PublicKey, sum[:], r, s)
}
