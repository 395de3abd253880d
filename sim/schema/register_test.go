package schema

import (
	"slices"
	"testing"

	"github.com/matryer/is"
)

func TestKnown(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(Known(), Minors()) // outside of a page everything known is built in
}

// TestPack: a page reads the same types from a pack as other programs from what is built in.
func TestPack(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	packed, err := Pack("1.34")
	is.NoErr(err)
	is.NoErr(Register("1.34", packed))
	p := pack{}
	p.set, err = data.ReadFile("data/1.34.bin")
	is.NoErr(err)
	again, err := registered["1.34"].ReadFile("data/1.34.bin")
	is.NoErr(err)
	is.True(slices.Equal(again, p.set)) // the first file of the pack
	s, err := parseFrom(registered["1.34"], "1.34", again)
	is.NoErr(err)
	pod := s.Kind(GVK{Version: "v1", Kind: "Pod"})
	is.True(pod != nil && s.Doc(pod.Name, "spec") != "") // types and descriptions are both there
	is.True(Register("1.34", packed[:100]) != nil)       // cut off
	is.True(Register("1.12", packed) != nil)             // nothing is known of it
}
