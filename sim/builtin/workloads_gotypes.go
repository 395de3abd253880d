package builtin

// workloadGoTypes are the structs of apps, batch and policy as the API server holds them in memory; see goTypes.
const workloadGoTypes = `
DeploymentStrategy: Type s, RollingUpdate *RollingUpdateDeployment
RollingUpdateDeployment: MaxUnavailable p, MaxSurge p
StatefulSetUpdateStrategy: Type s, RollingUpdate *RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy: Partition i, MaxUnavailable *p
DaemonSetUpdateStrategy: Type s, RollingUpdate *RollingUpdateDaemonSet
RollingUpdateDaemonSet: MaxUnavailable p, MaxSurge p
PodTemplateSpec: +ObjectMeta, Spec PodSpec
DeploymentSpec: Replicas i, Selector *LabelSelector, Template PodTemplateSpec, Strategy DeploymentStrategy, MinReadySeconds i, RevisionHistoryLimit *i, Paused b, ProgressDeadlineSeconds *i
ReplicaSetSpec: Replicas i, MinReadySeconds i, Selector *LabelSelector, Template PodTemplateSpec
ReplicationControllerSpec: Replicas *i, MinReadySeconds i, Selector {}s, Template *PodTemplateSpec
StatefulSetSpec: Replicas i, Selector *LabelSelector, Template PodTemplateSpec, VolumeClaimTemplates []PersistentVolumeClaim, ServiceName s, PodManagementPolicy s, UpdateStrategy StatefulSetUpdateStrategy, RevisionHistoryLimit *i, MinReadySeconds i, PersistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy, Ordinals *StatefulSetOrdinals
StatefulSetPersistentVolumeClaimRetentionPolicy: WhenDeleted s, WhenScaled s
StatefulSetOrdinals: Start i
PersistentVolumeClaim: +ObjectMeta, Spec PersistentVolumeClaimSpec, Status PersistentVolumeClaimStatus
PersistentVolumeClaimStatus: Phase s, AccessModes []s, Capacity {}q, Conditions []PersistentVolumeClaimCondition, AllocatedResources {}q, AllocatedResourceStatuses {}s, CurrentVolumeAttributesClassName *s, ModifyVolumeStatus *ModifyVolumeStatus
PersistentVolumeClaimCondition: Type s, Status s, LastProbeTime *s, LastTransitionTime *s, Reason s, Message s
ModifyVolumeStatus: TargetVolumeAttributesClassName s, Status s
DaemonSetSpec: Selector *LabelSelector, Template PodTemplateSpec, UpdateStrategy DaemonSetUpdateStrategy, MinReadySeconds i, RevisionHistoryLimit *i
JobSpec: Parallelism *i, Completions *i, PodFailurePolicy *PodFailurePolicy, SuccessPolicy *SuccessPolicy, ActiveDeadlineSeconds *i, BackoffLimit *i, BackoffLimitPerIndex *i, MaxFailedIndexes *i, Selector *LabelSelector, ManualSelector *b, Template PodTemplateSpec, TTLSecondsAfterFinished *i, CompletionMode *s, Suspend *b, PodReplacementPolicy *s, ManagedBy *s
JobTemplateSpec: +ObjectMeta, Spec JobSpec
CronJobSpec: Schedule s, TimeZone *s, StartingDeadlineSeconds *i, ConcurrencyPolicy s, Suspend *b, JobTemplate JobTemplateSpec, SuccessfulJobsHistoryLimit *i, FailedJobsHistoryLimit *i
PodFailurePolicy: Rules []PodFailurePolicyRule
PodFailurePolicyRule: Action s, OnExitCodes *PodFailurePolicyOnExitCodesRequirement, OnPodConditions []PodFailurePolicyOnPodConditionsPattern
PodFailurePolicyOnExitCodesRequirement: ContainerName *s, Operator s, Values []i
PodFailurePolicyOnPodConditionsPattern: Type s, Status s
SuccessPolicy: Rules []SuccessPolicyRule
SuccessPolicyRule: SucceededIndexes *s, SucceededCount *i
UncountedTerminatedPods: Succeeded []s, Failed []s
PodDisruptionBudgetSpec: MinAvailable *p, Selector *LabelSelector, MaxUnavailable *p, UnhealthyPodEvictionPolicy *s
`

func init() { goDefine(workloadGoTypes) }
