//go:build !minor34

package main

import storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"

func init() {
	offRegistrations = append(offRegistrations, storagemigrationv1beta1.AddToScheme)
}
