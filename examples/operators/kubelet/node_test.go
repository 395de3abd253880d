package kubelet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// container is a container that runs on a node. There is one for each pod.
type container struct{ node, pod, uid string }

// machines has the containers of all nodes. They outlive a crash of their kubelet.
type machines struct {
	mu      sync.Mutex
	running []container
	twice   string // describes the first two containers that ran at once for pods of one name; or empty
}

// start starts a container if it does not run.
func (m *machines) start(c container) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.running, c) {
		return
	}
	for _, other := range m.running {
		if other.pod == c.pod && m.twice == "" {
			m.twice = fmt.Sprintf("two pods %s run at once: on nodes %s and %s", c.pod, other.node, c.node)
		}
	}
	m.running = append(m.running, c)
}

// stop stops the containers of a node that are not in the list.
func (m *machines) stop(node string, keep []container) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = slices.DeleteFunc(m.running, func(c container) bool { return c.node == node && !slices.Contains(keep, c) })
}

// kubelet runs the pods of one node.
type kubelet struct {
	node   string
	client kubernetes.Interface
	*machines
}

// run lists and watches the pods of the node, and synchronizes the containers with them every second.
func (k *kubelet) run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", k.node).String()
	}))
	pods := factory.Core().V1().Pods()
	known := pods.Informer().HasSynced
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), known) {
		return nil
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		list, err := pods.Lister().List(labels.Everything())
		if err != nil {
			return
		}
		slices.SortFunc(list, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
		k.sync(ctx, list)
	}, time.Second)
	return nil
}

// sync stops the containers of pods that are gone or terminate, reports that they have ended, and starts those of the other pods. It tries
// failed requests again a second later.
func (k *kubelet) sync(ctx context.Context, pods []*corev1.Pod) {
	var keep []container
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			keep = append(keep, container{k.node, pod.Name, string(pod.UID)})
		}
	}
	k.stop(k.node, keep)
	client := k.client.CoreV1()
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			now := int64(0)
			_ = client.Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
			continue
		}
		k.start(container{k.node, pod.Name, string(pod.UID)})
		if pod = pod.DeepCopy(); pod.Status.Phase != corev1.PodRunning {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
			_, _ = client.Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		}
	}
}
