package core

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func podKind() kind.Kind {
	labels := kind.SameLabels("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName")
	labels[""]["spec.host"] = "spec.nodeName"
	return kind.Kind{
		Storage: "pods",
		Gates: append(podspec.Gates("spec."), []kind.Gate{
			{Name: "CSIVolumeHealth", Fields: []string{"status.volumeHealth"}},
			{Name: "DynamicResourceAllocation", Fields: []string{"status.resourceClaimStatuses"}},
			{Name: "DRAExtendedResource", Fields: []string{"status.extendedResourceClaimStatus"}},
			{Name: "DRANodeAllocatableResources", Fields: []string{"status.nodeAllocatableResourceClaimStatuses"}},
			{Name: "ImageVolumeWithDigest", Fields: inStatuses("volumeMounts.*.volumeStatus")},
			{Name: "InPlacePodLevelResourcesVerticalScaling", Fields: []string{"status.allocatedResources", "status.resources"}},
			{Name: "PodLevelResourcesFixDefaulting", Otherwise: defaultResources},
			{Name: "ResourceHealthStatus", Fields: inStatuses("allocatedResourcesStatus")},
			{Name: "ResourceHealthStatusMessage", Fields: inStatuses("allocatedResourcesStatus.*.resources.*.message")},
		}...),
		Strategy: resource.Strategy{
			Quota: podQuota,
			Checks: resource.Checks{
				Update:       []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind},
				Subresources: map[string][]resource.Check{"ephemeralcontainers": {resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}, "resize": {resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			},
			ResetFields: map[string][]string{
				"status": {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"},
			},
			HasStatus: true, MakesStatus: true, ReturnDeletedObject: true, SpecChanged: podSpecChanged,
			PrepareForCreate: prepareNewPod, PrepareForUpdate: preparePod,
			Warn: warnPod, GracePeriod: podGracePeriod, Fields: podFields(), Index: "spec.nodeName",
			DefaultsLate: func(obj object.Object) bool { return obj.Has("spec", "resources") }, // LimitRanges affect the sum of the containers' resources
		},
		Validate: validatePod, ValidateStatus: validatePodStatus,
		Defaults: kind.EveryVersion(defaultPod),
		Connect:  map[string]resource.Connector{"binding": bindPod, "eviction": evictPod},
		Streams:  podStreams(),
		Labels:   labels,
		Unknown:  kind.UnsupportedLabel,
		Columns: []table.Column{
			table.Name(),
			table.Text("Ready", "The aggregate readiness state of this pod for accepting traffic."),
			table.Text("Status", "The aggregate status of the containers in this pod."),
			table.Text("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
			table.Age(),
			table.Doc("IP", table.DocCore+"PodStatus", "podIP").Wide(),
			table.Doc("Node", table.DocCore+"PodSpec", "nodeName").Wide(),
			table.Doc("Nominated Node", table.DocCore+"PodStatus", "nominatedNodeName").Wide(),
			table.Doc("Readiness Gates", table.DocCore+"PodSpec", "readinessGates").Wide(),
		},
		Row: podRow,
	}
}

// podGracePeriod returns the grace period of a deleted pod. A pod that does not run on a node is deleted immediately
// (Kubernetes documentation, "Pod Lifecycle").
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

// podFields returns the fields that field selectors support. status.podIPs is supported but has no value.
func podFields() resource.Fields {
	host := func(pod object.Object) string { return strconv.FormatBool(pod.True("spec", "hostNetwork")) }
	fields := resource.Fields{{Name: "spec.hostNetwork", Text: host}, {Name: "status.podIP", Text: podIP}}
	for _, path := range []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
		"status.nominatedNodeName", "status.phase"} {
		fields = append(fields, resource.FieldAt(path, object.Path(path)...))
	}
	return fields
}

func podIP(obj object.Object) string {
	if ips := obj.Objects("status", "podIPs"); len(ips) > 0 {
		return ips[0].String("ip")
	}
	return ""
}

// podSpecChanged reports whether the specs of two pods differ as Go structs, which is what the real server compares. For example,
// {} differs from a missing value if the field is a pointer.
func podSpecChanged(obj, old object.Object) bool {
	spec, before := obj.Map("spec"), old.Map("spec")
	return !object.Equal(spec, before) && !gotext.Same(gotext.PodSpec, spec, before) // most updates do not change it
}

func podTemplateKind() kind.Kind {
	template := field.Root("template")
	return kind.Kind{
		Storage: "podtemplates",
		Gates:   podspec.Gates("template.spec."),
		Strategy: resource.Strategy{
			ReturnDeletedObject: true,
			SpecChanged: func(obj, old object.Object) bool {
				return !gotext.Same(gotext.PodTemplateSpec, obj.At("template"), old.At("template"))
			},
			Warn: func(ctx *resource.Context, obj, old object.Object) {
				if old == nil || old.Generation() != obj.Generation() {
					podspec.WarnTemplate(ctx, obj.Map("template"), template)
				}
			},
		},
		Validate: func(ctx *resource.Context, at field.Cursor) { podspec.CheckTemplate(ctx, at.Child("template")) },
		Defaults: kind.EveryVersion(func(obj object.Object) { podspec.DefaultTemplate(kind.ObjectAt(obj, "template")) }),
		Columns: []table.Column{
			table.Name(),
			table.Text("Containers", "Names of each container in the template.").Cell(func(obj object.Object) any { return podspec.ContainersCell(obj, "name", "template") }),
			table.Text("Images", "Images referenced by each container in the template.").Cell(func(obj object.Object) any { return podspec.ContainersCell(obj, "image", "template") }),
			table.Text("Pod Labels", "The labels for the pod template.").Labels("template", "metadata", "labels"),
		},
	}
}
