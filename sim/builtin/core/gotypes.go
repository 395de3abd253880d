package core

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
)

// goTypes are more structs as the API server holds them in memory.
const goTypes = `
ReplicationControllerSpec: Replicas *i, MinReadySeconds i, Selector {}s, Template *PodTemplateSpec
Taint: Key s, Value s, Effect s, TimeAdded *s
NodeAddress: Type s, Address s
ScopeSelector: MatchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: ScopeName s, Operator s, Values []s
ServicePort: Name s, Protocol s, AppProtocol *s, Port i, TargetPort p, NodePort i
EventSource: Component s, Host s
`

func init() { gotext.Define(goTypes) }
