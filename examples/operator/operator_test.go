package operator

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/kubesim/kubesim/examples/operator/api/v1"
	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

// A Site is defaulted by the webhook, the controller creates its Deployment, and it becomes ready when the pods are.
func TestSiteBecomesReady(t *testing.T) {
	inBubble(t, func(t *testing.T, is *is.I, c site) {
		c.start()
		blog := &v2.Site{ObjectMeta: named("blog"), Spec: v2.SiteSpec{Image: "blog:1"}}
		is.NoErr(c.Create(t.Context(), blog))
		is.Equal(blog.Spec.Scale.Replicas, int32(1))                    // the defaulter was asked
		is.Equal(blog.Spec.Hosts, []string{"blog.default.example.com"}) // before the object was stored
		settle(time.Second)

		d := &appsv1.Deployment{ObjectMeta: named("blog")}
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(d), d))
		is.Equal(d.Spec.Template.Spec.Containers[0].Env[0].Value, "blog.default.example.com")
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(blog), blog))
		is.Equal(blog.Status.ObservedGeneration, int64(1))
		is.True(meta.IsStatusConditionFalse(blog.Status.Conditions, "Ready")) // there are no pods yet

		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, ReadyReplicas: 1}
		is.NoErr(c.Status().Update(t.Context(), d)) // no controller runs for Deployments: the test does its work
		settle(time.Second)
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(blog), blog))
		is.True(meta.IsStatusConditionTrue(blog.Status.Conditions, "Ready"))
		is.Equal(blog.Generation, int64(1)) // the status is not a generation

		before := c.srv.Revision()
		settle(24 * time.Hour)
		is.Equal(c.srv.Revision(), before) // a day without a write: nothing fights with a default
	})
}

// An old client supports only v1. If it changes the fields of v1, all other fields are preserved.
func TestOldClientLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, is *is.I, c site) {
		c.start()
		shop := &v2.Site{ObjectMeta: named("shop"), Spec: v2.SiteSpec{Image: "shop:1",
			Hosts: []string{"shop.example.com", "www.example.com"}, Scale: &v2.Scale{Replicas: 2, Max: 5}}}
		is.NoErr(c.Create(t.Context(), shop))
		settle(time.Second) // the operator writes the status, too

		old := &v1.Site{ObjectMeta: named("shop")}
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(old), old))
		is.Equal(old.Spec.Host, "shop.example.com") // the first one
		is.Equal(*old.Spec.Replicas, int32(2))
		is.Equal(c.warnings.take()[0], "web.example.com/v1 Site knows one host only; use v2")
		old.Spec.Replicas = new(int32(3))
		is.NoErr(c.Update(t.Context(), old))
		is.Equal(*old.Spec.Replicas, int32(3))

		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(shop), shop))
		is.Equal(shop.Spec.Hosts, []string{"shop.example.com", "www.example.com"}) // nothing is lost
		is.Equal(*shop.Spec.Scale, v2.Scale{Replicas: 3, Max: 5})
		is.Equal(len(shop.Annotations), 0) // and nothing is left over
		settle(time.Second)
		d := &appsv1.Deployment{ObjectMeta: named("shop")}
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(d), d))
		is.Equal(*d.Spec.Replicas, int32(3)) // the controller, which knows v2 only, has seen it

		list := &v1.SiteList{}
		is.NoErr(c.List(t.Context(), list)) // one ConversionReview for all
		is.Equal(len(list.Items), 1)
		is.Equal(list.Items[0].Spec.Host, "shop.example.com")
	})
}

