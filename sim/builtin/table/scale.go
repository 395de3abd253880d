package table

const docScale = "io.k8s.api.autoscaling.v1.Scale"

// ScaleColumns are the columns of the scale of any workload.
func ScaleColumns() []Column {
	name := Name()
	name.Format = ""
	return []Column{name, Doc("Desired", docScale+"Spec", "replicas").Int("spec", "replicas"),
		Doc("Available", docScale+"Status", "replicas").Int("status", "replicas"), Age()}
}
