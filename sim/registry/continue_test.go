package registry

import (
	"encoding/base64"
	"testing"

	"github.com/matryer/is"
)

func TestContinueToken(t *testing.T) {
	is := is.New(t)
	const prefix = "/registry/pods/"
	for _, cached := range []bool{true, false} {
		from, rev, err := decodeContinue(encodeContinue(prefix, prefix+"ns/a", 42, cached), prefix)
		is.NoErr(err)
		is.Equal(from, prefix+"ns/a\x00") // the first key after the last one
		is.Equal(rev, int64(42))
	}
}

func TestBadContinueTokens(t *testing.T) {
	for text, want := range map[string]string{
		`{"v":"meta.k8s.io/v1","rv":0,"start":"a"}`:    "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
		`{"v":"meta.k8s.io/v1","rv":1,"start":""}`:     "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
		`{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}`: "continue key is not valid: ../x",
		`{"v":"meta.k8s.io/v1","rv":1,"start":"a/"}`:   "continue key is not valid: a/",
		`{"v":"v9","rv":1,"start":"a"}`:                "continue key is not valid: server does not recognize this encoded version v9",
		`{"v":"meta.k8s.io/v1","rv":"1","start":"a"}`:  "continue key is not valid: json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
	} {
		is := is.New(t)
		_, _, err := decodeContinue(base64.RawURLEncoding.EncodeToString([]byte(text)), "/registry/pods/")
		is.True(err != nil)
		is.Equal(err.Error(), want) // the real server's message
	}
	is := is.New(t)
	_, _, err := decodeContinue("a b", "/p/")
	is.Equal(err.Error(), "continue key is not valid: illegal base64 data at input byte 1")
}

func FuzzContinueToken(f *testing.F) {
	f.Add("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0")
	f.Fuzz(func(t *testing.T, text string) {
		from, rev, err := decodeContinue(text, "/registry/pods/")
		if err == nil && (rev == 0 || len(from) <= len("/registry/pods/")) {
			t.Fatalf("%q gives %q at %d", text, from, rev)
		}
	})
}
