package admission

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Annotations that mark a class as the default, and annotations that specify a class instead of a field.
const (
	defaultStorage      = "storageclass.kubernetes.io/is-default-class"
	defaultStorageBeta  = "storageclass.beta.kubernetes.io/is-default-class"
	defaultIngress      = "ingressclass.kubernetes.io/is-default-class"
	claimClassBeta      = "volume.beta.kubernetes.io/storage-class"
	ingressClassByOlder = "kubernetes.io/ingress.class"
)

// setStorageClass sets the default storage class of claims without a storage class.
func setStorageClass(a *Attributes) *status.Status {
	if a.Object.Has("spec", "storageClassName") || hasAnnotation(a.Object, claimClassBeta) {
		return nil
	}
	if name := defaultClass(a.Objects, storageClasses, defaultStorage, defaultStorageBeta); name != "" {
		a.Object.Set(name, "spec", "storageClassName")
	}
	return nil
}

// setIngressClass sets the default class of ingresses without a class.
func setIngressClass(a *Attributes) *status.Status {
	if a.Object.Has("spec", "ingressClassName") || hasAnnotation(a.Object, ingressClassByOlder) {
		return nil
	}
	if name := defaultClass(a.Objects, ingressClasses, defaultIngress); name != "" {
		a.Object.Set(name, "spec", "ingressClassName")
	}
	return nil
}

// defaultClass returns the name of the class that is marked as the default by one of the annotations, or "" if there is none.
// If there are several, it returns the newest. If several were created at the same time, it returns the alphabetically first
// of these.
func defaultClass(objects resource.Reader, storage string, marks ...string) string {
	name, created := "", ""
	for _, class := range objects.All(storage, "") {
		for _, mark := range marks {
			at := class.String("metadata", "creationTimestamp")
			if class.Annotations()[mark] == "true" && (name == "" || at > created) {
				name, created = class.Name(), at
			}
		}
	}
	return name
}

func hasAnnotation(obj object.Object, name string) bool {
	_, ok := obj.Annotations()[name]
	return ok
}
