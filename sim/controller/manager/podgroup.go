//go:build !page

package manager

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	podGroups      = "podgroups.scheduling.k8s.io"
	groupFinalizer = "scheduling.k8s.io/podgroup-protection"
)

// PodGroupProtection keeps a deleted PodGroup until no pod that names it still runs or will run
// (pkg/controller/scheduling/podgroupprotection). Admission adds the finalizer.
func PodGroupProtection() controller.Controller {
	const name = "podgroup-protection-controller"
	return controller.Account(name, name, controller.Func(releaseGroup),
		controller.Watch{Resource: podGroups}, controller.Watch{Resource: workload.Pods, Keys: groupOfPod})
}

// groupOfPod returns the key of the PodGroup of a pod that has ended or was deleted.
func groupOfPod(_ *controller.Client, c *commit.Commit) []controller.Key {
	it := cmp.Or(c.Item(), c.Before())
	if !c.Deleted() && !workload.PodOf(it).Finished() {
		return nil
	}
	if name := podGroupOf(it.Shared()); name != "" {
		return []controller.Key{{Namespace: c.Namespace, Name: name}}
	}
	return nil
}

func podGroupOf(pod object.Object) string {
	return pod.String("spec", "schedulingGroup", "podGroupName")
}

func releaseGroup(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	group := api.Get(podGroups, key.Namespace, key.Name)
	if group == nil || group.DeletionTimestamp() == "" || !slices.Contains(group.Finalizers(), groupFinalizer) || groupInUse(api, key) {
		return 0, nil
	}
	group.SetFinalizers(slices.DeleteFunc(group.Finalizers(), func(f string) bool { return f == groupFinalizer }))
	_, s := api.Update(podGroups, "", group)
	return 0, workload.Found(s)
}

// groupInUse reports whether a pod that has not ended names the PodGroup.
func groupInUse(api *controller.Client, key controller.Key) (used bool) {
	api.Items(workload.Pods, key.Namespace, func(it *resource.Item) bool {
		used = podGroupOf(it.Shared()) == key.Name && !workload.PodOf(it).Finished()
		return !used
	})
	return used
}
