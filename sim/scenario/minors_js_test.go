package scenario

import (
	"encoding/binary"
	"os"

	"github.com/kubesim/kubesim/sim/schema"
)

// Under js, only the default minor version is built in. A page fetches the others, and these tests read them from
// files.
func init() {
	for _, minor := range schema.Known() {
		if minor == schema.Default {
			continue
		}
		set, err := os.ReadFile("../schema/data/" + minor + ".bin")
		if err != nil {
			panic(err)
		}
		docs, err := os.ReadFile("../schema/data/docs-" + minor + ".bin")
		if err != nil {
			panic(err)
		}
		packed := append(binary.BigEndian.AppendUint32(nil, uint32(len(set))), set...)
		if err := schema.Register(minor, append(packed, docs...)); err != nil {
			panic(err)
		}
	}
}
