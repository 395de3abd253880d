package boot

import "embed"

//go:embed data/*.jsonl.gz
var data embed.FS
