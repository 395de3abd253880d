package ctrl

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// recording is a manager whose event recorders end with its process. The manager's own recorders end later: when it shuts
// their broadcaster down, client-go's goroutines spin until the runtime preempts each of them after 10 ms.
type recording struct {
	manager.Manager
	events record.EventBroadcaster
}

// newRecording starts an event broadcaster, which ends when ctx ends.
func newRecording(ctx context.Context, mgr manager.Manager, cfg *rest.Config) (manager.Manager, error) {
	core, err := v1.NewForConfigAndClient(cfg, mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	events := record.NewBroadcaster(record.WithContext(ctx))
	events.StartRecordingToSink(&v1.EventSinkImpl{Interface: core.Events("")})
	return recording{mgr, events}, nil
}

// GetEventRecorderFor implements recorder.Provider.
func (r recording) GetEventRecorderFor(name string) record.EventRecorder {
	return r.events.NewRecorder(r.GetScheme(), corev1.EventSource{Component: name})
}
