package batch

import "github.com/kubesim/kubesim/sim/builtin/gotext"

// goTypes are structs of batch as the API server holds them in memory.
const goTypes = `
CronJobSpec: Schedule s, TimeZone *s, StartingDeadlineSeconds *i, ConcurrencyPolicy s, Suspend *b, JobTemplate JobTemplateSpec, SuccessfulJobsHistoryLimit *i, FailedJobsHistoryLimit *i
JobSpec: Parallelism *i, Completions *i, PodFailurePolicy *PodFailurePolicy, SuccessPolicy *SuccessPolicy, ActiveDeadlineSeconds *i, BackoffLimit *i, BackoffLimitPerIndex *i, MaxFailedIndexes *i, Selector *LabelSelector, ManualSelector *b, Template PodTemplateSpec, TTLSecondsAfterFinished *i, CompletionMode *s, Suspend *b, PodReplacementPolicy *s, ManagedBy *s
JobTemplateSpec: +ObjectMeta, Spec JobSpec
PodFailurePolicy: Rules []PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: ContainerName *s, Operator s, Values []i
PodFailurePolicyOnPodConditionsPattern: Type s, Status s
PodFailurePolicyRule: Action s, OnExitCodes *PodFailurePolicyOnExitCodesRequirement, OnPodConditions []PodFailurePolicyOnPodConditionsPattern
SuccessPolicy: Rules []SuccessPolicyRule
SuccessPolicyRule: SucceededIndexes *s, SucceededCount *i
UncountedTerminatedPods: Succeeded []s, Failed []s
`

func init() { gotext.Define(goTypes) }
