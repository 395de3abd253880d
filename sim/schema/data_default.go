//go:build js

package schema

import "embed"

// HasAll reports whether the program contains the API versions that servers do not serve by default.
const HasAll = false

// data contains the data of the default minor version. A web page loads the data of another one when it first creates an API server
// of that version.
//
//go:embed data/1.36.bin data/docs-1.36.bin
var data embed.FS
