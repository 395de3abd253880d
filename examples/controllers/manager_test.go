package controllers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// sites is the controller under test. It creates a Deployment for each ConfigMap with an image, and reverts changes to it.
type sites struct{ client.Client }

// Reconcile is called for each change of a ConfigMap or of a Deployment that belongs to one. It reads from the manager's cache and
// writes to the server.
func (s *sites) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	site := &corev1.ConfigMap{}
	if err := s.Get(ctx, request.NamespacedName, site); err != nil || site.Data["image"] == "" {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	labels := map[string]string{"site": site.Name}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, d, func() error {
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		if len(d.Spec.Template.Spec.Containers) == 0 {
			d.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
		}
		c := &d.Spec.Template.Spec.Containers[0]
		c.Name, c.Image = "site", site.Data["image"]
		return controllerutil.SetControllerReference(site, d, s.Scheme())
	})
	return controllerruntime.Result{}, err
}

// run starts a manager with the controller and the configuration of its clients, until the test ends.
func run(t *testing.T, of *rest.Config) {
	t.Helper()
	is := is.New(t)
	manager, err := controllerruntime.NewManager(of, controllerruntime.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
		// Both tests use a controller with the same name. controller-runtime's own queue may leave a goroutine behind when it
		// stops, which fails a bubble.
		Controller: controllerconfig.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
	})
	is.NoErr(err)
	is.NoErr(controllerruntime.NewControllerManagedBy(manager).
		For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).Complete(&sites{manager.GetClient()}))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		is.NoErr(<-ended) // it ends in order
	})
}

// settle waits until the controller has no more work. The controller may itself wait, for its cache or for a retry; that takes only
// virtual time.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// A manager with an informer cache and a reconciler is tested without polling and without Eventually.
func TestManagerReconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		c, err := client.New(config(srv), client.Options{})
		is.NoErr(err)
		run(t, config(srv))

		site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}, Data: map[string]string{"image": "blog:1"}}
		is.NoErr(c.Create(t.Context(), site))
		settle()
		d := &appsv1.Deployment{}
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(site), d)) // the controller made it
		is.Equal(d.Spec.Template.Spec.Containers[0].Image, "blog:1")
		is.Equal(d.OwnerReferences[0].UID, site.UID)

		d.Spec.Template.Spec.Containers[0].Image = "oops:1"
		is.NoErr(c.Update(t.Context(), d)) // a manual change
		settle()
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(site), d))
		is.Equal(d.Spec.Template.Spec.Containers[0].Image, "blog:1") // the controller sets it right
		is.Equal(d.Generation, int64(3))

		is.NoErr(c.Delete(t.Context(), d)) // or deletes it
		settle()
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(site), d)) // it is made anew
		is.Equal(d.Generation, int64(1))
	})
}

// A settled controller writes nothing. This test finds controllers that fight with defaults or with each other.
func TestManagerComesToRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		c, err := client.New(config(srv), client.Options{})
		is.NoErr(err)
		run(t, config(srv))
		site := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}, Data: map[string]string{"image": "blog:1"}}
		is.NoErr(c.Create(t.Context(), site))
		settle()

		before := srv.Revision()
		time.Sleep(24 * time.Hour)
		is.Equal(srv.Revision(), before) // no write in a day, though caches resync
	})
}
