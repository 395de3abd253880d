package ctrl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
)

func TestMain(m *testing.M) { ctrl.Main(m) }

// copier is a controller that creates a Secret for each ConfigMap with a label, and a webhook that rejects invalid ones.
type copier struct {
	client.Client
}

func setup(mgr manager.Manager) error {
	c := &copier{mgr.GetClient()}
	mgr.GetWebhookServer().Register("/validate--v1-configmap", &admission.Webhook{Handler: admission.HandlerFunc(validate)})
	return controllerruntime.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(c)
}

func (c *copier) Reconcile(ctx context.Context, q controllerruntime.Request) (controllerruntime.Result, error) {
	from := &corev1.ConfigMap{}
	if err := c.Get(ctx, q.NamespacedName, from); err != nil || from.Labels["copy"] == "" {
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

func validate(_ context.Context, q admission.Request) admission.Response {
	obj := &corev1.ConfigMap{}
	if err := json.Unmarshal(q.Object.Raw, obj); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if obj.Data["color"] == "red" {
		return admission.Denied("not red")
	}
	return admission.Allowed("")
}

const configuration = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"c"},"webhooks":[{
"name":"check.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","matchConditions":[{"name":"copies","expression":"has(object.metadata.labels)"}],
"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}],
"clientConfig":{"service":{"namespace":"any","name":"any","path":"/validate--v1-configmap"}}}]}`

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"copy": "yes"}}
}

func exists(name string) func(fake.View) error {
	return func(view fake.View) error {
		if view.Get("secrets", "default", name) == nil {
			return fmt.Errorf("no secret %s", name)
		}
		return nil
	}
}

// A manager runs, its webhooks respond, it crashes and is restarted, and finally settles.
func TestManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		is.NoErr(srv.LoadData([]byte(configuration)))
		srv.Never("two secrets of a map", fake.OnePerOwner("secrets"))
		m := ctrl.Start(t, srv, setup)
		c := ctrl.Client(t, srv, nil)
		is.NoErr(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("a")}))
		err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("b"), Data: map[string]string{"color": "red"}})
		is.True(apierrors.IsForbidden(err))
		is.NoErr(srv.Eventually("a is copied", time.Minute, exists("a")))

		m.Crash()
		err = c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("c")})
		is.True(err != nil && strings.Contains(err.Error(), "connection refused")) // no process answers webhooks
		is.NoErr(c.Delete(t.Context(), &corev1.Secret{ObjectMeta: named("a")}))
		time.Sleep(time.Hour)
		is.True(apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.Secret{})))
		is.NoErr(m.Restart())
		is.NoErr(srv.Eventually("a is copied again", time.Minute, exists("a")))
		srv.AtRest(t, 24*time.Hour)
		is.Equal(strings.Count(srv.Actions("operator").Writes().String(), "create secrets default/a 201\n"), 2)
	})
}

// A manager that crashes before its caches are filled ends, and is started again. The index makes the manager wait for the informer.
func TestCrashDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		srv.Faults.Add(fault.On("list,watch", "configmaps").Client("operator").Unavailable())
		go func() {
			time.Sleep(time.Minute)
			srv.Processes()[0].Crash(time.Second)
			srv.Faults.Clear()
		}()
		began := time.Now()
		ctrl.Start(t, srv, func(mgr manager.Manager) error {
			name := func(obj client.Object) []string { return []string{obj.GetName()} }
			return mgr.GetFieldIndexer().IndexField(t.Context(), &corev1.ConfigMap{}, "name", name)
		})
		is.True(time.Since(began) > time.Minute)
		is.True(time.Since(began) < 2*time.Minute)
	})
}

// Permissions returns the role that a manager needs, according to its requests with its own service account.
func TestManagerPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		const who = "system:serviceaccount:default:operator"
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC})
		is.NoErr(srv.LoadData([]byte(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: operator}
rules:
- {apiGroups: [""], resources: [configmaps, secrets], verbs: [list, watch]}
- {apiGroups: [""], resources: [secrets], verbs: [create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: operator}
subjects: [{kind: ServiceAccount, name: operator, namespace: default}]
`)))
		ctrl.Start(t, srv, setup, ctrl.Options{User: who})
		is.NoErr(srv.Seed(&corev1.ConfigMap{ObjectMeta: named("a")}))
		is.NoErr(srv.Eventually("a is copied", time.Minute, exists("a")))
		p := srv.Permissions(who)
		is.Equal(len(p.Missing), 0)
		is.Equal(fmt.Sprint(p.Unused), `[{APIGroups:[""], Resources:["secrets"], Verbs:["patch"]}]`)
		is.True(strings.Contains(p.ClusterRole(), "resources: [secrets]\n  verbs: [create, list, watch]\n"))
	})
}

// An error during the start of a manager fails the test.
func TestManagerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		bad := &failing{T: t}
		srv := fake.RunT(bad, fake.Options{Clock: clock.System{}})
		ctrl.Start(bad, srv, func(manager.Manager) error { return errors.New("no") })
		is.Equal(bad.said, "ctrl: operator does not start: no")
	})
}

// failing is a test that fails.
type failing struct {
	*testing.T
	said string
}

func (f *failing) Errorf(string, ...any) {}

func (f *failing) Fatalf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

// Objects are stored unchanged, and a client can use definitions that are loaded later.
func TestClient(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "o", UID: "77"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	c := ctrl.Client(t, srv, nil, owner, pod)
	got := &corev1.Pod{}
	is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(pod), got))
	is.Equal(got.Status.Phase, corev1.PodRunning)
	is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
	is.Equal(string(owner.UID), "77")

	srv.Faults.Add(fault.On("get", "pods").Times(1).Error(403, "Forbidden", "not today"))
	err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), got)
	is.True(apierrors.IsForbidden(err))
	is.Equal(err.Error(), "not today")
}
