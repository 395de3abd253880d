//go:build page

package kubelet

import "github.com/kubesim/kubesim/sim/controller"

// This build, for the web page, omits the controller that attaches volumes because of its size. Volumes need not be attached there.

func attaches([]string) bool { return false }

func (k *Kubelet) attachWatches() []controller.Watch { return nil }

func (w *worker) attach() bool { return true }

func (k *Kubelet) unmount(*controller.Client, *pod) {}
