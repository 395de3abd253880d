package kubelet

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// awaited returns the keys of the pods that wait for an object in the namespace of the commit.
func (k *Kubelet) awaited(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
	for _, name := range object.SortedKeys(k.memory.waiting[c.Namespace]) {
		keys = append(keys, controller.Key{Namespace: c.Namespace, Name: name})
	}
	return keys
}

// byNeed is a controller.Index of objects by the nodes that have a pod waiting for an object in the same namespace.
type byNeed struct{ *Nodes }

// Values implements controller.Index.
func (n byNeed) Values(c *commit.Commit) (nodes []string) {
	all := slices.SortedFunc(maps.Keys(n.waiting[c.Namespace]), func(a, b *Kubelet) int { return cmp.Compare(a.index, b.index) })
	for _, k := range all {
		nodes = append(nodes, k.node)
	}
	return nodes
}

// noteWaiting records whether the pod with the key waits for an object.
func (k *Kubelet) noteWaiting(key controller.Key) {
	p := k.memory.Pods[key.String()]
	waits := p != nil && p.isWaiting()
	switch have := k.memory.waiting[key.Namespace]; {
	case waits == have[key.Name]:
	case waits:
		k.await(key)
	default:
		delete(have, key.Name)
		if len(have) == 0 {
			delete(k.memory.waiting, key.Namespace)
			k.nodes.removeWaiting(key.Namespace, k)
		}
	}
}

// await records that a pod waits for an object.
func (k *Kubelet) await(key controller.Key) {
	if k.memory.waiting == nil {
		k.memory.waiting = map[string]map[string]bool{}
	}
	if k.memory.waiting[key.Namespace] == nil {
		k.memory.waiting[key.Namespace] = map[string]bool{}
	}
	k.memory.waiting[key.Namespace][key.Name] = true
	k.nodes.addWaiting(key.Namespace, k)
}

// addWaiting records that a kubelet has a pod that waits for an object in a namespace.
func (n *Nodes) addWaiting(namespace string, k *Kubelet) {
	if n.waiting[namespace] == nil {
		n.waiting[namespace] = map[*Kubelet]bool{}
	}
	n.waiting[namespace][k] = true
}

// removeWaiting records that a kubelet has no pod that waits for an object in a namespace.
func (n *Nodes) removeWaiting(namespace string, k *Kubelet) { delete(n.waiting[namespace], k) }

// Learn implements controller.Learner. It finds the waiting pods in a restored memory.
func (k *Kubelet) Learn(*controller.Client) {
	for key, p := range k.memory.Pods { // order does not matter
		if p.isWaiting() {
			namespace, name, _ := strings.Cut(key, "/")
			k.await(controller.Key{Namespace: namespace, Name: name})
		}
	}
}
