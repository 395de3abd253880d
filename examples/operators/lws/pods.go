//go:build !v06

package lws

import (
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"
)

// setupPods adds the controller and the webhook for pods to a manager, as the operator's main does from v0.7 on.
func setupPods(mgr manager.Manager) error {
	return errors.Join(
		controllers.NewPodReconciler(mgr.GetClient(), mgr.GetScheme(), recorder(mgr, "leaderworkerset"), nil).SetupWithManager(mgr),
		webhooks.NewPodWebhook(nil).Setup(mgr))
}
