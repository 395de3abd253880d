//go:build js && page && !nocel

package schema

import "embed"

// proseData contains the published descriptions of the default minor version. The larger engine of the web page has them, because it is
// loaded only when a line needs it.
//
//go:embed data/prose-1.36.bin
var proseData embed.FS
