//go:build !minor34 && !minor35 && !since37

package main

import schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"

func init() {
	offRegistrations = append(offRegistrations, schedulingv1alpha2.AddToScheme)
}
