package table

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const docScale = "io.k8s.api.autoscaling.v1.Scale"

// ScaleColumns are the columns of the scale of any workload.
func ScaleColumns() []Column {
	name := Name()
	name.Format = ""
	return []Column{name, Doc("Desired", docScale+"Spec", "replicas").Of("integer"),
		Doc("Available", docScale+"Status", "replicas").Of("integer"), Age()}
}

// ScaleRow is the row of the scale of any workload.
func ScaleRow(now time.Time, obj object.Object) resource.Row {
	return Row(obj.Name(), obj.Int64("spec", "replicas"), obj.Int64("status", "replicas"), AgeCell(now, obj))
}
