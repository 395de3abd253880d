//go:build !js || prose

package schema

import "embed"

//go:embed data/prose-*.bin
var proseData embed.FS
