//go:build !js

package schema

import "embed"

// HasAll reports whether the program contains the API versions that servers do not serve by default (LoadAll). It is a constant, so that
// a web page does not contain the code of their kinds either.
const HasAll = true

//go:embed data/[0-9]*.bin data/docs-*.bin data/all-*.bin
var data embed.FS

//go:embed data/prose-*.bin
var proseData embed.FS
