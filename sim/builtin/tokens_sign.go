package builtin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"sync"
)

// tokenKeys holds the signing keys of the seeds that have been asked for.
var tokenKeys sync.Map // uint64 → *tokenKey

// tokenKey is the key with which the Cluster of one seed signs tokens.
type tokenKey struct {
	private *ecdsa.PrivateKey
	id      string // kid: base64 of the SHA-256 sum of the public key, as kube-apiserver names its keys
}

// signToken returns claims as a JSON Web Token, signed with ES256 (RFC 7515, RFC 7518). The same seed and claims give
// the same bytes: the key follows from the seed, and the signature needs no randomness (RFC 6979).
func signToken(seed uint64, claims map[string]any) string {
	key := tokenKeyOf(seed)
	text := encodeToken(map[string]any{"alg": "ES256", "kid": key.id}) + "." + encodeToken(claims)
	sum := sha256.Sum256([]byte(text))
	der, err := key.private.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		panic("builtin: a token could not be signed: " + err.Error())
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil {
		panic("builtin: a signature is not what it should be: " + err.Error())
	}
	var raw [64]byte
	signature.R.FillBytes(raw[:32])
	signature.S.FillBytes(raw[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(raw[:])
}

// TokenKeySet returns the JSON Web Key Set (RFC 7517) that the tokens of a seed can be checked with.
func TokenKeySet(seed uint64) []byte {
	key := tokenKeyOf(seed)
	point, err := key.private.PublicKey.Bytes() // 4, then both coordinates
	if err != nil {
		panic("builtin: the public key of a token cannot be printed: " + err.Error())
	}
	coordinate := base64.RawURLEncoding.EncodeToString
	return fmt.Appendf(nil, `{"keys":[{"use":"sig","kty":"EC","kid":%q,"crv":"P-256","alg":"ES256","x":%q,"y":%q}]}`,
		key.id, coordinate(point[1:33]), coordinate(point[33:]))
}

// encodeToken prints one part of a token; encoding/json sorts the names.
func encodeToken(part map[string]any) string {
	data, err := json.Marshal(part)
	if err != nil {
		panic("builtin: a part of a token is no JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// tokenKeyOf returns the key of a seed.
func tokenKeyOf(seed uint64) *tokenKey {
	if key, ok := tokenKeys.Load(seed); ok {
		return key.(*tokenKey)
	}
	material := binary.BigEndian.AppendUint64([]byte("kubesim service account tokens "), seed)
	for {
		sum := sha256.Sum256(material)
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:])
		if err != nil { // the sum is no number of the curve's group, which one in 2³² is
			material = sum[:]
			continue
		}
		public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
		if err != nil {
			panic("builtin: the public key of a token cannot be printed: " + err.Error())
		}
		id := sha256.Sum256(public)
		key, _ := tokenKeys.LoadOrStore(seed, &tokenKey{private, base64.RawURLEncoding.EncodeToString(id[:])})
		return key.(*tokenKey)
	}
}
