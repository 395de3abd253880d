//go:build js && !prose

package schema

import "embed"

// proseData is empty: the texts are several times as large as the rest of the schema data, and every page would load
// them.
var proseData embed.FS
