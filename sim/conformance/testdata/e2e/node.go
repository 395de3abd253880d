package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// nodes simulates the kubelets of some nodes as seen through the API: each node is Ready and renews its lease, and its pods run, end and
// are removed. There are no containers, so exec, logs and connections do not work.
type nodes struct {
	client kubernetes.Interface
	names  []string
	pods   cache.SharedIndexInformer
	queue  workqueue.TypedRateLimitingInterface[string]

	mu    sync.Mutex
	ips   int                   // pod addresses given so far
	runs  map[types.UID]running // pods that were started
	files map[string]bool       // that pods have left on volumes
}

// running is a pod that was started.
type running struct {
	fate
	since time.Time
}

// termination is the maximal time that a deleted pod takes to end; its grace period may be shorter.
const termination = time.Second

// makeClass makes a default StorageClass, for which kubesim's own controllers provide volumes.
func makeClass(ctx context.Context, client kubernetes.Interface) error {
	class := &storage.StorageClass{ObjectMeta: meta.ObjectMeta{Name: "standard", Annotations: map[string]string{
		"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "csi.kubesim.io"}
	_, err := client.StorageV1().StorageClasses().Create(ctx, class, meta.CreateOptions{})
	return err
}

// startNodes makes count nodes and plays them until the end of ctx.
func startNodes(ctx context.Context, client kubernetes.Interface, count int) error {
	n := &nodes{client: client, runs: map[types.UID]running{}, files: map[string]bool{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	for i := range count {
		name := fmt.Sprintf("node-%d", i+1)
		if err := n.register(ctx, name, i+1); err != nil {
			return err
		}
		n.names = append(n.names, name)
		go n.renew(ctx, name)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	n.pods = factory.Core().V1().Pods().Informer()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			n.queue.Add(key)
		}
	}
	n.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }})
	factory.Start(ctx.Done())
	for range 4 {
		go n.work(ctx)
	}
	context.AfterFunc(ctx, n.queue.ShutDown)
	return nil
}

// register makes a node and reports it Ready.
func (n *nodes) register(ctx context.Context, name string, number int) error {
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{
		core.LabelHostname: name, core.LabelOSStable: "linux", core.LabelArchStable: "amd64"}}}
	node, err := n.client.CoreV1().Nodes().Create(ctx, node, meta.CreateOptions{})
	if err != nil {
		return err
	}
	amount := core.ResourceList{core.ResourceCPU: resource.MustParse("32"), core.ResourceMemory: resource.MustParse("128Gi"),
		core.ResourcePods: resource.MustParse("250"), core.ResourceEphemeralStorage: resource.MustParse("500Gi")}
	node.Status = core.NodeStatus{Capacity: amount, Allocatable: amount,
		Addresses: []core.NodeAddress{{Type: core.NodeInternalIP, Address: fmt.Sprintf("172.30.0.%d", number)},
			{Type: core.NodeHostName, Address: name}},
		NodeInfo: core.NodeSystemInfo{KubeletVersion: version, OperatingSystem: "linux", Architecture: "amd64",
			ContainerRuntimeVersion: "none://1", KernelVersion: "6.0", OSImage: "none"}}
	for _, kind := range []core.NodeConditionType{core.NodeReady, core.NodeMemoryPressure, core.NodeDiskPressure, core.NodePIDPressure} {
		state := core.ConditionFalse
		if kind == core.NodeReady {
			state = core.ConditionTrue
		}
		node.Status.Conditions = append(node.Status.Conditions, core.NodeCondition{Type: kind, Status: state, Reason: "Played",
			LastHeartbeatTime: meta.Now(), LastTransitionTime: meta.Now()})
	}
	if _, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, node, meta.UpdateOptions{}); err != nil {
		return err
	}
	lease := &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: core.NamespaceNodeLease,
		OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}}},
		Spec: coordination.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: new(int32(40)), RenewTime: new(meta.NowMicro())}}
	_, err = n.client.CoordinationV1().Leases(core.NamespaceNodeLease).Create(ctx, lease, meta.CreateOptions{})
	return err
}

