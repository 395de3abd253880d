package rbac

import "github.com/kubesim/kubesim/sim/builtin/gotext"

// goTypes are structs of rbac.authorization.k8s.io as the API server holds them in memory.
const goTypes = `
RoleRef: APIGroup s, Kind s, Name s
`

func init() { gotext.Define(goTypes) }
