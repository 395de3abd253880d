//go:build !page

package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// fileKey is a public key read from a file.
type fileKey struct {
	key  crypto.PublicKey // *rsa.PublicKey or *ecdsa.PublicKey
	kid  string
	name string // name of the algorithm
}

// newFileKey returns the key. It returns an error if the key cannot be used for signing.
func newFileKey(key crypto.PublicKey) (*fileKey, error) {
	k := &fileKey{key: key}
	switch key := key.(type) {
	case *rsa.PublicKey:
		k.name = "RS256"
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			k.name = "ES256"
		case elliptic.P384():
			k.name = "ES384"
		case elliptic.P521():
			k.name = "ES512"
		default:
			return nil, errors.New("unknown private key curve, must be 256, 384, or 521")
		}
	default:
		return nil, fmt.Errorf("unknown public key type %T, must be *rsa.PublicKey or *ecdsa.PublicKey", key)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("failed to serialize public key to DER format: %w", err)
	}
	sum := sha256.Sum256(der)
	k.kid = encode(sum[:])
	return k, nil
}

func (k *fileKey) id() string        { return k.kid }
func (k *fileKey) algorithm() string { return k.name }

func (k *fileKey) published() webKey {
	w := webKey{Use: "sig", ID: k.kid, Alg: k.name}
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		w.Type, w.Modulus, w.Exponent = "RSA", encode(key.N.Bytes()), encode(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil {
			panic("token: the public key of a token cannot be printed: " + err.Error())
		}
		size := len(point) / 2
		w.Type, w.Curve, w.X, w.Y = "EC", key.Curve.Params().Name, encode(point[1:1+size]), encode(point[1+size:])
	}
	return w
}

// verify accepts all algorithms for the key's type, like go-jose.
func (k *fileKey) verify(algorithm string, text, signature []byte) bool {
	kind, bits, _ := strings.Cut(algorithm, "S")
	sum, hash := digest(bits, text)
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		switch {
		case hash != 0 && kind == "R":
			return rsa.VerifyPKCS1v15(key, hash, sum, signature) == nil
		case hash != 0 && kind == "P":
			return rsa.VerifyPSS(key, hash, sum, signature, nil) == nil
		}
	case *ecdsa.PublicKey:
		size := map[string]int{"256": 32, "384": 48, "512": 66}[bits]
		if kind != "E" || size == 0 || len(signature) != 2*size {
			return false
		}
		return ecdsa.Verify(key, sum, new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:]))
	}
	return false
}

// ExternalKey is a key of an External, which verifies tokens.
type ExternalKey struct {
	*fileKey
	Unpublished bool // the key set does not contain the key
}

// ParseExternalKey parses the key with an id, given in PKIX, ASN.1 DER form.
func ParseExternalKey(id string, der []byte, unpublished bool) (*ExternalKey, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("while parsing external public keys: %w", err)
	}
	k, err := newFileKey(key)
	if err != nil {
		return nil, err
	}
	k.kid = id
	return &ExternalKey{k, unpublished}, nil
}

// ID returns the id of the key.
func (k *ExternalKey) ID() string { return k.kid }

// digest returns the SHA-2 digest of text with the given number of bits, and the hash function. If there is no such hash function,
// it returns nil and 0.
func digest(bits string, text []byte) ([]byte, crypto.Hash) {
	switch bits {
	case "256":
		sum := sha256.Sum256(text)
		return sum[:], crypto.SHA256
	case "384":
		sum := sha512.Sum384(text)
		return sum[:], crypto.SHA384
	case "512":
		sum := sha512.Sum512(text)
		return sum[:], crypto.SHA512
	}
	return nil, 0
}

// fileSigner is a private key read from a file.
type fileSigner struct {
	*fileKey
	private crypto.Signer
}

// sign signs text. Both algorithms are deterministic: RSASSA-PKCS1-v1_5, and ECDSA with RFC 6979, which Go uses if rand is nil.
func (k *fileSigner) sign(text []byte) []byte {
	sum, hash := digest(k.name[2:], text)
	signature, err := k.private.Sign(nil, sum, hash)
	if err != nil {
		panic("token: a token could not be signed: " + err.Error())
	}
	key, curved := k.key.(*ecdsa.PublicKey)
	if !curved {
		return signature
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &numbers); err != nil {
		panic("token: a signature is not what it should be: " + err.Error())
	}
	size := (key.Curve.Params().BitSize + 7) / 8
	out := make([]byte, 2*size)
	numbers.R.FillBytes(out[:size])
	numbers.S.FillBytes(out[size:])
	return out
}

// privateKey returns the first private key in a file (k8s.io/client-go/util/keyutil.ParsePrivateKeyPEM). It returns an error if
// there is none.
func privateKey(file []byte) (signer, error) {
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		default:
			continue
		}
		private, ok := key.(crypto.Signer)
		if err != nil || !ok {
			continue
		}
		public, err := newFileKey(private.Public())
		if err != nil {
			return nil, err
		}
		return &fileSigner{public, private}, nil
	}
	return nil, errors.New("data does not contain a valid RSA or ECDSA private key")
}

// publicKeys returns the public keys in a file, including those of its private keys and certificates
// (k8s.io/client-go/util/keyutil.ParsePublicKeysPEM). Other blocks are ignored. It returns an error if there are none.
func publicKeys(file []byte) ([]verifier, error) {
	var all []verifier
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		key := publicKey(block.Bytes)
		if key == nil {
			continue
		}
		k, err := newFileKey(key)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	if len(all) == 0 {
		return nil, errors.New("data does not contain any valid RSA or ECDSA public keys")
	}
	return all, nil
}

// publicKey parses one key or certificate and returns its public key, or nil if it is not supported. Private ECDSA keys in PKCS #8
// are not supported.
func publicKey(der []byte) crypto.PublicKey {
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return &key.PublicKey
	}
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		if private, ok := key.(*rsa.PrivateKey); ok {
			return &private.PublicKey
		}
		return nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return &key.PublicKey
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil
		}
		key = c.PublicKey
	}
	switch key.(type) {
	case *rsa.PublicKey, *ecdsa.PublicKey:
		return key
	}
	return nil
}
