package bugs

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/sim/fault"
)

// issuer creates one Secret, which stands for a CertificateRequest, for each revision of a certificate.
type issuer struct {
	client.Client
	fixed bool
}

// Reconcile creates a request for the next revision if there is none.
func (i *issuer) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	certificate := &corev1.ConfigMap{}
	if err := i.Get(ctx, request.NamespacedName, certificate); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	revision := certificate.Data["revision"]
	labels := map[string]string{"certificate": request.Name, "revision": revision}
	requests := &corev1.SecretList{}
	if err := i.List(ctx, requests, client.InNamespace(request.Namespace), client.MatchingLabels(labels)); err != nil {
		return controllerruntime.Result{}, err
	}
	if len(requests.Items) > 0 {
		return controllerruntime.Result{}, nil
	}
	r := &corev1.Secret{}
	r.Namespace, r.GenerateName, r.Labels = request.Namespace, request.Name+"-", labels
	if i.fixed {
		r.GenerateName, r.Name = "", request.Name+"-"+revision
	}
	return controllerruntime.Result{}, client.IgnoreAlreadyExists(i.Create(ctx, r))
}

// The API server is slow, and a create times out after the object was stored. The controller assumes that the create failed, and
// retries at once, before its cache contains the object. The result is two requests for one revision, and two certificates from an
// authority that counts them. An error, especially a 504, does not mean that a write was not executed. See
// cert-manager/cert-manager#6837, and #4956 for the same without a timeout.
//
// The fix is a name that can be used only once: the second create fails with AlreadyExists.
func TestAmbiguousCreate(t *testing.T) {
	both(t, func(w world, fixed bool) {
		w.srv.Faults.Add(
			fault.On("create", "secrets").Client("operator").Times(1).CommitThenFail(fault.Timeout),
			fault.On("watch", "secrets").Client("operator").Event("ADDED").Times(1).Delay(time.Second),
		)
		w.start(func(m controllerruntime.Manager) error {
			return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).
				Complete(&issuer{m.GetClient(), fixed})
		}, nil)
		w.must(w.Create(w.t.Context(), owner("web", map[string]string{"revision": "1"})))
		settle(time.Minute)

		w.is.Equal(w.secrets(), map[bool]int{false: 2, true: 1}[fixed])
	})
}
