package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// stored contains the JSON of objects by storage name and name.
type stored map[string]string

func (s stored) Get(storage, _, name string) object.Object {
	text, ok := s[storage+"/"+name]
	if !ok {
		return nil
	}
	obj, err := object.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return obj
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func claims() map[string]any {
	return map[string]any{"sub": "system:serviceaccount:ns:sa", "aud": []string{DefaultIssuer}, "iat": now.Unix(), "nbf": now.Unix(),
		"exp": now.Unix() + 600, "jti": "id", "kubernetes.io": map[string]any{"namespace": "ns",
			"serviceaccount": map[string]any{"name": "sa", "uid": "u"}}}
}

func made(t *testing.T, o Options) *Authority {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// verdict returns the name of a token's holder and the error text. Either is "" if there is none.
func verdict(a *Authority, text string, objects Objects) (name, wrong string) {
	h, _, err := a.Check(text, a.Audiences(), now, objects)
	if err != nil {
		return "", err.Error()
	}
	if h == nil {
		return "", ""
	}
	return h.Name, ""
}

var accounts = stored{"serviceaccounts/sa": `{"metadata":{"name":"sa","namespace":"ns","uid":"u"}}`}

// The built-in key's own RSA implementation produces the same signatures as Go's.
func TestTestKey(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	k := builtin()
	public := &rsa.PublicKey{N: k.n, E: 65537}
	private := &rsa.PrivateKey{PublicKey: *public, D: k.d, Primes: []*big.Int{k.p, k.q}}
	is.NoErr(private.Validate())
	is.Equal(k.n.BitLen(), 2048)
	der, err := x509.MarshalPKIXPublicKey(public)
	is.NoErr(err)
	sum := sha256.Sum256(der)
	is.Equal(k.id(), encode(sum[:])) // the name that kube-apiserver would give it

	text := []byte("some text")
	digest := sha256.Sum256(text)
	want, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, digest[:])
	is.NoErr(err)
	is.Equal(k.sign(text), want)
	is.True(k.verify("RS256", text, want))
	is.True(!k.verify("RS384", text, want))
	is.True(!k.verify("RS256", []byte("another text"), want))
	is.True(!k.verify("RS256", text, want[1:]))
	is.True(!k.verify("RS256", text, new(big.Int).Add(new(big.Int).SetBytes(want), k.n).FillBytes(make([]byte, 257))[1:]))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	a := made(t, Options{})
	edit := func(change func(claims, about map[string]any)) string {
		c := claims()
		change(c, c["kubernetes.io"].(map[string]any))
		return a.Sign(c)
	}
	bound := func(claim string, ref map[string]any) string {
		return edit(func(_, about map[string]any) { about[claim] = ref })
	}
	unix := now.Unix()
	objects := stored{"serviceaccounts/sa": accounts["serviceaccounts/sa"],
		"pods/p":               `{"metadata":{"name":"p","uid":"pu"}}`,
		"pods/late":            `{"metadata":{"name":"late","uid":"lu","deletionTimestamp":"2026-01-02T03:03:04Z"}}`,
		"pods/going":           `{"metadata":{"name":"going","uid":"gu","deletionTimestamp":"2026-01-02T03:03:05Z"}}`,
		"serviceaccounts/late": `{"metadata":{"name":"late","namespace":"ns","uid":"lu","deletionTimestamp":"2026-01-02T03:03:04Z"}}`}
	good := a.Sign(claims())
	parts := strings.Split(good, ".")
	for _, tc := range []struct{ name, text, holder, wrong string }{
		{"good", good, "system:serviceaccount:ns:sa", ""},
		{"one audience", edit(func(c, _ map[string]any) { c["aud"] = DefaultIssuer }), "system:serviceaccount:ns:sa", ""},
		{"no audience", edit(func(c, _ map[string]any) { delete(c, "aud") }), "system:serviceaccount:ns:sa", ""},
		{"no times", edit(func(c, _ map[string]any) { delete(c, "exp"); delete(c, "nbf"); delete(c, "iat") }), "system:serviceaccount:ns:sa", ""},
		{"pod", bound("pod", map[string]any{"name": "p", "uid": "pu"}), "system:serviceaccount:ns:sa", ""},
		{"pod on its way out", bound("pod", map[string]any{"name": "going", "uid": "gu"}), "system:serviceaccount:ns:sa", ""},

		{"no token", "text", "", ""},
		{"no JSON", parts[0] + ".e30x." + parts[2], "", ""},
		{"another issuer", made(t, Options{Issuers: []string{"https://other"}}).Sign(claims()), "", ""},
		{"changed", parts[0] + "." + encode(mustJSON(map[string]any{"iss": DefaultIssuer})) + "." + parts[2], "", errSignature.Error()},
		{"cut", good[:len(good)-4], "", errSignature.Error()},
		{"another key", encode(mustJSON(map[string]any{"alg": "RS256", "kid": "x"})) + "." + parts[1] + "." + parts[2], "", errNoKey.Error()},
		{"audience", edit(func(c, _ map[string]any) { c["aud"] = []string{"x"} }), "",
			`token audiences ["x"] is invalid for the target audiences ["https://kubernetes.default.svc"]`},
		{"audience of another type", edit(func(c, _ map[string]any) { c["aud"] = 1 }), "",
			errAudience.Error()},
		{"audience of none", edit(func(c, _ map[string]any) { c["aud"] = nil }), "", errAudience.Error()},
		{"subject of another type", edit(func(c, _ map[string]any) { c["sub"] = 3 }), "", "json: cannot unmarshal number into Go value of type string"},
		{"claims of another type", edit(func(c, _ map[string]any) { c["kubernetes.io"] = "x" }), "",
			"json: cannot unmarshal string into Go value of type serviceaccount.kubernetes"},
		{"pod of another type", edit(func(_, about map[string]any) { about["pod"] = []any{} }), "",
			"json: cannot unmarshal array into Go value of type serviceaccount.ref"},
		{"uid of another type", edit(func(_, about map[string]any) { about["pod"] = map[string]any{"uid": true} }), "",
			"json: cannot unmarshal bool into Go value of type string"},
		{"date of another type", edit(func(c, _ map[string]any) { c["exp"] = "soon" }), "", errDate.Error()},
		{"no claims", edit(func(c, _ map[string]any) { c["kubernetes.io"] = nil }), "", "resource name may not be empty"},
		{"no namespace", edit(func(_, about map[string]any) { delete(about, "namespace") }), "", "the server could not find the requested resource"},
		{"no header", "bnVsbA." + parts[1] + "." + parts[2], "", errSignature.Error()},
		{"expired", edit(func(c, _ map[string]any) { c["exp"] = unix - 61 }), "", errExpired.Error()},
		{"early", edit(func(c, _ map[string]any) { c["nbf"] = unix + 61 }), "", errEarly.Error()},
		{"issued in the future", edit(func(c, _ map[string]any) { c["iat"] = unix + 61 }), "", errFuture.Error()},
		{"no account", edit(func(_, about map[string]any) { about["serviceaccount"] = map[string]any{"name": "x"} }), "", `serviceaccounts "x" not found`},
		{"another account", edit(func(_, about map[string]any) { about["serviceaccount"] = map[string]any{"name": "sa", "uid": "v"} }), "",
			"service account UID (u) does not match claim (v)"},
		{"deleted account", edit(func(_, about map[string]any) { about["serviceaccount"] = map[string]any{"name": "late", "uid": "lu"} }), "",
			"service account ns/late has been deleted"},
		{"no pod", bound("pod", map[string]any{"name": "x"}), "", errInvalidated.Error()},
		{"another pod", bound("pod", map[string]any{"name": "p", "uid": "x"}), "", "pod UID (pu) does not match service account pod ref claim (x)"},
		{"deleted pod", bound("pod", map[string]any{"name": "late", "uid": "lu"}), "", errInvalidated.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			holder, wrong := verdict(a, tc.text, objects)
			is.Equal(holder, tc.holder)
			is.Equal(wrong, tc.wrong)
		})
	}
}

