//go:build v15

package kuberay

import (
	"context"

	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// reconciler returns the controller of RayClusters, as the operator's main makes it from v1.5 on.
func reconciler(mgr manager.Manager) *ray.RayClusterReconciler {
	return ray.NewReconciler(context.Background(), mgr, ray.RayClusterReconcilerOptions{})
}
