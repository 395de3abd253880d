package storage

import "github.com/kubesim/kubesim/sim/builtin/gotext"

// goTypes are structs of storage.k8s.io as the API server holds them in memory.
const goTypes = `
CSINodeDriver: Name s, NodeID s, TopologyKeys []s, Allocatable *VolumeNodeResources
VolumeAttachmentSource: PersistentVolumeName *s, InlineVolumeSpec *PersistentVolumeSpec
VolumeAttachmentSpec: Attacher s, Source VolumeAttachmentSource, NodeName s
VolumeNodeResources: Count *i
`

func init() { gotext.Define(goTypes) }
