package auth_test

import (
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/auth"
)

// FuzzReadTokens checks that ReadTokens returns no token twice, and no empty token, for any input.
func FuzzReadTokens(f *testing.F) {
	for _, seed := range []string{"", "t,u,1", "t,u,1,\"a,b\"\nt,v,2", "t,u", "\"", ",u,1\n\nx,y,z,", "a,\"b\nc\",d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, _, err := auth.ReadTokens(strings.NewReader(text))
		if err != nil && all != nil {
			t.Fatalf("%q: an error, and tokens", text)
		}
		seen := map[string]bool{}
		for _, x := range all {
			if x.Token == "" || seen[x.Token] {
				t.Fatalf("%q: the token %q", text, x.Token)
			}
			seen[x.Token] = true
		}
	})
}
