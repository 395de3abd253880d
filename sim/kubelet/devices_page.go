//go:build page

package kubelet

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// This build, for the web page, omits dynamic resource allocation because of its size. No scheduler binds pods with claims there.

func (k *Kubelet) deviceWatches() []controller.Watch { return nil }

func (w *worker) prepareDevices() bool { return true }

func (w *worker) setDevices(*container, object.Object) {}
