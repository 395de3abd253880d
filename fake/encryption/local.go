package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/nacl/secretbox"

	"github.com/kubesim/kubesim/sim/field"
)

// transformer encrypts and decrypts values (k8s.io/apiserver/pkg/storage/value.Transformer).
type transformer interface {
	// seal encrypts data. key is the key in etcd, which authenticates some forms. random is the source of nonces. rev is the revision of
	// the write.
	seal(data, key []byte, rev uint64, random io.Reader) ([]byte, error)
	// open decrypts data. stale reports whether seal would use another key.
	open(data, key []byte) (plain []byte, stale bool, err error)
}

// prefixed is a list of transformers, each for the values with a prefix. The first one encrypts (value.NewPrefixTransformers).
type prefixed struct {
	list []prefix
	none string // the error for a value without a known prefix
}

type prefix struct {
	text string
	transformer
}

func (p *prefixed) seal(data, key []byte, rev uint64, random io.Reader) ([]byte, error) {
	first := p.list[0]
	sealed, err := first.seal(data, key, rev, random)
	if err != nil {
		return nil, err
	}
	return append([]byte(first.text), sealed...), nil
}

// open tries all transformers with the prefix of the value. An error of the one without a prefix, which reads plain values, does not
// count.
func (p *prefixed) open(data, key []byte) (plain []byte, stale bool, err error) {
	var errs []string
	for i, x := range p.list {
		rest, ok := bytes.CutPrefix(data, []byte(x.text))
		if !ok {
			continue
		}
		plain, stale, err := x.open(rest, key)
		if err == nil {
			return plain, stale || i > 0, nil
		}
		if x.text != "" {
			errs = append(errs, err.Error())
		}
	}
	if len(errs) > 0 {
		return nil, false, errors.New(field.Aggregate(errs))
	}
	return nil, false, errors.New(p.none)
}

// identity stores values as they are.
type identity struct{}

func (identity) seal(data, _ []byte, _ uint64, _ io.Reader) ([]byte, error) { return data, nil }

func (identity) open(data, _ []byte) ([]byte, bool, error) {
	if bytes.HasPrefix(data, []byte("k8s:enc:")) {
		return nil, false, errors.New("identity transformer tried to read encrypted data")
	}
	return data, false, nil
}

var errShort = errors.New("the stored data was shorter than the required size")

// gcm is AES-GCM: nonce 12 │ ciphertext and tag.
type gcm struct{ cipher.AEAD }

func newGCM(secret []byte) (transformer, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return gcm{aead}, err
}

func (g gcm) seal(data, key []byte, _ uint64, random io.Reader) ([]byte, error) {
	nonce := make([]byte, g.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, err
	}
	return g.Seal(nonce, nonce, data, key), nil
}

func (g gcm) open(data, key []byte) ([]byte, bool, error) {
	n := g.NonceSize()
	if len(data) < n {
		return nil, false, errShort
	}
	plain, err := g.Open(nil, data[:n], data[n:], key)
	return plain, false, err
}

// cbc is AES-CBC with padding of PKCS #7: iv 16 │ ciphertext. The key in etcd does not authenticate it.
type cbc struct{ cipher.Block }

func newCBC(secret []byte) (transformer, error) {
	block, err := aes.NewCipher(secret)
	return cbc{block}, err
}

func (c cbc) seal(data, _ []byte, _ uint64, random io.Reader) ([]byte, error) {
	padding := aes.BlockSize - len(data)%aes.BlockSize
	out := make([]byte, aes.BlockSize, aes.BlockSize+len(data)+padding)
	if _, err := io.ReadFull(random, out); err != nil {
		return nil, err
	}
	out = append(append(out, data...), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(c.Block, out[:aes.BlockSize]).CryptBlocks(out[aes.BlockSize:], out[aes.BlockSize:])
	return out, nil
}

func (c cbc) open(data, _ []byte) ([]byte, bool, error) {
	if len(data) < aes.BlockSize {
		return nil, false, errShort
	}
	iv, rest := data[:aes.BlockSize], data[aes.BlockSize:]
	switch {
	case len(rest)%aes.BlockSize != 0:
		return nil, false, errors.New("the stored data is not a multiple of the block size")
	case len(rest) == 0:
		return nil, false, errors.New("invalid PKCS7 data (empty or not padded)")
	}
	plain := make([]byte, len(rest))
	cipher.NewCBCDecrypter(c.Block, iv).CryptBlocks(plain, rest)
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > len(plain) {
		return nil, false, errors.New("invalid PKCS7 data (empty or not padded)")
	}
	n := len(plain) - padding
	if !bytes.Equal(plain[n:], bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, false, errors.New("invalid padding on input")
	}
	return plain[:n], false, nil
}

// box is XSalsa20 and Poly1305: nonce 24 │ tag and ciphertext. The key in etcd does not authenticate it.
type box struct{ secret [32]byte }

func newBox(secret []byte) (transformer, error) {
	b := &box{}
	if copy(b.secret[:], secret) != len(b.secret) {
		return nil, fmt.Errorf("expected key size 32 for secretbox provider, got %v", len(secret))
	}
	return b, nil
}

const boxNonce = 24

func (b *box) seal(data, _ []byte, _ uint64, random io.Reader) ([]byte, error) {
	var nonce [boxNonce]byte
	if _, err := io.ReadFull(random, nonce[:]); err != nil {
		return nil, err
	}
	return secretbox.Seal(nonce[:], data, &nonce, &b.secret), nil
}

func (b *box) open(data, _ []byte) ([]byte, bool, error) {
	if len(data) < boxNonce+secretbox.Overhead {
		return nil, false, errShort
	}
	plain, ok := secretbox.Open(nil, data[boxNonce:], (*[boxNonce]byte)(data), &b.secret)
	if !ok {
		return nil, false, errors.New("output array was not large enough for encryption")
	}
	return plain, false, nil
}

// withKeys returns the transformer of a provider with several keys. family is the provider in the error for an unknown key.
func withKeys(c *KeysConfiguration, family string, make func(secret []byte) (transformer, error)) (transformer, error) {
	p := &prefixed{none: "no matching key was found for the provided " + family + " transformer"}
	for _, k := range c.Keys {
		secret, err := base64.StdEncoding.DecodeString(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("could not obtain secret for named key %s: %w", k.Name, err)
		}
		t, err := make(secret)
		if err != nil {
			return nil, fmt.Errorf("error while creating transformer for named key %s: %w", k.Name, err)
		}
		p.list = append(p.list, prefix{k.Name + ":", t})
	}
	return p, nil
}
