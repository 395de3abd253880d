//go:build since37

package main

import (
	resourcev1 "k8s.io/api/resource/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
)

func init() {
	registrations = append(registrations, storagemigrationv1.AddToScheme)
	moreDocs = append(moreDocs, resourcev1.DeviceTaint{}) // devicetaintrules: Key, Value, Effect, TimeAdded
}
