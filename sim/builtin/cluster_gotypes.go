package builtin

// clusterGoTypes are more structs as the API server holds them in memory; see goTypes.
const clusterGoTypes = `
Taint: Key s, Value s, Effect s, TimeAdded *s
NodeAddress: Type s, Address s
ScopeSelector: MatchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: ScopeName s, Operator s, Values []s
ServicePort: Name s, Protocol s, AppProtocol *s, Port i, TargetPort p, NodePort i
EventSource: Component s, Host s
ServiceCIDRSpec: CIDRs=cidrs []s
ParentReference: Group s, Resource s, Namespace s, Name s
CSINodeDriver: Name s, NodeID s, TopologyKeys []s, Allocatable *VolumeNodeResources
VolumeNodeResources: Count *i
VolumeAttachmentSpec: Attacher s, Source VolumeAttachmentSource, NodeName s
VolumeAttachmentSource: PersistentVolumeName *s, InlineVolumeSpec *PersistentVolumeSpec
NonResourceAttributes: Path s, Verb s
RoleRef: APIGroup s, Kind s, Name s
`

func init() { goDefine(clusterGoTypes) }
