package codec

import (
	"testing"

	"github.com/matryer/is"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	names := func(text string) (names []string) {
		list, err := Manifest([]byte(text))
		is.NoErr(err)
		for _, obj := range list {
			names = append(names, obj.Kind()+" "+obj.Name())
		}
		return names
	}
	is.Equal(names(`{"kind":"A","metadata":{"name":"a"}}`), []string{"A a"}) // JSON
	is.Equal(names("---\nkind: A\n--- # the next\n\n---\n# nothing\n---\nkind: B\nnote: |\n  x\n  --- y\n"), []string{"A ", "B "})
	is.Equal(names("kind: AList\nitems: [{kind: A}, {kind: B, metadata: {name: b}}]"), []string{"A ", "B b"}) // a list
	is.Equal(names("kind: Menu\nitems: [{kind: A}]"), []string{"Menu "})                                      // no list
	for text, want := range map[string]string{
		"kind: A\n---\n[1]":           "document 2: it is not an object: object: ",
		"kind: AList\nitems: [{}, 1]": "document 1: item 1 of the AList is not an object",
		"a: b: c":                     "document 1: ",
	} {
		_, err := Manifest([]byte(text))
		is.True(err != nil && len(err.Error()) >= len(want))
		is.Equal(err.Error()[:len(want)], want)
	}
}