// Webhooks that are registered for v2 are also called for v1 objects, in v2 (matchPolicy Equivalent), and their changes are
// converted to v1.
func TestOldClientIsDefaulted(t *testing.T) {
	inBubble(t, func(t *testing.T, is *is.I, c site) {
		c.start()
		old := &v1.Site{ObjectMeta: named("wiki"), Spec: v1.SiteSpec{Image: "wiki"}}
		is.NoErr(c.Create(t.Context(), old))
		is.Equal(old.Spec.Host, "wiki.default.example.com") // a v2 default, seen by a v1 client
		is.Equal(*old.Spec.Replicas, int32(1))
		is.Equal(c.warnings.take(), []string{"web.example.com/v1 Site knows one host only; use v2",
			"spec.image: without a tag, tomorrow's image is another one"}) // the definition's and the validator's
	})
}

// The validator checks rules that the schema cannot express, for which it reads other Sites from the manager's cache.
func TestValidator(t *testing.T) {
	inBubble(t, func(t *testing.T, is *is.I, c site) {
		c.start()
		one := &v2.Site{ObjectMeta: named("one"), Spec: v2.SiteSpec{Image: "i:1", Hosts: []string{"a.example.com"}}}
		is.NoErr(c.Create(t.Context(), one))
		settle(time.Second) // until the cache of the validator has it: an answer from a cache may be too late
		err := c.Create(t.Context(), &v1.Site{ObjectMeta: named("two"), Spec: v1.SiteSpec{Image: "i:1",
			Host: "a.example.com"}})
		is.True(apierrors.IsInvalid(err)) // the validator's own status
		is.True(strings.Contains(err.Error(), `admission webhook "check.sites.web.example.com" denied the request: `))
		is.True(strings.Contains(err.Error(), `spec.hosts[0]: Invalid value: "a.example.com": belongs to default/one`))

		err = c.Create(t.Context(), &v2.Site{ObjectMeta: named("two"), Spec: v2.SiteSpec{Image: "i:1",
			Scale: &v2.Scale{Replicas: 3, Max: 2}}})
		// the definition's rule
		is.True(err != nil && strings.Contains(err.Error(), "spec.scale: Invalid value: replicas must not exceed max"))

		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(one), one))
		one.Annotations = map[string]string{keepAnnotation: "yes"}
		is.NoErr(c.Update(t.Context(), one))
		err = c.Delete(t.Context(), one)
		is.True(apierrors.IsForbidden(err)) // a plain error of a validator
		is.True(strings.Contains(err.Error(), "annotation web.example.com/keep protects this site"))
		one.Annotations = nil
		is.NoErr(c.Update(t.Context(), one))
		is.NoErr(c.Delete(t.Context(), one))
	})
}

// While the operator is stopped, Sites cannot be written, and cannot be read as v1. This is why a conversion webhook needs more
// than one replica.
func TestOperatorIsDown(t *testing.T) {
	inBubble(t, func(t *testing.T, is *is.I, c site) {
		stop := c.start()
		blog := &v2.Site{ObjectMeta: named("blog"), Spec: v2.SiteSpec{Image: "blog:1"}}
		is.NoErr(c.Create(t.Context(), blog))
		settle(time.Second)
		stop()

		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(blog), blog)) // as it is stored
		err := c.Get(t.Context(), client.ObjectKeyFromObject(blog), &v1.Site{})
		is.True(err != nil && strings.Contains(err.Error(),
			"conversion webhook for web.example.com/v2, Kind=Site failed"))
		blog.Spec.Image = "blog:2"
		err = c.Update(t.Context(), blog)
		is.True(err != nil && strings.Contains(err.Error(), `failed calling webhook "default.sites.web.example.com"`))
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(blog), blog))
		blog.Status.ReadyReplicas = 7
		is.NoErr(c.Status().Update(t.Context(), blog)) // the rules are about sites, not about sites/status

		c.start() // a new process
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(blog), blog))
		is.Equal(blog.Status.ReadyReplicas, int32(0)) // it has put the status right
		blog.Spec.Image = "blog:2"
		is.NoErr(c.Update(t.Context(), blog))
		settle(time.Second)
		d := &appsv1.Deployment{ObjectMeta: named("blog")}
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(d), d))
		is.Equal(d.Spec.Template.Spec.Containers[0].Image, "blog:2")
	})
}
