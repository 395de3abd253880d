//go:build !v15

package kuberay

import (
	"context"

	config "github.com/ray-project/kuberay/ray-operator/apis/config/v1alpha1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// reconciler returns the controller of RayClusters, as the operator's main makes it up to v1.4.
func reconciler(mgr manager.Manager) *ray.RayClusterReconciler {
	return ray.NewReconciler(context.Background(), mgr, ray.RayClusterReconcilerOptions{}, config.Configuration{})
}
