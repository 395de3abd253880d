//go:build page

package boot

import "embed"

// data is empty in a page: worlds of scenarios begin Bare, and packed data cannot be made smaller.
var data embed.FS
