// Package storage defines StorageClass, VolumeAttributesClass, VolumeAttachment and the kinds that CSI drivers publish.
package storage

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// Kinds returns the kinds of storage.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{storageClassKind(), attributesClassKind(), csiDriverKind(), csiNodeKind(), storageCapacityKind(), volumeAttachmentKind()}
}
