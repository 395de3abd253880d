package builtin

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// plainStatus are the resources whose status subresource never answers with a Table, unlike that of all others.
var plainStatus = map[string]bool{
	"apiservices.apiregistration.k8s.io":             true,
	"customresourcedefinitions.apiextensions.k8s.io": true,
	"devicetaintrules.resource.k8s.io":               true,
	"podgroups.scheduling.k8s.io":                    true,
	"resourceclaims.resource.k8s.io":                 true,
	"resourcepoolstatusrequests.resource.k8s.io":     true,
}

// noTable reports whether a subresource never answers with a Table. Of subresources only status and scale do.
func noTable(storage, subresource string) bool {
	return subresource == "status" && plainStatus[storage] || subresource != "status" && subresource != "scale"
}

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
