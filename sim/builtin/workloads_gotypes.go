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
PodFailurePolicy: Rules []PodFailurePolicyRule
PodFailurePolicyRule: Action s, OnExitCodes *PodFailurePolicyOnExitCodesRequirement, OnPodConditions []PodFailurePolicyOnPodConditionsPattern
PodFailurePolicyOnExitCodesRequirement: ContainerName *s, Operator s, Values []i
PodFailurePolicyOnPodConditionsPattern: Type s, Status s
SuccessPolicy: Rules []SuccessPolicyRule
SuccessPolicyRule: SucceededIndexes *s, SucceededCount *i
UncountedTerminatedPods: Succeeded []s, Failed []s
PodDisruptionBudgetSpec: MinAvailable *p, Selector *LabelSelector, MaxUnavailable *p, UnhealthyPodEvictionPolicy *s
`

func init() { goTypesText += workloadGoTypes }
