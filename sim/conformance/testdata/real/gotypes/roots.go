package main

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/dynamic-resource-allocation/structured/schedulerapi"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/authorization"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/certificates"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/discovery"
	"k8s.io/kubernetes/pkg/apis/flowcontrol"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
)

// roots are the structs that rules name, in memory and on the wire. To have another one, add it here and make generate.
var roots = []struct{ memory, wire any }{
	{core.ClusterTrustBundleProjection{}, corev1.ClusterTrustBundleProjection{}},
	{certificates.PodCertificateRequestSpec{}, certificatesv1beta1.PodCertificateRequestSpec{}},
	{core.Container{}, corev1.Container{}},
	{core.EphemeralContainer{}, corev1.EphemeralContainer{}},
	{core.EventSource{}, corev1.EventSource{}},
	{core.HostIP{}, corev1.HostIP{}},
	{core.NodeAddress{}, corev1.NodeAddress{}},
	{core.NodeAffinity{}, corev1.NodeAffinity{}},
	{core.NodeSelectorTerm{}, corev1.NodeSelectorTerm{}},
	{core.ObjectReference{}, corev1.ObjectReference{}},
	{core.PersistentVolumeClaim{}, corev1.PersistentVolumeClaim{}},
	{core.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
	{core.PersistentVolumeSource{}, corev1.PersistentVolumeSource{}},
	{core.PodIP{}, corev1.PodIP{}},
	{core.PodResourceClaim{}, corev1.PodResourceClaim{}},
	{core.PodSpec{}, corev1.PodSpec{}},
	{core.PodTemplateSpec{}, corev1.PodTemplateSpec{}},
	{core.ReplicationControllerSpec{}, corev1.ReplicationControllerSpec{}},
	{core.ResourceRequirements{}, corev1.ResourceRequirements{}},
	{core.ScopeSelector{}, corev1.ScopeSelector{}},
	{core.SeccompProfile{}, corev1.SeccompProfile{}},
	{core.SecurityContext{}, corev1.SecurityContext{}},
	{core.ServicePort{}, corev1.ServicePort{}},
	{core.Taint{}, corev1.Taint{}},
	{core.Toleration{}, corev1.Toleration{}},
	{core.VolumeNodeAffinity{}, corev1.VolumeNodeAffinity{}},
	{apps.DaemonSetSpec{}, appsv1.DaemonSetSpec{}},
	{apps.DaemonSetUpdateStrategy{}, appsv1.DaemonSetUpdateStrategy{}},
	{apps.DeploymentSpec{}, appsv1.DeploymentSpec{}},
	{apps.DeploymentStrategy{}, appsv1.DeploymentStrategy{}},
	{apps.ReplicaSetSpec{}, appsv1.ReplicaSetSpec{}},
	{apps.RollingUpdateStatefulSetStrategy{}, appsv1.RollingUpdateStatefulSetStrategy{}},
	{apps.StatefulSetSpec{}, appsv1.StatefulSetSpec{}},
	{apps.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{}},
	{batch.CronJobSpec{}, batchv1.CronJobSpec{}},
	{batch.JobSpec{}, batchv1.JobSpec{}},
	{batch.PodFailurePolicy{}, batchv1.PodFailurePolicy{}},
	{batch.SuccessPolicy{}, batchv1.SuccessPolicy{}},
	{batch.UncountedTerminatedPods{}, batchv1.UncountedTerminatedPods{}},
	{admissionregistration.AuditAnnotation{}, admissionregistrationv1.AuditAnnotation{}},
	{authorization.NonResourceAttributes{}, authorizationv1.NonResourceAttributes{}},
	{autoscaling.HorizontalPodAutoscalerBehavior{}, autoscalingv2.HorizontalPodAutoscalerBehavior{}},
	{discovery.Endpoint{}, discoveryv1.Endpoint{}},
	{flowcontrol.FlowDistinguisherMethod{}, flowcontrolv1.FlowDistinguisherMethod{}},
	{flowcontrol.FlowSchemaSpec{}, flowcontrolv1.FlowSchemaSpec{}},
	{flowcontrol.PriorityLevelConfigurationSpec{}, flowcontrolv1.PriorityLevelConfigurationSpec{}},
	{networking.ParentReference{}, networkingv1.ParentReference{}},
	{networking.ServiceCIDRSpec{}, networkingv1.ServiceCIDRSpec{}},
	{policy.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetSpec{}},
	{rbac.RoleRef{}, rbacv1.RoleRef{}},
	{resource.AllocatedDeviceStatus{}, resourcev1.AllocatedDeviceStatus{}},
	{resource.AllocationResult{}, resourcev1.AllocationResult{}},
	{resource.DeviceAttribute{}, resourcev1.DeviceAttribute{}},
	{resource.ResourceClaimConsumerReference{}, resourcev1.ResourceClaimConsumerReference{}},
	{resource.ResourceClaimSpec{}, resourcev1.ResourceClaimSpec{}},
	{resource.ResourceClaimTemplateSpec{}, resourcev1.ResourceClaimTemplateSpec{}},
	{resource.ResourcePoolStatusRequestStatus{}, resourcev1alpha3.ResourcePoolStatusRequestStatus{}},
	{schedulerapi.SharedDeviceID{}, resourcev1.AllocatedDeviceStatus{}},
	{storage.CSINodeDriver{}, storagev1.CSINodeDriver{}},
	{storage.VolumeAttachmentSpec{}, storagev1.VolumeAttachmentSpec{}},
}
