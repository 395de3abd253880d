package fakes

import (
	"testing"

	"github.com/matryer/is"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/fake"
)

// controllerClient returns a controller-runtime client.
func (s *server) controllerClient() client.WithWatch {
	s.t.Helper()
	c, err := client.NewWithWatch(s.config, client.Options{})
	is.New(s.t).NoErr(err)
	return c
}

// in sets the namespace of an object to default.
func in[T client.Object](object T) T {
	object.SetNamespace("default")
	return object
}

func TestControllerRuntimeReadsAndWatches(t *testing.T) {
	each(t, []probe{
		// resourceVersion is empty, and the limit is ignored.
		{"list with a limit", func(is *is.I, s *server) {
			s.mustCreate("a")
			s.mustCreate("b")
			list := &corev1.ConfigMapList{}
			is.NoErr(s.controllerClient().List(s.ctx, list, client.InNamespace("default"), client.Limit(1)))
			is.Equal(len(list.Items), 1)
			is.True(list.ResourceVersion != "")
			is.True(list.Continue != "")
		}},
		// Fails unless an index is registered.
		{"list with a field selector", func(is *is.I, s *server) {
			s.mustCreatePod("a")
			s.mustCreatePod("b", func(p *corev1.Pod) { p.Spec.NodeName = "node-1" })
			list := &corev1.PodList{}
			is.NoErr(s.controllerClient().List(s.ctx, list, client.MatchingFields{"spec.nodeName": "node-1"}))
			is.Equal(len(list.Items), 1)
		}},
		// The options are ignored: there is no selector and no resourceVersion, and objects that were created after the list are
		// missing.
		{"watch with options", func(is *is.I, s *server) {
			c := s.controllerClient()
			list := &corev1.ConfigMapList{}
			is.NoErr(c.List(s.ctx, list, client.InNamespace("default")))
			s.mustCreate("other", labelled("blue"))
			s.mustCreate("a", labelled("red"))
			w, err := c.Watch(s.ctx, &corev1.ConfigMapList{}, &client.ListOptions{
				Namespace: "default", Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "color=red"},
			})
			is.NoErr(err)
			defer w.Stop()
			event := <-w.ResultChan()
			is.Equal(event.Type, watch.Added)
			is.Equal(event.Object.(*corev1.ConfigMap).Name, "a")
		}},
	})
}

