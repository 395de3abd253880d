package builtin

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func podKinds() []kind {
	return []kind{podKind(), podTemplateKind(), replicationControllerKind(), {storage: "bindings", connectSelf: bindPod}}
}

func podKind() kind {
	labels := sameLabels("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName")
	labels[""]["spec.host"] = "spec.nodeName"
	return kind{
		storage: "pods",
		gates: append(podSpecGates("spec."), []gate{
			{name: "DRAExtendedResource", fields: []string{"status.extendedResourceClaimStatus"}},
			{name: "DRANodeAllocatableResources", fields: []string{"status.nodeAllocatableResourceClaimStatuses"}},
			{name: "ImageVolumeWithDigest", fields: inStatuses("volumeMounts.*.volumeStatus")},
			{name: "InPlacePodLevelResourcesVerticalScaling", fields: []string{"status.allocatedResources", "status.resources"}},
			{name: "ResourceHealthStatus", fields: inStatuses("allocatedResourcesStatus")},
			{name: "ResourceHealthStatusMessage", fields: inStatuses("allocatedResourcesStatus.*.resources.*.message")},
		}...),
		strategy: resource.Strategy{
			Checks: resource.Checks{
				Update:       []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind},
				Subresources: map[string][]resource.Check{"ephemeralcontainers": {resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}, "resize": {resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			},
			Resets: map[string]resource.Reset{
				"status": {Fields: []string{"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"}},
			},
			HasStatus: true, MakesStatus: true, ReturnsDeleted: true, SpecOnly: true, SpecChanged: podSpecChanged,
			PrepareForCreate: prepareNewPod, PrepareForUpdate: preparePod,
			Validate: validateNewPod, ValidateUpdate: validatePod, Warn: warnPod,
			GracePeriod: podGracePeriod, Fields: podFields,
		},
		defaults: everyVersion(defaultPod),
		connect:  map[string]resource.Connector{"binding": bindPod, "eviction": evictPod},
		labels:   labels,
		unknown:  unsupportedLabel,
		columns: []column{
			colName(),
			colText("Ready", "The aggregate readiness state of this pod for accepting traffic."),
			colText("Status", "The aggregate status of the containers in this pod."),
			colText("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
			colAge(),
			colDoc("IP", docCore+"PodStatus", "podIP").wide(),
			colDoc("Node", docCore+"PodSpec", "nodeName").wide(),
			colDoc("Nominated Node", docCore+"PodStatus", "nominatedNodeName").wide(),
			colDoc("Readiness Gates", docCore+"PodSpec", "readinessGates").wide(),
		},
		row: podRow,
	}
}

// podGracePeriod returns how long a deleted pod may go on: a pod that no node runs goes at once (Kubernetes
// documentation, "Pod Lifecycle").
func podGracePeriod(obj object.Object, requested *int64) int64 {
	period := obj.Int64("spec", "terminationGracePeriodSeconds")
	if requested != nil {
		period = *requested
	}
	phase := obj.String("status", "phase")
	switch {
	case obj.String("spec", "nodeName") == "", phase == "Failed", phase == "Succeeded":
		return 0
	case period < 0:
		return 1
	}
	return period
}

// podFields returns what field selectors can ask for. status.podIPs can be asked for but has no value.
func podFields(obj object.Object) map[string]string {
	spec, state := obj.At("spec"), obj.At("status")
	return map[string]string{
		"spec.hostNetwork":         strconv.FormatBool(spec.True("hostNetwork")),
		"spec.nodeName":            spec.String("nodeName"),
		"spec.restartPolicy":       spec.String("restartPolicy"),
		"spec.schedulerName":       spec.String("schedulerName"),
		"spec.serviceAccountName":  spec.String("serviceAccountName"),
		"status.nominatedNodeName": state.String("nominatedNodeName"),
		"status.phase":             state.String("phase"),
		"status.podIP":             podIP(obj),
	}
}

func podIP(obj object.Object) string {
	if ips := obj.Objects("status", "podIPs"); len(ips) > 0 {
		return ips[0].String("ip")
	}
	return ""
}

// podSpecChanged compares specs as the server does in memory: {} and absent differ where the Go field is a pointer.
func podSpecChanged(obj, old object.Object) bool {
	spec, before := obj.Map("spec"), old.Map("spec")
	return !object.Equal(spec, before) && !sameGo("PodSpec", spec, before) // most updates leave it as it is
}

func podTemplateKind() kind {
	template := field.Root("template")
	return kind{
		storage: "podtemplates",
		gates:   podSpecGates("template.spec."),
		strategy: resource.Strategy{
			ReturnsDeleted: true,
			SpecChanged: func(obj, old object.Object) bool {
				return !sameGo("PodTemplateSpec", obj.At("template"), old.At("template"))
			},
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validatePodTemplate(ctx, obj.Map("template"), template)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				return validatePodTemplateUpdate(ctx, obj.Map("template"), old.Map("template"), template)
			},
			Warn: func(ctx *resource.Context, obj, old object.Object) {
				if old == nil || old.Generation() != obj.Generation() {
					warnAll(ctx, podTemplateWarnings(ctx, obj.Map("template"), template))
				}
			},
		},
		defaults: everyVersion(func(obj object.Object) {
			obj.SetDefault(map[string]any{}, "template")
			defaultPodTemplate(obj.Map("template"))
		}),
		columns: []column{
			colName(),
			colText("Containers", "Names of each container in the template."),
			colText("Images", "Images referenced by each container in the template."),
			colText("Pod Labels", "The labels for the pod template."),
		},
		row: podTemplateRow,
	}
}
