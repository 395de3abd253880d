//go:build since37

package main

import (
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
)

func init() {
	registrations = append(registrations, storagemigrationv1.AddToScheme)
	offRegistrations = append(offRegistrations, schedulingv1alpha3.AddToScheme, schedulingv1beta1.AddToScheme)
	moreDocs = append(moreDocs, resourcev1.DeviceTaint{}) // devicetaintrules: Key, Value, Effect, TimeAdded
}
