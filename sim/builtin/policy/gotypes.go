package policy

import "github.com/kubesim/kubesim/sim/builtin/gotext"

// goTypes are structs of policy as the API server holds them in memory.
const goTypes = `
PodDisruptionBudgetSpec: MinAvailable *p, Selector *LabelSelector, MaxUnavailable *p, UnhealthyPodEvictionPolicy *s
`

func init() { gotext.Define(goTypes) }
