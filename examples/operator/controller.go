package operator

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/kubesim/kubesim/examples/operator/api/v1"
	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
)

// Scheme returns a scheme with the kinds that the operator uses.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1.AddToScheme(s))
	utilruntime.Must(v2.AddToScheme(s))
	return s
}

// Setup adds the controller and the webhooks to a manager, as main does in a scaffolded project.
func Setup(manager controllerruntime.Manager) error {
	if err := addController(manager, &reconciler{manager.GetClient()}); err != nil {
		return err
	}
	// v1.Site implements conversion.Convertible and v2.Site implements conversion.Hub, so this also adds /convert.
	return controllerruntime.NewWebhookManagedBy(manager, &v2.Site{}).
		WithDefaulter(defaulter{}).WithValidator(validator{manager.GetClient()}).Complete()
}

// addController adds the controller to a manager.
func addController(manager controllerruntime.Manager, r reconcile.Reconciler) error {
	return controllerruntime.NewControllerManagedBy(manager).For(&v2.Site{}).Owns(&appsv1.Deployment{}).Complete(r)
}

// reconciler reconciles Sites. It creates a Deployment for each of them.
type reconciler struct{ client.Client }

// Reconcile updates the Deployment to match the Site, and the Site's status to match the Deployment.
func (r *reconciler) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result,
	error) {
	site := &v2.Site{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, d, func() error {
		r.shape(d, site)
		return controllerutil.SetControllerReference(site, d, r.Scheme())
	})
	if err != nil {
		return controllerruntime.Result{}, err
	}
	before := site.DeepCopy()
	observe(site, d)
	if before.Status.ObservedGeneration == site.Status.ObservedGeneration &&
		before.Status.ReadyReplicas == site.Status.ReadyReplicas &&
		meta.IsStatusConditionTrue(before.Status.Conditions,
			"Ready") == meta.IsStatusConditionTrue(site.Status.Conditions, "Ready") {
		return controllerruntime.Result{}, nil
	}
	return controllerruntime.Result{}, r.Status().Patch(ctx, site, client.MergeFromWithOptions(before,
		client.MergeFromWithOptimisticLock{}))
}

// shape sets the fields of the Deployment that the Site determines, and preserves all others.
func (r *reconciler) shape(d *appsv1.Deployment, site *v2.Site) {
	labels := map[string]string{"site": site.Name}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	if site.Spec.Scale != nil {
		d.Spec.Replicas = &site.Spec.Scale.Replicas
	}
	if len(d.Spec.Template.Spec.Containers) == 0 {
		d.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
	}
	c := &d.Spec.Template.Spec.Containers[0]
	c.Name, c.Image = "site", site.Spec.Image
	c.Env = []corev1.EnvVar{{Name: "HOSTS", Value: strings.Join(site.Spec.Hosts, ",")}}
}

// observe copies the state of the Deployment to the Site's status.
func observe(site *v2.Site, d *appsv1.Deployment) {
	site.Status.ObservedGeneration = site.Generation
	site.Status.ReadyReplicas = d.Status.ReadyReplicas
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting",
		ObservedGeneration: site.Generation}
	if d.Spec.Replicas != nil && d.Status.ReadyReplicas >= *d.Spec.Replicas &&
		d.Status.ObservedGeneration >= d.Generation {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Running"
	}
	meta.SetStatusCondition(&site.Status.Conditions, ready)
}
