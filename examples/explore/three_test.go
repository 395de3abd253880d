package explore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
)

// copies creates one Secret for each ConfigMap, with its data, and records its name in the ConfigMap.
type copies struct {
	client.Client
	bug string
}

// Reconcile is correct unless bug names one of three bugs.
func (c *copies) Reconcile(ctx context.Context, request controllerruntime.Request) (result controllerruntime.Result, err error) {
	from := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, from); err != nil || from.Data["value"] == "" {
		return result, client.IgnoreNotFound(err)
	}
	list := &corev1.SecretList{}
	if err := c.List(ctx, list, client.InNamespace(request.Namespace), client.MatchingLabels{"from": from.Name}); err != nil {
		return result, err
	}
	if len(list.Items) == 0 {
		return result, c.make(ctx, from)
	}
	to := &list.Items[0]
	if string(to.Data["value"]) != from.Data["value"] {
		to.Data = map[string][]byte{"value": []byte(from.Data["value"])}
		err := c.Update(ctx, to)
		if c.bug == "swallow" && apierrors.IsConflict(err) {
			return result, nil // another client has changed it, so an event will follow
		}
		if c.bug == "requeue" {
			return result, nil // and nothing retries
		}
		return result, err
	}
	return result, nil
}

// make creates the Secret.
func (c *copies) make(ctx context.Context, from *corev1.ConfigMap) error {
	to := &corev1.Secret{Data: map[string][]byte{"value": []byte(from.Data["value"])}}
	to.Namespace, to.Labels = from.Namespace, map[string]string{"from": from.Name}
	if c.bug == "double" {
		to.GenerateName = from.Name + "-" // even if the cache lacks the previous Secret
	} else {
		to.Name = from.Name
	}
	if err := controllerutil.SetControllerReference(from, to, c.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, to))
}

func (c *copies) setup(m controllerruntime.Manager) error {
	c.Client = m.GetClient()
	return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(c)
}

// copied returns an ordinary test of the operator.
func copied(bug string) func(t fake.T, srv *fake.Server) {
	return func(t fake.T, srv *fake.Server) {
		w := begin(t, srv, func(m controllerruntime.Manager) error { return (&copies{bug: bug}).setup(m) })
		one := &corev1.ConfigMap{ObjectMeta: named("one"), Data: map[string]string{"value": "1"}}
		w.must(w.Create(t.Context(), one))
		time.Sleep(time.Minute)
		one.Data["value"] = "2"
		w.must(w.Update(t.Context(), one))
		time.Sleep(whole)
		srv.Heal()
		time.Sleep(whole)
		secrets := w.secrets()
		if len(secrets) != 1 {
			t.Fatalf("%d secrets, want 1", len(secrets))
		}
		if got := string(secrets[0].Data["value"]); got != "2" {
			t.Errorf("the secret has the value %s, want 2", got)
		}
	}
}

// A correct operator passes under all plans.
func TestCorrect(t *testing.T) {
	fake.Explore(t, fake.ExploreOptions{Seeds: 300, Server: fake.Options{Bare: true}}, copied(""))
}

// The test of the correct operator finds each of the three bugs, and the report names the wrong write.
func TestThreeMistakes(t *testing.T) {
	for _, x := range []struct{ bug, says string }{
		{"double", "operator create secrets: 2 times instead of 1\n"},
		{"swallow", "operator update secrets: 0 times instead of 1\n"},
		{"requeue", "operator update secrets: 0 times instead of 1\n"},
	} {
		t.Run(x.bug, func(t *testing.T) {
			var found *explore.Report
			fake.Explore(t, fake.ExploreOptions{Seeds: 200, Server: fake.Options{Bare: true}, Found: func(r *explore.Report) { found = r }},
				copied(x.bug))
			is := is.New(t)
			is.True(found != nil)               // within 200 seeds
			is.True(found.Took < 2*time.Minute) // 30 s on an idle machine
			t.Logf("%d seeds, %d runs, %v\n%s", found.Seeds, found.Runs, found.Took, found)
			is.True(strings.Contains(found.String(), x.says))
		})
	}
}
