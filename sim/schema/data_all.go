//go:build !js

package schema

import "embed"

//go:embed data/[0-9]*.bin data/docs-*.bin
var data embed.FS

//go:embed data/prose-*.bin
var proseData embed.FS
