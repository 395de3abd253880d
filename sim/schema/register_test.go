package schema

import (
	"testing"

	"github.com/matryer/is"
)

func TestKnown(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(Known(), Minors()) // except in a web page, all known minors are built in
}

// TestPack checks that the types that a web page reads from a pack are equal to the embedded types of other programs.
func TestPack(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	packed, err := Pack("1.34")
	is.NoErr(err)
	is.NoErr(Register("1.34", packed))
	s, err := parsePack("1.34", packed)
	is.NoErr(err)
	pod := s.Kind(GVK{Version: "v1", Kind: "Pod"})
	is.True(pod != nil && s.Doc(pod.Name, "spec") != "") // it contains types and descriptions
	is.True(Register("1.34", packed[:100]) != nil)       // cut off
	is.True(Register("1.12", packed) != nil)             // nothing is known of it
}
