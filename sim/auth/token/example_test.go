package token_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
)

// An Authority signs as its first issuer. If Options contain no key, it signs with a published one.
func ExampleNew() {
	authority, err := token.New(token.Options{Issuers: []string{"https://cluster.example.com"}})
	if err != nil {
		panic(err)
	}
	jwt := authority.Sign(map[string]any{"iss": authority.Audiences()[0], "sub": "system:serviceaccount:shop:operator"})
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(jwt, ".")[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(string(claims))
	// Output: {"iss":"https://cluster.example.com","sub":"system:serviceaccount:shop:operator"}
}

// objects implements token.Objects for one object.
type objects struct{ object.Object }

// Get implements token.Objects.
func (o objects) Get(_, namespace, name string) object.Object {
	if o.Namespace() != namespace || o.Name() != name {
		return nil
	}
	return o.Object
}

// A bootstrap token is valid if its Secret in kube-system says so.
func ExampleBootstrap() {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	secret := object.Object{"metadata": map[string]any{"namespace": "kube-system", "name": "bootstrap-token-abcdef"}, "type": token.BootstrapType,
		"data": map[string]any{"token-id": encode("abcdef"), "token-secret": encode("0123456789abcdef"), "usage-bootstrap-authentication": encode("true")}}
	holder := token.Bootstrap("abcdef.0123456789abcdef", time.Now(), objects{secret})
	fmt.Println(holder.Name, holder.Groups)
	// Output: system:bootstrap:abcdef [system:bootstrappers]
}

// A key of another program verifies the tokens that name its id.
func ExampleParseExternalKey() {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		panic(err)
	}
	key, err := token.ParseExternalKey("2026-11", der, false)
	fmt.Println(key.ID(), err)
	// Output: 2026-11 <nil>
}
