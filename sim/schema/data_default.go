//go:build js

package schema

import "embed"

// data is that of Default: a page loads the others when an API server of such a version is wanted.
//
//go:embed data/1.36.bin data/docs-1.36.bin
var data embed.FS

// proseData is empty: the published descriptions are larger than all other data, and every web page would load them.
var proseData embed.FS
