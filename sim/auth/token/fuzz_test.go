package token

import (
	"strings"
	"testing"
)

// FuzzCheck checks that no token makes Check panic, and that only a signed token has a holder.
func FuzzCheck(f *testing.F) {
	a, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	good := a.Sign(claims())
	parts := strings.Split(good, ".")
	f.Add(good)
	f.Add("bnVsbA." + parts[1] + "." + parts[2])
	f.Add(encode(mustJSON(map[string]any{"alg": "RS256", "crit": []string{"b64"}})) + "." + encode(mustJSON(map[string]any{"iss": legacyIssuer})) + ".AAAA")
	f.Add(encode(mustJSON(map[string]any{"kid": 5})) + "." + encode(mustJSON(map[string]any{"iss": DefaultIssuer, "aud": []any{nil}})) + ".")
	f.Fuzz(func(t *testing.T, text string) {
		h, _, err := a.Check(text, a.Audiences(), now, accounts)
		if h != nil && (err != nil || !strings.HasPrefix(text, parts[0]+"."+parts[1]+".")) {
			t.Errorf("%q is %s's, with the error %v", text, h.Name, err)
		}
	})
}
