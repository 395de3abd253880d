// Package manager runs a manager of controller-runtime over kubesim. make compat runs it with each minor of controller-runtime; it
// uses only what all of them have.
package manager

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	fakectrl "github.com/kubesim/kubesim/fake/ctrl"
)

// copier makes a Secret for each ConfigMap with a color, and writes into its annotation that it has done so.
type copier struct{ client.Client }

func (c copier) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	from := &corev1.ConfigMap{}
	if err := c.Get(ctx, q.NamespacedName, from); err != nil || from.Data["color"] == "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name}}
	if _, err := ctrl.CreateOrUpdate(ctx, c.Client, to, func() error {
		to.StringData = from.Data
		return ctrl.SetControllerReference(from, to, c.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := from.DeepCopy()
	from.Annotations = map[string]string{"copied": "yes"}
	return ctrl.Result{}, c.Patch(ctx, from, client.MergeFrom(before))
}

// start runs a manager until the test ends.
func start(t *testing.T, cfg *rest.Config, elect bool) ctrl.Manager {
	t.Helper()
	is := is.New(t)
	ctrl.SetLogger(logr.Discard())
	again := true // the name of a controller is used by several tests
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Metrics: server.Options{BindAddress: "0"}, LeaderElection: elect, LeaderElectionID: "copier",
		LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true, Controller: config.Controller{SkipNameValidation: &again}})
	is.NoErr(err)
	is.NoErr(mgr.GetFieldIndexer().IndexField(t.Context(), &corev1.ConfigMap{}, "color", func(o client.Object) []string {
		return []string{o.(*corev1.ConfigMap).Data["color"]}
	}))
	is.NoErr(ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(copier{mgr.GetClient()}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { stop(); is.NoErr(<-ended) })
	is.True(mgr.GetCache().WaitForCacheSync(ctx))
	return mgr
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return so(), nil })
	if err != nil {
		t.Fatal(errors.Join(errors.New("never: "+what), err))
	}
}

// works exercises the usual functions of a manager.
func works(t *testing.T, mgr ctrl.Manager, cfg *rest.Config) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	c, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	is.NoErr(err)
	from := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"color": "red"}}
	is.NoErr(c.Create(ctx, from))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	got := func() bool { return c.Get(ctx, client.ObjectKeyFromObject(secret), secret) == nil }
	eventually(t, "the map is copied", got)
	is.Equal(string(secret.Data["color"]), "red")
	is.NoErr(c.Delete(ctx, secret))
	eventually(t, "the copy is made again", got) // owned objects are watched
	eventually(t, "the map is annotated", func() bool {
		is.NoErr(c.Get(ctx, client.ObjectKeyFromObject(from), from))
		return from.Annotations["copied"] == "yes"
	})
	eventually(t, "the cache has it, by its color", func() bool {
		var list corev1.ConfigMapList
		is.NoErr(mgr.GetClient().List(ctx, &list, client.InNamespace("default"), client.MatchingFields{"color": "red"}))
		return len(list.Items) == 1
	})
}

func TestManager(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	cfg := fake.Config[rest.Config](srv, "compat")
	works(t, start(t, cfg, false), cfg)
	srv.AtRest(t, time.Second)
}

func TestElectedManager(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.New(t).NoErr(err)
	cfg := &rest.Config{Host: l.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: l.CA()}, QPS: -1}
	works(t, start(t, cfg, true), cfg)
}

// Package fake/ctrl builds with this minor, and runs a manager.
func TestCtrl(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	m := fakectrl.Start(t, srv, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(copier{mgr.GetClient()})
	})
	is.NoErr(m.Restart())
	c := fakectrl.Client(t, srv, nil)
	is.NoErr(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"color": "red"}}))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	eventually(t, "the map is copied", func() bool { return c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret) == nil })
}

// A webhook of controller-runtime is asked in process.
func TestWebhook(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t)
	handler := &webhook.Admission{Handler: admission.HandlerFunc(func(_ context.Context, q admission.Request) admission.Response {
		if q.Name == "bad" {
			return admission.Denied("not this one")
		}
		return admission.Patched("", webhook.JSONPatchOp{Operation: "add", Path: "/data", Value: map[string]string{"color": "white"}})
	})}
	srv.AdmitThrough(through(handler.ServeHTTP))
	is.NoErr(srv.LoadData([]byte(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"c"},"webhooks":[{
"name":"check.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
"resources":["configmaps"]}],"clientConfig":{"service":{"namespace":"any","name":"any","path":"/mutate"}}}]}`)))
	c, err := client.New(fake.Config[rest.Config](srv, "compat"), client.Options{})
	is.NoErr(err)
	white := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "good"}}
	is.NoErr(c.Create(t.Context(), white))
	is.Equal(white.Data["color"], "white")
	is.True(apierrors.IsForbidden(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bad"}})))
}

// through is a RoundTripper that asks a handler.
type through http.HandlerFunc

func (h through) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, r)
	return w.Result(), nil
}

// KUBEBUILDER_ASSETS names the programs of kubesim envtest.
func TestEnvtest(t *testing.T) {
	is := is.New(t)
	env := &envtest.Environment{}
	cfg, err := env.Start()
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(env.Stop()) })
	works(t, start(t, cfg, false), cfg)
}
