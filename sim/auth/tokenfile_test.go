package auth

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestReadTokens(t *testing.T) {
	is := is.New(t)
	all, notes, err := ReadTokens(strings.NewReader("a,ann,1,\"dev,ops\"\n,nobody,2\nb,bob,3\na,eve,4\n"))
	is.NoErr(err)
	is.Equal(all, []Token{{Token: "a", User: User{Name: "eve", UID: "4"}}, {Token: "b", User: User{Name: "bob", UID: "3"}}})
	is.Equal(notes, []string{"line 2 has no token", "line 4 has a token that an earlier line has: it is now eve's"})

	all, _, err = ReadTokens(strings.NewReader("a,ann,1,\"dev,ops\"\n"))
	is.NoErr(err)
	is.Equal(all[0].User.Groups, []string{"dev", "ops"})

	_, _, err = ReadTokens(strings.NewReader("a,ann,1\n\nb,bob\n"))
	is.Equal(err.Error(), "line 3: a token, the name of its user and his uid are needed, with commas between them: there are 2 fields")
	_, _, err = ReadTokens(strings.NewReader("a,ann,1\nb,b\"ob,2\n"))
	is.Equal(err.Error(), `parse error on line 2, column 4: bare " in non-quoted-field`)
}
