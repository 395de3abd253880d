package authorization

import "github.com/kubesim/kubesim/sim/builtin/gotext"

// goTypes are structs of authorization.k8s.io as the API server holds them in memory.
const goTypes = `
NonResourceAttributes: Path s, Verb s
`

func init() { gotext.Define(goTypes) }
