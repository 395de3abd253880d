package bugs

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubesim/kubesim/sim/fault"
)

// machineSets creates one Secret, which stands for a MachineSet, for each deployment.
type machineSets struct {
	client.Client
	fixed bool
}

// Reconcile creates the set of a deployment if the cache contains none.
func (m *machineSets) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result,
	error) {
	deployment := &corev1.ConfigMap{}
	if err := m.Get(ctx, request.NamespacedName, deployment); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	sets := &corev1.SecretList{}
	if err := m.List(ctx, sets, client.InNamespace(request.Namespace),
		client.MatchingLabels{"deployment": request.Name}); err != nil {
		return controllerruntime.Result{}, err
	}
	if len(sets.Items) > 0 {
		return controllerruntime.Result{}, nil
	}
	set := &corev1.Secret{}
	set.Namespace, set.Labels = request.Namespace, map[string]string{"deployment": request.Name}
	if m.fixed {
		// the same state results in the same name, so the server rejects a second create
		set.Name = request.Name + "-" + deployment.Data["template"]
	} else {
		set.GenerateName = request.Name + "-"
	}
	if err := controllerutil.SetControllerReference(deployment, set, m.Scheme()); err != nil {
		return controllerruntime.Result{}, err
	}
	return controllerruntime.Result{}, client.IgnoreAlreadyExists(m.Create(ctx, set))
}

// The controller creates a MachineSet with a generated name. Before the watch delivers it to the cache, the deployment changes in
// another respect. The controller finds no MachineSet in the cache, and creates another one: two sets of machines. A cache may lack
// the latest writes of its own client. See kubernetes-sigs/cluster-api#13649; kaito-project/kaito#1300 had 200 NodeClaims,
// k0sproject/k0smotron#1534 six control planes.
//
// There are two fixes: a name that is derived from the desired state, as here, or waiting until the cache contains the write.
func TestDoubleCreate(t *testing.T) {
	both(t, func(w world, fixed bool) {
		w.srv.Faults.Add(fault.On("watch", "secrets").Client("operator").Event("ADDED").Hold())
		w.start(func(m controllerruntime.Manager) error {
			return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
				Complete(&machineSets{m.GetClient(), fixed})
		}, nil)
		settle(time.Second)
		deployment := owner("web", map[string]string{"template": "a1"})
		w.must(w.Create(w.t.Context(), deployment))
		settle(time.Second)
		deployment.Labels = map[string]string{"changed": "yes"}
		w.must(w.Update(w.t.Context(), deployment))
		settle(time.Second)
		w.srv.Faults.Clear() // the events arrive
		settle(time.Second)

		w.is.Equal(w.secrets(), map[bool]int{false: 2, true: 1}[fixed])
	})
}