func TestControllerRuntimeWrites(t *testing.T) {
	each(t, []probe{
		// Every object has uid "", resourceVersion "1", no creationTimestamp, and generation 0.
		{"create", func(is *is.I, s *server) {
			c := s.controllerClient()
			first, second := in(pod("a")), in(pod("b"))
			is.NoErr(c.Create(s.ctx, first))
			is.NoErr(c.Create(s.ctx, second))
			is.True(first.UID != "")
			is.True(!first.CreationTimestamp.IsZero())
			is.Equal(first.Generation, int64(1))
			is.True(first.ResourceVersion != second.ResourceVersion) // one history
		}},
		// Returns nil without doing anything: the result has no defaults, uid or resourceVersion.
		{"create with dryRun", func(is *is.I, s *server) {
			c := s.controllerClient()
			p := in(pod("a"))
			is.NoErr(c.Create(s.ctx, p, client.DryRunAll))
			is.True(p.UID != "")
			is.Equal(p.Spec.RestartPolicy, corev1.RestartPolicyAlways)
			is.True(apierrors.IsNotFound(c.Get(s.ctx, client.ObjectKeyFromObject(p), p)))
		}},
		// Accepted.
		{"create in a namespace that does not exist", func(is *is.I, s *server) {
			p := pod("a")
			p.Namespace = "missing"
			is.True(apierrors.IsNotFound(s.controllerClient().Create(s.ctx, p)))
		}},
		// Accepted.
		{"create an invalid object", func(is *is.I, s *server) {
			p := in(pod("a"))
			p.Spec.Containers[0].Name = ""
			is.True(apierrors.IsInvalid(s.controllerClient().Create(s.ctx, p)))
		}},
		// stringData is not merged into data.
		{"create a secret with stringData", func(is *is.I, s *server) {
			secret := in(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"key": "hidden"}})
			is.NoErr(s.controllerClient().Create(s.ctx, secret))
			is.Equal(string(secret.Data["key"]), "hidden")
			is.Equal(len(secret.StringData), 0) // it can only be written
		}},
		// resourceVersion changes from 1 to 2.
		{"update without a change", func(is *is.I, s *server) {
			c := s.mustCreate("a")
			before := c.ResourceVersion
			is.NoErr(s.controllerClient().Update(s.ctx, c))
			is.Equal(c.ResourceVersion, before) // nothing was written
		}},
		// The fake behaves correctly.
		{"update with an old resourceVersion", func(is *is.I, s *server) {
			old := s.mustCreate("a")
			changed := old.DeepCopy()
			changed.Data["key"] = "2"
			is.NoErr(s.controllerClient().Update(s.ctx, changed))
			old.Data["key"] = "3"
			is.True(apierrors.IsConflict(s.controllerClient().Update(s.ctx, old)))
		}},
		// The fake supports all types except CBOR.
		{"patch", func(is *is.I, s *server) {
			c, p := s.controllerClient(), s.mustCreatePod("a")
			is.NoErr(c.Patch(s.ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"1"}}}`))))
			is.NoErr(c.Patch(s.ctx, p, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/labels/b","value":"2"}]`))))
			is.NoErr(c.Patch(s.ctx, p, client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"main","image":"new"}]}}`))))
			is.Equal(p.Labels, map[string]string{"a": "1", "b": "2"})
			is.Equal(p.Spec.Containers[0].Image, "new")
			is.Equal(p.Generation, int64(2)) // only the last one changed the spec
		}},
	})
}

func TestControllerRuntimeDeletes(t *testing.T) {
	each(t, []probe{
		// The uid is ignored, but not the resourceVersion.
		{"delete with preconditions", func(is *is.I, s *server) {
			c, object := s.controllerClient(), s.mustCreate("a")
			uid, version := types.UID("00000000-0000-0000-0000-000000000000"), "1"
			is.True(apierrors.IsConflict(c.Delete(s.ctx, object, client.Preconditions{UID: &uid})))
			is.True(apierrors.IsConflict(c.Delete(s.ctx, object, client.Preconditions{ResourceVersion: &version})))
			is.NoErr(c.Delete(s.ctx, object, client.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}))
		}},
		// The pod is removed at once: the grace period is ignored.
		{"delete a pod on a node", func(is *is.I, s *server) {
			c := s.controllerClient()
			p := s.mustCreatePod("a", func(p *corev1.Pod) { p.Spec.NodeName = "node-1" })
			is.NoErr(c.Delete(s.ctx, p))
			is.NoErr(c.Get(s.ctx, client.ObjectKeyFromObject(p), p))
			is.Equal(*p.DeletionGracePeriodSeconds, int64(30))         // its kubelet has that long to end it
			is.NoErr(c.Delete(s.ctx, p, client.GracePeriodSeconds(0))) // and then does this
			is.True(apierrors.IsNotFound(c.Get(s.ctx, client.ObjectKeyFromObject(p), p)))
		}},
		// Both work, but the names are random.
		{"deleteAllOf and generateName", func(is *is.I, s *server) {
			var names [2]string
			for n := range names {
				seeded := start(s.t, fake.Options{Seed: 7})
				c, p := seeded.controllerClient(), in(pod(""))
				p.GenerateName = "web-"
				is.NoErr(c.Create(s.ctx, p))
				names[n] = p.Name
				is.NoErr(c.DeleteAllOf(s.ctx, &corev1.Pod{}, client.InNamespace("default")))
				is.True(apierrors.IsNotFound(c.Get(s.ctx, client.ObjectKeyFromObject(p), p)))
			}
			is.Equal(names[0], names[1]) // the seed decides
		}},
	})
}

func TestControllerRuntimeSubresources(t *testing.T) {
	each(t, []probe{
		// Works for in-tree kinds and kinds passed to WithStatusSubresource.
		{"status", func(is *is.I, s *server) {
			c, p := s.controllerClient(), s.mustCreatePod("a")
			p.Status.Phase, p.Labels = corev1.PodRunning, map[string]string{"a": "b"}
			is.NoErr(c.Status().Update(s.ctx, p))
			is.Equal(p.Status.Phase, corev1.PodRunning)
			is.Equal(p.Generation, int64(1))
		}},
		// Works for four kinds.
		{"scale", func(is *is.I, s *server) {
			c, d := s.controllerClient(), in(deployment("web"))
			is.NoErr(c.Create(s.ctx, d))
			scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
			is.NoErr(c.SubResource("scale").Update(s.ctx, d, client.WithSubResourceBody(scale)))
			is.NoErr(c.Get(s.ctx, client.ObjectKeyFromObject(d), d))
			is.Equal(*d.Spec.Replicas, int32(3))
		}},
		// The pod is deleted, regardless of PodDisruptionBudgets.
		{"eviction", func(is *is.I, s *server) {
			c, p := s.controllerClient(), s.mustCreatePod("a")
			is.NoErr(c.SubResource("eviction").Create(s.ctx, p, &policyv1.Eviction{}))
			is.True(apierrors.IsNotFound(c.Get(s.ctx, client.ObjectKeyFromObject(p), p)))
		}},
		// Fails with "does not support create for binding".
		{"binding", func(is *is.I, s *server) {
			c, p := s.controllerClient(), s.mustCreatePod("a")
			is.NoErr(c.SubResource("binding").Create(s.ctx, p, &corev1.Binding{Target: corev1.ObjectReference{Name: "node-1"}}))
			is.NoErr(c.Get(s.ctx, client.ObjectKeyFromObject(p), p))
			is.Equal(p.Spec.NodeName, "node-1")
		}},
		// The token is always "fake-token".
		{"token", func(is *is.I, s *server) {
			c := s.controllerClient()
			account := in(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
			is.NoErr(c.Create(s.ctx, account))
			request := &authenticationv1.TokenRequest{}
			is.NoErr(c.SubResource("token").Create(s.ctx, account, request))
			is.True(request.Status.Token != "")
			is.True(!request.Status.ExpirationTimestamp.IsZero())
		}},
	})
}
