// Package jsoniter stands in for github.com/json-iterator/go in the engine of the page: `make wasm` puts it in that
// module's place. It has what structured-merge-diff calls and nothing else, on encoding/json.
//
// The original holds a copy of Go's type system (reflect2), whose types have the methods of reflect.Type. They keep the
// linker from dropping methods that nobody calls: this package makes the engine with CEL about a third smaller.
//
//	Iterator: data ─ at ─▶ the rest       Stream: buf ─ Flush ─▶ out
//
// Texts of errors about malformed JSON are this package's own.
package jsoniter

// Config says how JSON is read and written. There is one way.
type Config struct{}

// ConfigCompatibleWithStandardLibrary reads and writes as encoding/json does: numbers are float64, the names of objects
// are sorted, HTML is escaped in values.
var ConfigCompatibleWithStandardLibrary = Config{}