// keyFile returns the private and the public key in PEM.
func keyFile(t *testing.T, key crypto.Signer) (private, public []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub})
}

func newECDSA(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Tokens can be signed with any key and its algorithm. A signature is always the same, and is valid if the public key is known.
func TestSigningKeys(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		algorithm string
		key       crypto.Signer
		published string
	}{
		{"RS256", rsaKey, `"kty":"RSA"`},
		{"ES256", newECDSA(t, elliptic.P256()), `"crv":"P-256"`},
		{"ES384", newECDSA(t, elliptic.P384()), `"crv":"P-384"`},
		{"ES512", newECDSA(t, elliptic.P521()), `"crv":"P-521"`},
	} {
		t.Run(tc.algorithm, func(t *testing.T) {
			is := is.New(t)
			private, public := keyFile(t, tc.key)
			a := made(t, Options{SigningKey: private})
			text := a.Sign(claims())
			is.Equal(a.Sign(claims()), text) // the same claims, the same bytes
			header, _ := base64.RawURLEncoding.DecodeString(strings.Split(text, ".")[0])
			is.True(strings.HasPrefix(string(header), `{"alg":"`+tc.algorithm+`","kid":"`))
			name, wrong := verdict(a, text, accounts)
			is.Equal(name+wrong, "system:serviceaccount:ns:sa")
			is.True(strings.Contains(string(a.KeySet()), tc.published))
			document, ok := a.OpenID("h:1")
			is.True(ok)
			is.True(strings.HasSuffix(string(document), `"id_token_signing_alg_values_supported":["`+tc.algorithm+`"]}`))

			other := made(t, Options{Keys: [][]byte{public}})
			name, wrong = verdict(other, text, accounts)
			is.Equal(name+wrong, "system:serviceaccount:ns:sa")
			name, wrong = verdict(other, made(t, Options{}).Sign(claims()), accounts)
			is.Equal(name+wrong, "system:serviceaccount:ns:sa") // tokens that it has signed itself are valid, too
			_, wrong = verdict(made(t, Options{}), text, accounts)
			is.Equal(wrong, errNoKey.Error())
			_, wrong = verdict(made(t, Options{SigningKey: private, Keys: [][]byte{publicOf(t)}}), text, accounts)
			is.Equal(wrong, errNoKey.Error()) // a signing key is not known by itself when keys are given
		})
	}
}

