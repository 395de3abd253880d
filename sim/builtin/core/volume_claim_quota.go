package core

import (
	"cmp"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// volumeClaimQuota is what claims use of quotas.
var volumeClaimQuota = resource.Quota{Each: []string{claims}, Limits: volumeClaimLimit, Uses: volumeClaimUses, Scopes: volumeClaimScopes, Updates: volumeClaimUpdates}

const (
	claims          = "persistentvolumeclaims"
	classSuffix     = ".storageclass.storage.k8s.io/" // between a storage class and a limited resource
	requestsStorage = "requests.storage"
)

func volumeClaimLimit(_ *resource.Context, name string) bool {
	_, of, classed := strings.Cut(name, classSuffix)
	return name == requestsStorage || classed && (of == claims || of == requestsStorage)
}

// volumeClaimUses counts a claim, and the storage that it asks for or has been given, of its class and of all.
func volumeClaimUses(_ *resource.Context, claim object.Object) resource.Amounts {
	sum := resource.Amounts{}
	storage, asks := resource.AmountsAt(claim, "spec", "resources", "requests")["storage"]
	if asks {
		if given, ok := resource.AmountsAt(claim, "status", "allocatedResources")["storage"]; ok && given.Cmp(storage) > 0 {
			storage = given
		}
		storage = storage.RoundUp(0)
		sum[requestsStorage] = storage
	}
	if class := cmp.Or(claim.Annotations()[betaStorageClass], claim.String("spec", "storageClassName")); class != "" {
		sum[class+classSuffix+claims] = resource.Count(1)
		if asks {
			sum[class+classSuffix+requestsStorage] = storage
		}
	}
	return sum
}

// volumeClaimUpdates: what a claim has been given is said in its status.
func volumeClaimUpdates(ctx *resource.Context, _, _ object.Object) bool {
	return ctx.Subresource == "" || ctx.Subresource == "status"
}

// volumeClaimScopes: a claim counts for the class that it is to have, for that which it has, and for one that is being tried.
var volumeClaimScopes = map[string]resource.QuotaScope{"VolumeAttributesClass": classOf([]string{"spec", "volumeAttributesClassName"},
	[]string{"status", "currentVolumeAttributesClassName"}, []string{"status", "modifyVolumeStatus", "targetVolumeAttributesClassName"})}