// renew keeps a node's lease alive.
func (n *nodes) renew(ctx context.Context, name string) {
	leases := n.client.CoordinationV1().Leases(core.NamespaceNodeLease)
	for wait(ctx, 10*time.Second) {
		lease, err := leases.Get(ctx, name, meta.GetOptions{})
		if err == nil {
			lease.Spec.RenewTime = new(meta.NowMicro())
			_, err = leases.Update(ctx, lease, meta.UpdateOptions{})
		}
		if err != nil && ctx.Err() == nil {
			fmt.Println("node: lease", name, err)
		}
	}
}

func (n *nodes) work(ctx context.Context) {
	for {
		key, over := n.queue.Get()
		if over {
			return
		}
		after, err := n.play(ctx, key)
		switch {
		case err != nil && !errors.IsNotFound(err) && !errors.IsConflict(err) && ctx.Err() == nil:
			fmt.Println("node: pod", key, err)
			fallthrough
		case errors.IsConflict(err):
			n.queue.AddRateLimited(key)
		default:
			n.queue.Forget(key)
			if after > 0 {
				n.queue.AddAfter(key, after)
			}
		}
		n.queue.Done(key)
	}
}

// play advances one pod by a step. It returns the time until the next step, or 0 if the pod has to change first.
func (n *nodes) play(ctx context.Context, key string) (time.Duration, error) {
	obj, ok, err := n.pods.GetStore().GetByKey(key)
	if err != nil || !ok {
		return 0, err
	}
	pod := obj.(*core.Pod).DeepCopy()
	if !has(n.names, pod.Spec.NodeName) {
		return 0, nil
	}
	over := pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed
	switch {
	case pod.DeletionTimestamp != nil:
		return n.end(ctx, pod, over)
	case over || pod.Status.Phase == core.PodPending && absent(pod) && pod.Status.ObservedGeneration == pod.Generation:
		return 0, nil
	case pod.Status.Phase == core.PodPending:
		n.start(pod, true)
	default:
		if left, changed := n.goOn(pod); !changed {
			return left, nil
		}
	}
	_, err = n.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, meta.UpdateOptions{})
	return 0, err // its update comes back here
}

// start marks a pod as running and decides the fate of its containers.
func (n *nodes) start(pod *core.Pod, first bool) {
	f := running{n.fate(pod), time.Now()}
	n.mu.Lock()
	n.runs[pod.UID] = f
	n.ips++
	ip := fmt.Sprintf("10.244.%d.%d", n.ips/250%250, n.ips%250+1)
	n.mu.Unlock()
	if first {
		begin(pod, ip)
	}
}

// goOn advances a running pod. It reports whether its status has changed, and otherwise when to check it again.
func (n *nodes) goOn(pod *core.Pod) (again time.Duration, changed bool) {
	over, again := deadline(pod)
	if over {
		finish(pod, 137)
		pod.Status.Reason, pod.Status.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
		return 0, true
	}
	n.mu.Lock()
	f := n.runs[pod.UID]
	n.mu.Unlock()
	left := time.Until(f.since.Add(f.in))
	if !f.ends || left > 0 {
		if f.ends {
			again = sooner(left, again)
		}
		return sooner(again, delay(pod)), observe(pod)
	}
	if restart(pod, f.exit) {
		n.start(pod, false)
		return 0, true
	}
	finish(pod, f.exit)
	return 0, true
}

// end removes a deleted pod: first its containers end, then the pod is deleted.
func (n *nodes) end(ctx context.Context, pod *core.Pod, over bool) (time.Duration, error) {
	pods := n.client.CoreV1().Pods(pod.Namespace)
	grace := time.Duration(*cmp.Or(pod.DeletionGracePeriodSeconds, new(int64))) * time.Second
	deleted := pod.DeletionTimestamp.Add(-grace)
	if left := time.Until(deleted.Add(min(grace, termination))); left > 0 {
		return left, nil
	}
	if !over && pod.Status.Phase == core.PodRunning {
		finish(pod, 137)
		_, err := pods.UpdateStatus(ctx, pod, meta.UpdateOptions{})
		return 0, err // its update comes back here
	}
	n.mu.Lock()
	delete(n.runs, pod.UID)
	n.mu.Unlock()
	now := meta.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: meta.NewUIDPreconditions(string(pod.UID))}
	return 0, pods.Delete(ctx, pod.Name, now)
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// wait waits and reports whether ctx still lasts.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
