package codec

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/schema"
)

// CBORCodec converts between JSON and CBOR (RFC 8949). Package sim/cbor implements it. It is an interface so that programs without
// CBOR, such as the web page, do not link the library.
type CBORCodec interface {
	// ToJSON returns the JSON of an encoded map. goType is the Go type that an error names if the data are not a map.
	ToJSON(data []byte, goType string) ([]byte, error)
	// FromJSON returns the CBOR of an object, list or watch event whose kind is in set, or whose fields have no special encoding.
	FromJSON(text []byte, set *schema.Set) []byte
	// Diagnose returns well-formed data in diagnostic notation (RFC 8949, section 8), for errors.
	Diagnose(data []byte) string
}

// openCBOR is like open, for a body in CBOR. It converts the body to JSON.
func (b *body) openCBOR() error {
	text, err := b.cbor.ToJSON(b.data, "v1.TypeMeta")
	if err != nil {
		return fmt.Errorf("unable to determine group/version/kind: %w", err)
	}
	b.json = string(text)
	return nil
}
