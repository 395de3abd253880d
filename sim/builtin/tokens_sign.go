package builtin

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
)

// tokenKeys holds the signing keys of the seeds that have been asked for.
var tokenKeys sync.Map // uint64 → *tokenKey

// tokenKey is the key with which the Cluster of one seed signs tokens: one of the curve P-256. Where kubesim runs in a
// page the arithmetic is its own (tokens_curve.go), elsewhere Go's; the bytes are the same.
type tokenKey struct {
	keyPair
	id string // kid: base64 of the SHA-256 sum of the public key, as kube-apiserver names its keys
}

// point is a public key as SEC 1 prints it uncompressed: 4, then both coordinates.
type point [65]byte

// keyHeader is what precedes a point in the DER of a public key of P-256 (RFC 5480).
const keyHeader = "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"

// signToken returns claims as a JSON Web Token, signed with ES256 (RFC 7515, RFC 7518). The same seed and claims give
// the same bytes: the key follows from the seed, and the signature needs no randomness (RFC 6979).
func signToken(seed uint64, claims map[string]any) string {
	key := tokenKeyOf(seed)
	text := encodeToken(map[string]any{"alg": "ES256", "kid": key.id}) + "." + encodeToken(claims)
	signature := key.sign(sha256.Sum256([]byte(text)))
	return text + "." + base64.RawURLEncoding.EncodeToString(signature[:])
}

// TokenKeySet returns the JSON Web Key Set (RFC 7517) that the tokens of a seed can be checked with.
func TokenKeySet(seed uint64) []byte {
	key := tokenKeyOf(seed)
	public := key.public()
	coordinate := base64.RawURLEncoding.EncodeToString
	return fmt.Appendf(nil, `{"keys":[{"use":"sig","kty":"EC","kid":%q,"crv":"P-256","alg":"ES256","x":%q,"y":%q}]}`,
		key.id, coordinate(public[1:33]), coordinate(public[33:]))
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
		pair, ok := newKeyPair(sum)
		if !ok { // the sum is no number of the curve's group, which one in 2³² is
			material = sum[:]
			continue
		}
		public := pair.public()
		id := sha256.Sum256(append([]byte(keyHeader), public[:]...))
		key, _ := tokenKeys.LoadOrStore(seed, &tokenKey{pair, base64.RawURLEncoding.EncodeToString(id[:])})
		return key.(*tokenKey)
	}
}
