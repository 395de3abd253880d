package volume

import (
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// These annotations of a CSIDriver script its attacher. Without them, an attacher answers at once.
const (
	attachTime  = "kubesim.io/attach-time"  // time that attaching a volume takes, such as 5s
	attachError = "kubesim.io/attach-error" // error with which attaching fails
)

// Attachers is the name of the controller that simulates the attachers of CSI drivers.
const Attachers = "volume-attacher"

// Attacher simulates the sidecar external-attacher of every CSI driver: it reports in the status of VolumeAttachments that their volumes
// are attached. A cluster in which real attachers run excludes it (--controllers=*,-volume-attacher).
func Attacher() controller.Controller {
	return controller.Controller{Name: Attachers, FieldManager: "csi-attacher", Component: "csi-attacher",
		User: resource.User{Name: "system:serviceaccount:kube-system:volume-attacher", Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}},
		Watches: []controller.Watch{{Resource: attachments}, {Resource: drivers}},
		Reconciler: controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			x := api.Get(attachments, "", key.Name)
			if x == nil { // the key may be that of a driver
				return 0, answerAll(api, key.Name)
			}
			return answer(api, x)
		})}
}

// answerAll answers the attachments of a driver whose script may have changed.
func answerAll(api *controller.Client, driver string) *status.Status {
	for _, x := range api.All(attachments, "") {
		if x.String("spec", "attacher") == driver {
			api.Enqueue(controller.Key{Name: x.Name()})
		}
	}
	return nil
}

// answer sets the status of an attachment as the script of its driver says. It returns the time to wait if that is too early.
func answer(api *controller.Client, x object.Object) (wait time.Duration, failed *status.Status) {
	if x.True("status", "attached") || x.DeletionTimestamp() != "" {
		return 0, nil
	}
	script := api.GetShared(drivers, "", x.String("spec", "attacher")).Annotations()
	why := script[attachError]
	if text := script[attachTime]; text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			why = "annotation " + attachTime + " of the CSIDriver: " + err.Error()
		}
		made, _ := time.Parse(time.RFC3339, x.String("metadata", "creationTimestamp"))
		if left := made.Add(d).Sub(api.Now()); left > 0 {
			return left, nil
		}
	}
	if why != "" && x.String("status", "attachError", "message") == why {
		return 0, nil
	}
	status := map[string]any{"attached": why == ""}
	if why != "" {
		status["attachError"] = map[string]any{"message": why, "time": object.Time(api.Now())}
	}
	x["status"] = status
	_, failed = api.Update(attachments, "status", x)
	return 0, failed
}
