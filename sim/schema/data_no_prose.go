//go:build js && (!page || nocel)

package schema

import "embed"

// proseData is empty: the published descriptions are larger than all other data, and every web page would load them.
var proseData embed.FS
