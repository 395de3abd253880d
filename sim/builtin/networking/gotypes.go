package networking

import "github.com/kubesim/kubesim/sim/builtin/gotext"

// goTypes are structs of networking.k8s.io as the API server holds them in memory.
const goTypes = `
ParentReference: Group s, Resource s, Namespace s, Name s
ServiceCIDRSpec: CIDRs=cidrs []s
`

func init() { gotext.Define(goTypes) }
