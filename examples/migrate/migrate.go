// Package migrate contains the code that the tests in before/ and after/ test: a controller, and a function that drains a node. The
// README describes how a test changes when it is migrated from a fake, or from envtest, to kubesim.
package migrate

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Copier is a reconciler that copies each ConfigMap with the label copy to a Secret.
type Copier struct{ client.Client }

// Reconcile creates the Secret for a ConfigMap, unless it exists.
func (c *Copier) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	from := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, from); err != nil || from.Labels["copy"] == "" {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name}, StringData: from.Data}
	if err := controllerruntime.SetControllerReference(from, to, c.Scheme()); err != nil {
		return controllerruntime.Result{}, err
	}
	if err := c.Create(ctx, to); err != nil && !apierrors.IsAlreadyExists(err) {
		return controllerruntime.Result{}, err
	}
	return controllerruntime.Result{}, nil
}

// Setup adds the controller to a manager.
func Setup(manager controllerruntime.Manager) error {
	return controllerruntime.NewControllerManagedBy(manager).
		For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(&Copier{manager.GetClient()})
}

// Drain evicts the pods on a node. It stops at the first pod whose eviction fails.
func Drain(ctx context.Context, c kubernetes.Interface, node string) error {
	pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
		if err := c.PolicyV1().Evictions(pod.Namespace).Evict(ctx, eviction); err != nil {
			return fmt.Errorf("pod %s: %w", pod.Name, err)
		}
	}
	return nil
}
