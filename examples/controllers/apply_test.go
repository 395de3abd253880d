package controllers

import (
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/fake"
)

// With client.Apply of controller-runtime a controller sends only the fields that it sets.
func TestClientApplies(t *testing.T) {
	is := is.New(t)
	c, err := client.New(config(fake.RunT(t)), client.Options{})
	is.NoErr(err)
	want := func(value string) *corev1apply.ConfigMapApplyConfiguration {
		return corev1apply.ConfigMap("settings", "default").WithData(map[string]string{"color": value})
	}
	applied := want("red")
	is.NoErr(c.Apply(t.Context(), applied, client.FieldOwner("a")))
	is.True(applied.UID != nil) // the answer is read into the configuration

	got := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: "default", Name: "settings"}
	is.NoErr(c.Get(t.Context(), key, got))
	is.NoErr(c.Apply(t.Context(), want("red"), client.FieldOwner("a")))
	again := &corev1.ConfigMap{}
	is.NoErr(c.Get(t.Context(), key, again))
	is.Equal(again.ResourceVersion, got.ResourceVersion) // an apply that changes nothing writes nothing

	is.True(apierrors.IsConflict(c.Apply(t.Context(), want("blue"), client.FieldOwner("b")))) // it belongs to a
	is.NoErr(c.Apply(t.Context(), want("blue"), client.FieldOwner("b"), client.ForceOwnership))
	is.NoErr(c.Get(t.Context(), key, got))
	is.Equal(got.Data["color"], "blue") // b has taken it
}
