//go:build !js

package schema

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestDescription(t *testing.T) {
	is := is.New(t)
	s := load(t)
	is.Equal(s.Description(coreV1+"Nope", ""), "")    // no such type
	is.Equal(s.Description(coreV1+"Pod", "nope"), "") // no such field
	is.Equal(s.Description(metaV1+"ObjectMeta", ""), "ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create.")
	is.True(strings.HasPrefix(s.Description(coreV1+"Pod", "kind"), "Kind is a string value")) // of an inlined struct
	is.True(strings.HasPrefix(s.Description(coreV1+"Volume", "hostPath"), "hostPath represents"))
	is.True(s.Description(metaV1+"ListOptions", "limit") != "") // a parameter
	is.True(strings.HasSuffix(s.Description(coreV1+"ContainerPort", "protocol"),
		"\n\nPossible enum values:\n - `\"SCTP\"` is the SCTP protocol.\n - `\"TCP\"` is the TCP protocol.\n - `\"UDP\"` is the UDP protocol."))
	is.Equal(s.Named(coreV1+"PersistentVolumeSpec").Field("accessModes").Enum,
		[]string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}) // of its elements
}

// TestEveryDefinitionIsDescribed searches for published definitions without a description.
func TestEveryDefinitionIsDescribed(t *testing.T) {
	is := is.New(t)
	s := load(t)
	var silent []string
	for _, name := range s.Names() {
		if s.Description(name, "") == "" {
			silent = append(silent, name)
		}
	}
	is.Equal(len(silent), 0) // as in the real server's documents
}

func TestProseSize(t *testing.T) {
	is := is.New(t)
	b, err := proseData.ReadFile("data/prose-1.36.bin")
	is.NoErr(err)
	is.True(len(b) <= 250<<10) // small enough for every program except web pages
}
