package apps

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
)

// goTypes are the structs of apps, batch and policy as the API server holds them in memory.
const goTypes = `
DeploymentStrategy: Type s, RollingUpdate *RollingUpdateDeployment
RollingUpdateDeployment: MaxUnavailable p, MaxSurge p
StatefulSetUpdateStrategy: Type s, RollingUpdate *RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy: Partition i, MaxUnavailable *p
DaemonSetUpdateStrategy: Type s, RollingUpdate *RollingUpdateDaemonSet
RollingUpdateDaemonSet: MaxUnavailable p, MaxSurge p
DeploymentSpec: Replicas i, Selector *LabelSelector, Template PodTemplateSpec, Strategy DeploymentStrategy, MinReadySeconds i, RevisionHistoryLimit *i, Paused b, ProgressDeadlineSeconds *i
ReplicaSetSpec: Replicas i, MinReadySeconds i, Selector *LabelSelector, Template PodTemplateSpec
StatefulSetSpec: Replicas i, Selector *LabelSelector, Template PodTemplateSpec, VolumeClaimTemplates []PersistentVolumeClaim, ServiceName s, PodManagementPolicy s, UpdateStrategy StatefulSetUpdateStrategy, RevisionHistoryLimit *i, MinReadySeconds i, PersistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy, Ordinals *StatefulSetOrdinals
StatefulSetPersistentVolumeClaimRetentionPolicy: WhenDeleted s, WhenScaled s
StatefulSetOrdinals: Start i
DaemonSetSpec: Selector *LabelSelector, Template PodTemplateSpec, UpdateStrategy DaemonSetUpdateStrategy, MinReadySeconds i, RevisionHistoryLimit *i
`

func init() { gotext.Define(goTypes) }
