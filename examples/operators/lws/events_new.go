//go:build events

package lws

import (
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// recorder returns the recorder of events that the controllers from v0.9 on need.
func recorder(mgr manager.Manager, name string) events.EventRecorder {
	return mgr.GetEventRecorder(name)
}
