package builtin

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const docScale = "io.k8s.api.autoscaling.v1.Scale"

// scaleColumns are the columns of the scale of any workload.
func scaleColumns() []column {
	name := colName()
	name.format = ""
	return []column{name, colDoc("Desired", docScale+"Spec", "replicas").of("integer"),
		colDoc("Available", docScale+"Status", "replicas").of("integer"), colAge()}
}

func scaleRow(now time.Time, obj object.Object) resource.Row {
	return cells(obj.Name(), obj.Int64("spec", "replicas"), obj.Int64("status", "replicas"), cellAge(now, obj))
}
