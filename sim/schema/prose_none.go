//go:build js && !prose

package schema

import "embed"

// proseData is empty: the texts are larger than all other schema data, and every page would load them.
var proseData embed.FS
