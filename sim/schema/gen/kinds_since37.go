//go:build since37

package main

import storagemigrationv1 "k8s.io/api/storagemigration/v1"

func init() { registrations = append(registrations, storagemigrationv1.AddToScheme) }
