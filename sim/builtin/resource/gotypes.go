package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
)

// goTypes are the structs of resource.k8s.io as the API server holds them in memory.
const goTypes = `
ResourceClaimSpec: Devices DeviceClaim
ResourceClaimTemplateSpec: +ObjectMeta, Spec ResourceClaimSpec
DeviceClaim: Requests []DeviceRequest, Constraints []DeviceConstraint, Config []DeviceClaimConfiguration
DeviceRequest: Name s, Exactly *ExactDeviceRequest, FirstAvailable []DeviceSubRequest
ExactDeviceRequest: DeviceClassName s, Selectors []DeviceSelector, AllocationMode s, Count i, AdminAccess *b, Tolerations []DeviceToleration, Capacity *CapacityRequirements
DeviceSubRequest: Name s, DeviceClassName s, Selectors []DeviceSelector, AllocationMode s, Count i, Tolerations []DeviceToleration, Capacity *CapacityRequirements
CapacityRequirements: Requests {}q
DeviceSelector: CEL *CELDeviceSelector
CELDeviceSelector: Expression s
DeviceToleration: Key s, Operator s, Value s, Effect s, TolerationSeconds *i
DeviceConstraint: Requests []s, MatchAttribute *s, DistinctAttribute *s
DeviceClaimConfiguration: Requests []s, +DeviceConfiguration
DeviceConfiguration: Opaque *OpaqueDeviceConfiguration
OpaqueDeviceConfiguration: Driver s, Parameters j
AllocationResult: Devices DeviceAllocationResult, NodeSelector *NodeSelector, AllocationTimestamp *s
DeviceAllocationResult: Results []DeviceRequestAllocationResult, Config []DeviceAllocationConfiguration
DeviceRequestAllocationResult: Request s, Driver s, Pool s, Device s, AdminAccess *b, Tolerations []DeviceToleration, BindingConditions []s, BindingFailureConditions []s, ShareID *s, ConsumedCapacity {}q
DeviceAllocationConfiguration: Source s, Requests []s, +DeviceConfiguration
DeviceAttribute: IntValue=int *i, BoolValue=bool *b, StringValue=string *s, VersionValue=version *s, IntValues=ints []i, BoolValues=bools []b, StringValues=strings []s, VersionValues=versions []s
ResourceClaimConsumerReference: APIGroup s, Resource s, Name s, UID s
AllocatedDeviceStatus: Driver s, Pool s, Device s, ShareID *s, Conditions []j, Data *j, NetworkData *NetworkDeviceData
NetworkDeviceData: InterfaceName s, IPs=ips []s, HardwareAddress s
SharedDeviceID: Driver s, Pool s, Device s, ShareID s
`

func init() { gotext.Define(goTypes) }
