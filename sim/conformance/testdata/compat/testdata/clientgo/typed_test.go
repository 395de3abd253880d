package clientgo

import (
	"testing"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/kubesim/kubesim/fake"
)

func configMap(name, color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "paint"}}, Data: map[string]string{"color": color}}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}},
	}}
}

func TestTyped(t *testing.T) {
	overAll(t, func(t *testing.T, _ *fake.Server, cfg *rest.Config) {
		is, ctx := is.New(t), t.Context()
		client := kubernetes.NewForConfigOrDie(cfg)
		maps := client.CoreV1().ConfigMaps("default")

		made, err := maps.Create(ctx, configMap("a", "red"), metav1.CreateOptions{})
		is.NoErr(err)
		is.True(made.UID != "" && made.ResourceVersion != "")
		_, err = maps.Create(ctx, configMap("a", "red"), metav1.CreateOptions{})
		is.True(apierrors.IsAlreadyExists(err))
		_, err = maps.Create(ctx, configMap("A", "red"), metav1.CreateOptions{})
		is.True(apierrors.IsInvalid(err))

		newer := made.DeepCopy()
		newer.Data["color"] = "blue"
		_, err = maps.Update(ctx, newer, metav1.UpdateOptions{})
		is.NoErr(err)
		_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
		is.True(apierrors.IsConflict(err))
		is.NoErr(retry.RetryOnConflict(retry.DefaultRetry, func() error {
			_, err := maps.Update(ctx, made, metav1.UpdateOptions{})
			if err != nil {
				made, _ = maps.Get(ctx, "a", metav1.GetOptions{})
			}
			return err
		}))

		d, err := client.AppsV1().Deployments("default").Create(ctx, deployment("web"), metav1.CreateOptions{})
		is.NoErr(err)
		is.Equal(*d.Spec.Replicas, int32(1)) // a default
		d, err = client.AppsV1().Deployments("default").Patch(ctx, "web", types.StrategicMergePatchType,
			[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"busybox"}]}}}}`), metav1.PatchOptions{})
		is.NoErr(err)
		is.Equal(len(d.Spec.Template.Spec.Containers), 2)
		is.Equal(d.Generation, int64(2))
		scale, err := client.AppsV1().Deployments("default").GetScale(ctx, "web", metav1.GetOptions{})
		is.NoErr(err)
		scale.Spec.Replicas = 3
		_, err = client.AppsV1().Deployments("default").UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
		is.NoErr(err)
		d, err = client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(*d.Spec.Replicas, int32(3))
		d.Status.ObservedGeneration = d.Generation
		d, err = client.AppsV1().Deployments("default").UpdateStatus(ctx, d, metav1.UpdateOptions{})
		is.NoErr(err)
		is.Equal(d.Status.ObservedGeneration, int64(3))
	})
}

func TestListsAndWatches(t *testing.T) {
	overAll(t, func(t *testing.T, _ *fake.Server, cfg *rest.Config) {
		is, ctx := is.New(t), t.Context()
		maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
		for _, name := range []string{"a", "b", "c"} {
			_, err := maps.Create(ctx, configMap(name, "red"), metav1.CreateOptions{})
			is.NoErr(err)
		}
		page, err := maps.List(ctx, metav1.ListOptions{Limit: 2})
		is.NoErr(err)
		is.Equal(len(page.Items), 2)
		rest, err := maps.List(ctx, metav1.ListOptions{Continue: page.Continue})
		is.NoErr(err)
		is.Equal(len(rest.Items), 1)
		is.Equal(rest.ResourceVersion, page.ResourceVersion) // of one snapshot

		w, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: page.ResourceVersion, LabelSelector: "app=paint"})
		is.NoErr(err)
		defer w.Stop()
		_, err = maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"color":"blue"}}`), metav1.PatchOptions{})
		is.NoErr(err)
		_, err = maps.Patch(ctx, "b", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/labels"}]`), metav1.PatchOptions{})
		is.NoErr(err)
		is.NoErr(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=paint"}))
		for _, want := range []struct {
			kind watch.EventType
			name string
		}{{watch.Modified, "a"}, {watch.Deleted, "b"}, {watch.Deleted, "a"}, {watch.Deleted, "c"}} {
			e := <-w.ResultChan()
			is.Equal(e.Type, want.kind)
			is.Equal(e.Object.(*corev1.ConfigMap).Name, want.name)
		}
	})
}

func TestApply(t *testing.T) {
	overAll(t, func(t *testing.T, _ *fake.Server, cfg *rest.Config) {
		is, ctx := is.New(t), t.Context()
		maps := kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("default")
		mine := corev1ac.ConfigMap("a", "default").WithData(map[string]string{"color": "red"})
		_, err := maps.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "alice"})
		is.NoErr(err)
		theirs := corev1ac.ConfigMap("a", "default").WithData(map[string]string{"color": "blue"})
		_, err = maps.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "bob"})
		is.True(apierrors.IsConflict(err))
		made, err := maps.Apply(ctx, theirs, metav1.ApplyOptions{FieldManager: "bob", Force: true})
		is.NoErr(err)
		is.Equal(made.Data["color"], "blue")
		owned, err := corev1ac.ExtractConfigMap(made, "bob")
		is.NoErr(err)
		is.Equal(owned.Data["color"], "blue")
		_, err = maps.Apply(ctx, mine.WithOwnerReferences(metav1ac.OwnerReference().WithName("x")), metav1.ApplyOptions{FieldManager: "alice"})
		is.True(apierrors.IsInvalid(err) || apierrors.IsConflict(err)) // half a reference
	})
}
