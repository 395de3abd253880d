package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"sync"
)

// A verifier is a public key, which verifies signatures.
type verifier interface {
	// id is the ID of the key in tokens and in the key set (kid of RFC 7515): the base64 of the SHA-256 hash of the X.509 public
	// key (pkg/serviceaccount.keyIDFromPublicKey).
	id() string
	// algorithm is the algorithm with which a server signs if it has the private key: RS256, ES256, ES384 or ES512 (RFC 7518).
	algorithm() string
	// verify reports whether the signature of text is valid under the algorithm that the token names.
	verify(algorithm string, text, signature []byte) bool
	// published returns the key as a JSON Web Key (RFC 7517).
	published() webKey
}

// A signer is a private key. Signatures are deterministic.
type signer interface {
	verifier
	sign(text []byte) []byte
}

// webKey is a JSON Web Key. Its members are those of RFC 7518, in kube-apiserver's order.
type webKey struct {
	Use      string `json:"use"` // always sig
	Type     string `json:"kty"`
	ID       string `json:"kid"`
	Curve    string `json:"crv,omitempty"`
	Alg      string `json:"alg"`
	X        string `json:"x,omitempty"`
	Y        string `json:"y,omitempty"`
	Modulus  string `json:"n,omitempty"`
	Exponent string `json:"e,omitempty"`
}

// The primes of the default signing key. Because the key is published here, it is for tests only.
const (
	prime1 = "" +
		"ca41fe91152abcbb640e674022cc5f9d260dee26af9e870434a4401cf3434a90" +
		"4b02798ca5ebc26d14a4c2aedf7d38e9f689f4eba1b954024a3dba3c6eb230e1" +
		"2ac45231f38743e03e5d6f350e547e9eb8b0150fee49a11cc83258dc27f61c2a" +
		"31cd6d06a5c5a78a7eda793b424d44b89954942caaf0096c653a33d6645902b1"
	prime2 = "" +
		"c3bfc02e43b10f409c8b5b5c9eed8c50c69f3854b86ee2f5acc4d3887a5a07f2" +
		"8ced45e321b591cf90486451041fe933abad19d2751203f5ea003c261bef73ec" +
		"38d56e071846c9a4cc8adffd05b1d65e4486083b964acfed1de23c55165c2231" +
		"e5e83101c2fc0dee41d32ca26c0bff3c8482c33561e234d525c41ec96e5fa38d"
)

// testKey is a 2048-bit RSA key that signs with RS256, that is RSASSA-PKCS1-v1_5 of RFC 8017. It uses only math/big, which a page
// contains anyway; the parser for other keys (pem.go) is too large for a page.
type testKey struct {
	n, e, d  *big.Int
	p, q     *big.Int
	dp, dq   *big.Int // d modulo p-1 and q-1
	qInverse *big.Int // inverse of q modulo p
	kid      string
}

// builtin returns the default signing key.
var builtin = sync.OnceValue(newTestKey)

// newTestKey computes the key from its primes.
func newTestKey() *testKey {
	p, _ := new(big.Int).SetString(prime1, 16)
	q, _ := new(big.Int).SetString(prime2, 16)
	one := big.NewInt(1)
	p1, q1 := new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)
	k := &testKey{n: new(big.Int).Mul(p, q), e: big.NewInt(65537), p: p, q: q, qInverse: new(big.Int).ModInverse(q, p)}
	k.d = new(big.Int).ModInverse(k.e, new(big.Int).Mul(p1, q1))
	k.dp, k.dq = new(big.Int).Mod(k.d, p1), new(big.Int).Mod(k.d, q1)
	sum := sha256.Sum256([]byte(publicHead + string(k.n.Bytes()) + publicTail))
	k.kid = encode(sum[:])
	return k
}

// The bytes before and after the modulus of a 2048-bit RSA key with exponent 65537 in the DER encoding of X.509 (RFC 5280).
const (
	publicHead = "\x30\x82\x01\x22\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03\x82\x01\x0f\x00\x30\x82\x01\x0a\x02\x82\x01\x01\x00"
	publicTail = "\x02\x03\x01\x00\x01"
)

func (k *testKey) id() string { return k.kid }

func (*testKey) algorithm() string { return "RS256" }

func (k *testKey) published() webKey {
	return webKey{Use: "sig", Type: "RSA", ID: k.kid, Alg: "RS256", Modulus: encode(k.n.Bytes()), Exponent: encode(k.e.Bytes())}
}

// sign raises the padded digest of the text to the power of d, by the Chinese remainder theorem.
func (k *testKey) sign(text []byte) []byte {
	m := new(big.Int).SetBytes(k.padded(text))
	m1, m2 := new(big.Int).Exp(m, k.dp, k.p), new(big.Int).Exp(m, k.dq, k.q)
	h := m1.Sub(m1, m2)
	h.Mul(h, k.qInverse).Mod(h, k.p)
	return h.Mul(h, k.q).Add(h, m2).FillBytes(make([]byte, k.size()))
}

func (k *testKey) verify(algorithm string, text, signature []byte) bool {
	if algorithm != "RS256" || len(signature) != k.size() {
		return false
	}
	s := new(big.Int).SetBytes(signature)
	if s.Cmp(k.n) >= 0 {
		return false
	}
	return bytes.Equal(s.Exp(s, k.e, k.n).FillBytes(make([]byte, k.size())), k.padded(text))
}

func (k *testKey) size() int { return (k.n.BitLen() + 7) / 8 }

// sumHead is the prefix of the SHA-256 digest in a signature (RFC 8017, section 9.2).
const sumHead = "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"

// padded returns the padded digest of a text (EMSA-PKCS1-v1_5).
func (k *testKey) padded(text []byte) []byte {
	sum := sha256.Sum256(text)
	tail := append([]byte("\x00"+sumHead), sum[:]...)
	fill := bytes.Repeat([]byte{0xff}, k.size()-2-len(tail))
	return fmt.Appendf(nil, "\x00\x01%s%s", fill, tail)
}

// encode returns data in unpadded base64url, the encoding of JWTs (RFC 7515).
func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