func publicOf(t *testing.T) []byte {
	_, public := keyFile(t, newECDSA(t, elliptic.P256()))
	return public
}

// Tokens signed by others may use any algorithm of RFC 7518 that fits the type of the key, and need not name the key.
func TestAlgorithms(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curved := newECDSA(t, elliptic.P256())
	_, first := keyFile(t, rsaKey)
	_, second := keyFile(t, curved)
	a := made(t, Options{Keys: [][]byte{append(first, second...)}}) // several in one file
	body := claims()
	body["iss"] = DefaultIssuer
	for _, algorithm := range []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "HS256", "none"} {
		t.Run(algorithm, func(t *testing.T) {
			is := is.New(t)
			signed := encode(mustJSON(map[string]any{"alg": algorithm})) + "." + encode(mustJSON(body))
			s := signature(t, rsaKey, curved, algorithm, []byte(signed))
			name, wrong := verdict(a, signed+"."+encode(s), accounts)
			if algorithm == "HS256" || algorithm == "none" || algorithm == "ES384" { // of 256 bits, where 384 are wanted
				is.Equal(wrong, errSignature.Error())
				return
			}
			is.Equal(name+wrong, "system:serviceaccount:ns:sa")
		})
	}
}

// signature signs a text with the key for the algorithm.
func signature(t *testing.T, rsaKey *rsa.PrivateKey, curved *ecdsa.PrivateKey, algorithm string, text []byte) (out []byte) {
	t.Helper()
	hash := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[strings.TrimLeft(algorithm, "RPESH")]
	var sum []byte
	switch hash {
	case crypto.SHA384:
		s := sha512.Sum384(text)
		sum = s[:]
	case crypto.SHA512:
		s := sha512.Sum512(text)
		sum = s[:]
	default:
		s := sha256.Sum256(text)
		sum = s[:]
	}
	var err error
	switch algorithm[0] {
	case 'R':
		out, err = rsa.SignPKCS1v15(rand.Reader, rsaKey, hash, sum)
	case 'P':
		out, err = rsa.SignPSS(rand.Reader, rsaKey, hash, sum, nil)
	case 'E':
		out, err = curved.Sign(rand.Reader, sum, hash)
		if err == nil {
			var numbers struct{ R, S *big.Int }
			_, err = asn1.Unmarshal(out, &numbers)
			out = append(numbers.R.FillBytes(make([]byte, 32)), numbers.S.FillBytes(make([]byte, 32))...)
		}
	default:
		return sum
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOptions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var err error
	curve, _ := keyFile(t, newECDSA(t, elliptic.P224()))
	eight, _ := keyFile(t, newECDSA(t, elliptic.P256()))
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{Issuers: []string{"a", "a"}}, `service-account-issuer "a" is already specified`},
		{Options{Issuers: []string{""}}, "service-account-issuer should not be an empty string"},
		{Options{Issuers: []string{"http://%zz"}}, `service-account-issuer "http://%zz" contained a ':' but was not a valid URL: parse "http://%zz": invalid URL escape "%zz"`},
		{Options{MaxExpiration: time.Minute}, "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"},
		{Options{JWKSURI: "http://x"}, "service-account-jwks-uri requires https scheme, parsed as: http://x"},
		{Options{SigningKey: []byte("x")}, "failed to parse service-account-issuer-key-file: data does not contain a valid RSA or ECDSA private key"},
		{Options{SigningKey: curve}, "failed to parse service-account-issuer-key-file: unknown private key curve, must be 256, 384, or 521"},
		{Options{Keys: [][]byte{[]byte("x")}}, "error reading public key file: data does not contain any valid RSA or ECDSA public keys"},
		{Options{Keys: [][]byte{eight}}, "error reading public key file: data does not contain any valid RSA or ECDSA public keys"}, // an ECDSA key in PKCS #8
	} {
		_, err = New(tc.o)
		is.True(err != nil)
		is.Equal(err.Error(), tc.want)
	}

	a := made(t, Options{Issuers: []string{"https://a", "b"}, JWKSURI: "https://k"})
	document, ok := a.OpenID("h:1")
	is.True(ok)
	var published map[string]any
	is.NoErr(json.Unmarshal(document, &published))
	is.Equal(published["issuer"], "https://a")
	is.Equal(published["jwks_uri"], "https://k")
	is.Equal(a.Audiences(), []string{"https://a", "b"})
	name, wrong := verdict(a, made(t, Options{Issuers: []string{"b"}, Audiences: []string{DefaultIssuer}}).Sign(claims()), accounts)
	is.Equal(name, "")
	is.Equal(wrong, `token audiences ["https://kubernetes.default.svc"] is invalid for the target audiences ["https://a" "b"]`) // b is accepted
	_, ok = made(t, Options{Issuers: []string{"b"}}).OpenID("h:1")
	is.True(!ok) // an issuer that is no URL has no configuration
}
