//go:build !page

package auth

import (
	"cmp"

	"github.com/kubesim/kubesim/sim/object"
)

// reference is an object to which a pod or a volume refers.
type reference struct{ storage, namespace, name string }

// The storage names of the objects to which pods refer.
const (
	podsKey     = "pods"
	secretsKey  = "secrets"
	configsKey  = "configmaps"
	claimsKey   = "persistentvolumeclaims"
	volumesKey  = "persistentvolumes"
	accountsKey = "serviceaccounts"
	devicesKey  = "resourceclaims.resource.k8s.io"
)

// assigned is the node of an object, and boundVolume the volume of a claim. Their types identify them in an item's memory.
type (
	assigned    string
	boundVolume string
)

func nodeOf(obj object.Object) assigned { return assigned(obj.String("spec", "nodeName")) }
func volumeOf(claim object.Object) boundVolume {
	return boundVolume(claim.String("spec", "volumeName"))
}

// podReferences returns the objects to which a pod refers. A mirror pod grants no rights, because kubelets create it.
func podReferences(pod object.Object) (all []reference) {
	if _, mirror := pod.Annotations()["kubernetes.io/config.mirror"]; mirror {
		return nil
	}
	add := func(storage, name string) {
		if name != "" {
			all = append(all, reference{storage, pod.Namespace(), name})
		}
	}
	add(accountsKey, pod.String("spec", "serviceAccountName"))
	for _, s := range pod.Objects("spec", "imagePullSecrets") {
		add(secretsKey, s.String("name"))
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range pod.Objects("spec", list) {
			for _, from := range c.Objects("envFrom") {
				add(secretsKey, from.String("secretRef", "name"))
				add(configsKey, from.String("configMapRef", "name"))
			}
			for _, env := range c.Objects("env") {
				add(secretsKey, env.String("valueFrom", "secretKeyRef", "name"))
				add(configsKey, env.String("valueFrom", "configMapKeyRef", "name"))
			}
		}
	}
	for _, v := range pod.Objects("spec", "volumes") {
		addVolume(pod, v, add)
	}
	addDevices(pod, add)
	return all
}

// addVolume adds the objects to which a volume of a pod refers.
func addVolume(pod, v object.Object, add func(storage, name string)) {
	add(secretsKey, v.String("secret", "secretName"))
	add(secretsKey, v.String("azureFile", "secretName"))
	add(secretsKey, v.String("csi", "nodePublishSecretRef", "name"))
	for _, source := range []string{"cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"} {
		add(secretsKey, v.String(source, "secretRef", "name"))
	}
	add(configsKey, v.String("configMap", "name"))
	for _, source := range v.Objects("projected", "sources") {
		add(secretsKey, source.String("secret", "name"))
		add(configsKey, source.String("configMap", "name"))
	}
	add(claimsKey, v.String("persistentVolumeClaim", "claimName"))
	if v.Map("ephemeral") != nil {
		add(claimsKey, pod.Name()+"-"+v.String("name"))
	}
}

// addDevices adds the resource claims of a pod.
func addDevices(pod object.Object, add func(storage, name string)) {
	for _, claim := range pod.Objects("spec", "resourceClaims") {
		add(devicesKey, claim.String("resourceClaimName"))
	}
	for _, claim := range pod.Objects("status", "resourceClaimStatuses") {
		add(devicesKey, claim.String("resourceClaimName"))
	}
	add(devicesKey, pod.String("status", "extendedResourceClaimStatus", "resourceClaimName"))
}

// volumeReferences are the claim to which a volume is bound, and the secrets that kubelets need to mount it.
type volumeReferences struct {
	claim   reference
	secrets []reference
}

func volumeReferencesOf(volume object.Object) (of volumeReferences) {
	spec := volume.At("spec")
	namespace := spec.String("claimRef", "namespace")
	of.claim = reference{claimsKey, namespace, spec.String("claimRef", "name")}
	add := func(namespace, name string) {
		if name != "" {
			of.secrets = append(of.secrets, reference{secretsKey, namespace, name})
		}
	}
	add(cmp.Or(spec.String("azureFile", "secretNamespace"), namespace), spec.String("azureFile", "secretName"))
	for _, source := range []string{"cephfs", "flexVolume", "rbd", "scaleIO", "iscsi"} {
		add(cmp.Or(spec.String(source, "secretRef", "namespace"), namespace), spec.String(source, "secretRef", "name"))
	}
	for _, source := range []string{"cinder", "storageos"} {
		add(spec.String(source, "secretRef", "namespace"), spec.String(source, "secretRef", "name"))
	}
	for _, ref := range []string{"nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"} {
		add(spec.String("csi", ref, "namespace"), spec.String("csi", ref, "name"))
	}
	return of
}
