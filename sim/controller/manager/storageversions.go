//go:build !page

package manager

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	storageVersions = "storageversions.internal.apiserver.k8s.io"
	leases          = "leases.coordination.k8s.io"
	leaseNamespace  = "kube-system"
)

// StorageVersionGC removes the entries of API servers that no longer run from StorageVersions, and deletes those without entries
// (pkg/controller/storageversiongc). An API server runs as long as its identity lease exists.
func StorageVersionGC() controller.Controller {
	return controller.Account("storageversion-garbage-collector-controller", "storage-version-garbage-collector", controller.Func(collectVersions),
		controller.Watch{Resource: storageVersions}, controller.Watch{Resource: leases, Keys: versionsOfLease})
}

// versionsOfLease returns the keys of the StorageVersions that list an API server whose lease was deleted.
func versionsOfLease(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if !c.Deleted() || c.Namespace != leaseNamespace || !isIdentity(c.Before().Shared()) {
		return nil
	}
	for _, v := range api.All(storageVersions, "") {
		for _, entry := range v.Objects("status", "storageVersions") {
			if entry.String("apiServerID") == c.Name {
				keys = append(keys, controller.Key{Name: v.Name()})
				break
			}
		}
	}
	return keys
}

func isIdentity(lease object.Object) bool {
	return lease.Labels()[boot.IdentityLabel] == "kube-apiserver"
}

func collectVersions(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	version := api.Get(storageVersions, "", key.Name)
	if version == nil {
		return 0, nil
	}
	entries := version.List("status", "storageVersions")
	running := slices.DeleteFunc(slices.Clone(entries), func(entry any) bool {
		return !isIdentity(api.GetShared(leases, leaseNamespace, object.As(entry).String("apiServerID")))
	})
	switch {
	case len(running) == len(entries):
		return 0, nil
	case len(running) == 0:
		return 0, workload.Found(api.Delete(storageVersions, key, controller.Preconditions{}))
	}
	version.Set(running, "status", "storageVersions")
	setCommonVersion(version, object.Time(api.Now()))
	_, s := api.Update(storageVersions, "status", version)
	return 0, workload.Found(s)
}

// setCommonVersion sets the version that all API servers encode, if they agree, and the condition that says so
// (apiserver/pkg/storageversion.SetCommonEncodingVersion).
func setCommonVersion(version object.Object, now string) {
	was := version.String("status", "commonEncodingVersion")
	entries := version.Objects("status", "storageVersions")
	common := entries[0].String("encodingVersion")
	agreed := !slices.ContainsFunc(entries, func(e object.Object) bool { return e.String("encodingVersion") != common })
	condition := object.Object{"type": "AllEncodingVersionsEqual", "status": "False", "reason": "CommonEncodingVersionUnset",
		"message": "Common encoding version unset", "lastTransitionTime": now}
	if generation := version.Generation(); generation != 0 {
		condition["observedGeneration"] = generation
	}
	version.Remove("status", "commonEncodingVersion")
	if agreed {
		version.Set(common, "status", "commonEncodingVersion")
		condition["status"], condition["reason"], condition["message"] = "True", "CommonEncodingVersionSet", "Common encoding version set"
	}
	if before := version.Condition("AllEncodingVersionsEqual"); before != nil {
		if before.String("status") == condition.String("status") && !(agreed && was != "" && was != common) {
			condition["lastTransitionTime"] = before["lastTransitionTime"]
		}
		for name, v := range condition { // order does not matter
			before[name] = v
		}
		return
	}
	version.Set(append(version.List("status", "conditions"), map[string]any(condition)), "status", "conditions")
}
