package token_test

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/auth/token"
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
