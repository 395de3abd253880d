package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/kubectl/rollout"
	"github.com/kubesim/kubesim/sim/object"
)

// selectorShown returns the description of a label selector (metav1.FormatLabelSelector).
func selectorShown(s map[string]any) string {
	if s == nil {
		return "<none>"
	}
	return cmp.Or(client.LabelSelector(s), "<none>")
}

// podTemplate writes a pod template.
func (d *describer) podTemplate(template object.Object) {
	d.line(0, "Pod Template:")
	if template == nil {
		d.line(1, "<unset>")
		return
	}
	d.labels(1, "Labels", template.Labels())
	if len(template.Annotations()) > 0 {
		d.annotations(1, template.Annotations())
	}
	spec := template.At("spec")
	d.given(1, "Service Account", spec.String("serviceAccountName"))
	d.containers("Init Containers", spec.Objects("initContainers"), nil, "  ")
	d.containers("Containers", spec.Objects("containers"), nil, "  ")
	d.volumes(spec.Objects("volumes"), "  ")
	d.given(1, "Priority Class Name", spec.String("priorityClassName"))
	d.labels(1, "Node-Selectors", object.StringMap(spec.Map("nodeSelector")))
	d.tolerations(1, spec)
}

// created writes the creation time of an object.
func (d *describer) created(obj object.Object) {
	d.line(0, "CreationTimestamp:\t%s", when(obj.String("metadata", "creationTimestamp")))
}

func (d *describer) deployment(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	d.created(obj)
	d.metadata(obj)
	d.line(0, "Selector:\t%s", selectorShown(spec.Map("selector")))
	d.line(0, "Replicas:\t%d desired | %d updated | %d total | %d available | %d unavailable", spec.Int64("replicas"), status.Int64("updatedReplicas"),
		status.Int64("replicas"), status.Int64("availableReplicas"), status.Int64("unavailableReplicas"))
	d.line(0, "StrategyType:\t%s\nMinReadySeconds:\t%d", spec.String("strategy", "type"), spec.Int64("minReadySeconds"))
	if ru := spec.At("strategy", "rollingUpdate"); ru != nil {
		d.line(0, "RollingUpdateStrategy:\t%s max unavailable, %s max surge", valueOr(ru, "", "maxUnavailable"), valueOr(ru, "", "maxSurge"))
	}
	d.podTemplate(spec.At("template"))
	d.shortConditions(obj)
	d.replicaSets(obj)
}

// replicaSets writes the ReplicaSets of a Deployment. The new ReplicaSet is the one with the Deployment's revision.
func (d *describer) replicaSets(obj object.Object) {
	list, err := rollout.Revisions(d, d.info)
	if d.err = err; len(list) == 0 {
		return
	}
	text := func(rs object.Object) string {
		return fmt.Sprintf("%s (%d/%d replicas created)", rs.Name(), rs.Int64("status", "replicas"), rs.Int64("spec", "replicas"))
	}
	var old []string
	newest := "<none>"
	for _, r := range list {
		if r.Object.Annotations()["deployment.kubernetes.io/revision"] == obj.Annotations()["deployment.kubernetes.io/revision"] {
			newest = text(r.Object)
		} else {
			old = append(old, text(r.Object))
		}
	}
	d.line(0, "OldReplicaSets:\t%s\nNewReplicaSet:\t%s", cmp.Or(strings.Join(old, ", "), "<none>"), newest)
}

// podCounts returns the number of pods in each phase. It counts the pods that a selector matches and obj owns.
func (d *describer) podCounts(obj object.Object, s map[string]any) string {
	pods := d.list("pods", obj.Namespace(), "labelSelector", client.LabelSelector(s))
	counts := map[string]int{}
	for _, p := range pods {
		if client.IsOwnedBy(p, obj) {
			counts[p.String("status", "phase")]++
		}
	}
	return fmt.Sprintf("%d Running / %d Waiting / %d Succeeded / %d Failed", counts["Running"], counts["Pending"], counts["Succeeded"], counts["Failed"])
}

func (d *describer) controlledBy(obj object.Object) {
	for _, ref := range obj.Objects("metadata", "ownerReferences") {
		if ref.True("controller") {
			d.line(0, "Controlled By:\t%s/%s", ref.String("kind"), ref.String("name"))
		}
	}
}

func (d *describer) replicaSet(obj object.Object) {
	spec, s := obj.At("spec"), obj.Map("spec", "selector")
	if obj.Kind() == "ReplicationController" {
		s = map[string]any{"matchLabels": s}
	}
	d.line(0, "Name:\t%s\nNamespace:\t%s\nSelector:\t%s", obj.Name(), obj.Namespace(), selectorShown(s))
	d.metadata(obj)
	d.controlledBy(obj)
	d.line(0, "Replicas:\t%d current / %d desired", obj.Int64("status", "replicas"), spec.Int64("replicas"))
	d.line(0, "Pods Status:\t%s", d.podCounts(obj, s))
	d.podTemplate(spec.At("template"))
	d.shortConditions(obj)
}

func (d *describer) shortConditions(obj object.Object) {
	conds := obj.Objects("status", "conditions")
	if len(conds) == 0 {
		return
	}
	d.line(0, "Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------")
	for _, cond := range conds {
		d.line(1, "%s \t%s\t%s", cond.String("type"), cond.String("status"), cond.String("reason"))
	}
}

func (d *describer) statefulSet(obj object.Object) {
	spec := obj.At("spec")
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	d.created(obj)
	d.line(0, "Selector:\t%s", selectorShown(spec.Map("selector")))
	d.metadata(obj)
	d.line(0, "Replicas:\t%d desired | %d total", spec.Int64("replicas"), obj.Int64("status", "replicas"))
	d.line(0, "Update Strategy:\t%s", spec.String("updateStrategy", "type"))
	if part, ok := spec.Int("updateStrategy", "rollingUpdate", "partition"); ok {
		d.line(1, "Partition:\t%d", part)
	}
	d.line(0, "Pods Status:\t%s", d.podCounts(obj, spec.Map("selector")))
	d.podTemplate(spec.At("template"))
	claims := spec.Objects("volumeClaimTemplates")
	if len(claims) == 0 {
		d.line(0, "Volume Claims:\t<none>")
		return
	}
	d.line(0, "Volume Claims:")
	for _, claim := range claims {
		d.line(1, "Name:\t%s\n  StorageClass:\t%s", claim.Name(), claim.String("spec", "storageClassName"))
		d.labels(1, "Labels", claim.Labels())
		d.annotations(1, claim.Annotations())
		d.line(1, "Capacity:\t%s", valueOr(claim, "<default>", "spec", "resources", "requests", "storage"))
		d.line(1, "Access Modes:\t%v", claim.Strings("spec", "accessModes"))
	}
}

func (d *describer) daemonSet(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.line(0, "Name:\t%s\nNamespace:\t%s\nSelector:\t%s", obj.Name(), obj.Namespace(), selectorShown(spec.Map("selector")))
	d.line(0, "Node-Selector:\t%s", printer.Pairs(object.StringMap(spec.Map("template", "spec", "nodeSelector")), "=", ","))
	d.metadata(obj)
	d.line(0, "Desired Number of Nodes Scheduled: %d", status.Int64("desiredNumberScheduled"))
	d.line(0, "Current Number of Nodes Scheduled: %d", status.Int64("currentNumberScheduled"))
	d.line(0, "Number of Nodes Scheduled with Up-to-date Pods: %d", status.Int64("updatedNumberScheduled"))
	d.line(0, "Number of Nodes Scheduled with Available Pods: %d", status.Int64("numberAvailable"))
	d.line(0, "Number of Nodes Misscheduled: %d", status.Int64("numberMisscheduled"))
	d.line(0, "Pods Status:\t%s", d.podCounts(obj, spec.Map("selector")))
	d.podTemplate(spec.At("template"))
}

func (d *describer) job(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	if s := spec.Map("selector"); s != nil {
		d.line(0, "Selector:\t%s", selectorShown(s))
	}
	d.metadata(obj)
	d.controlledBy(obj)
	if spec.Has("parallelism") {
		d.line(0, "Parallelism:\t%d", spec.Int64("parallelism"))
	}
	d.line(0, "Completions:\t%s", valueOr(spec, "<unset>", "completions"))
	for _, f := range []string{"completionMode", "suspend", "backoffLimit", "ttlSecondsAfterFinished"} {
		if spec.Has(f) {
			d.line(0, "%s:\t%s", strings.Replace(title(f), "Ttl", "TTL", 1), valueOr(spec, "", f))
		}
	}
	started, ended := status.String("startTime"), status.String("completionTime")
	if started != "" {
		d.line(0, "Start Time:\t%s", when(started))
	}
	if ended != "" {
		d.line(0, "Completed At:\t%s", when(ended))
	}
	if started != "" && ended != "" {
		from, _ := time.Parse(time.RFC3339, started)
		to, _ := time.Parse(time.RFC3339, ended)
		d.line(0, "Duration:\t%s", codec.HumanDuration(to.Sub(from)))
	}
	if n, ok := spec.Int("activeDeadlineSeconds"); ok {
		d.line(0, "Active Deadline Seconds:\t%ds", n)
	}
	ready := ""
	if n, ok := status.Int("ready"); ok {
		ready = fmt.Sprintf(" (%d Ready)", n)
	}
	d.line(0, "Pods Statuses:\t%d Active%s / %d Succeeded / %d Failed", status.Int64("active"), ready, status.Int64("succeeded"), status.Int64("failed"))
	d.podTemplate(spec.At("template"))
}

func (d *describer) cronJob(obj object.Object) {
	spec := obj.At("spec")
	d.head(obj)
	suspend := "False"
	if spec.True("suspend") {
		suspend = "True"
	}
	d.line(0, "Schedule:\t%s\nConcurrency Policy:\t%s\nSuspend:\t%s", spec.String("schedule"), spec.String("concurrencyPolicy"), suspend)
	d.line(0, "Time Zone:\t%s", valueOr(spec, "<unset>", "timeZone"))
	d.line(0, "Successful Job History Limit:\t%s", valueOr(spec, "<unset>", "successfulJobsHistoryLimit"))
	d.line(0, "Failed Job History Limit:\t%s", valueOr(spec, "<unset>", "failedJobsHistoryLimit"))
	deadline := valueOr(spec, "<unset>", "startingDeadlineSeconds")
	if spec.Has("startingDeadlineSeconds") {
		deadline += "s"
	}
	d.line(0, "Starting Deadline Seconds:\t%s", deadline)
	job := spec.At("jobTemplate", "spec")
	s := "<unset>"
	if job.Has("selector") {
		s = selectorShown(job.Map("selector"))
	}
	d.line(0, "Selector:\t%s", s)
	d.line(0, "Parallelism:\t%s\nCompletions:\t%s", valueOr(job, "<unset>", "parallelism"), valueOr(job, "<unset>", "completions"))
	if n, ok := job.Int("activeDeadlineSeconds"); ok {
		d.line(0, "Active Deadline Seconds:\t%ds", n)
	}
	d.podTemplate(job.At("template"))
	d.line(0, "Last Schedule Time:\t%s", cmp.Or(when(obj.String("status", "lastScheduleTime")), "<unset>"))
	var active []string
	for _, ref := range obj.Objects("status", "active") {
		active = append(active, ref.String("name"))
	}
	d.line(0, "Active Jobs:\t%s", cmp.Or(strings.Join(active, ", "), "<none>"))
}

func (d *describer) autoscaler(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.head(obj)
	d.created(obj)
	ref := spec.At("scaleTargetRef")
	d.line(0, "Reference:\t%s/%s\nMetrics:\t( current / target )", ref.String("kind"), ref.String("name"))
	for i, m := range spec.Objects("metrics") {
		var now object.Object
		if all := status.Objects("currentMetrics"); i < len(all) {
			now = all[i]
		}
		d.metric(m, now)
	}
	d.line(0, "Min replicas:\t%s\nMax replicas:\t%d", valueOr(spec, "<unset>", "minReplicas"), spec.Int64("maxReplicas"))
	d.line(0, "%s pods:\t%d current / %d desired", ref.String("kind"), status.Int64("currentReplicas"), status.Int64("desiredReplicas"))
	if conds := status.Objects("conditions"); len(conds) > 0 {
		d.line(0, "Conditions:\n  Type\tStatus\tReason\tMessage\n  ----\t------\t------\t-------")
		for _, cond := range conds {
			d.line(1, "%s\t%s\t%s\t%s", cond.String("type"), cond.String("status"), cond.String("reason"), cond.String("message"))
		}
	}
}

// metric writes a metric of an autoscaler with its target.
func (d *describer) metric(m, now object.Object) {
	kind := m.String("type")
	field := strings.ToLower(kind[:1]) + kind[1:]
	source, current := m.At(field), now.At(field, "current")
	target := source.At("target")
	name := cmp.Or(source.String("name"), source.String("metric", "name"))
	switch {
	case kind == "Resource" && target.Has("averageUtilization"):
		is := "<unknown>"
		if current.Has("averageUtilization") {
			is = fmt.Sprintf("%d%% (%s)", current.Int64("averageUtilization"), valueOr(current, "", "averageValue"))
		}
		d.line(1, "resource %s on pods  (as a percentage of request):\t%s / %d%%", name, is, target.Int64("averageUtilization"))
	case kind == "Resource":
		d.line(1, "resource %s on pods:\t%s / %s", name, valueOr(current, "<unknown>", "averageValue"), valueOr(target, "", "averageValue"))
	case kind == "Pods":
		d.line(1, "%q on pods:\t%s / %s", name, valueOr(current, "<unknown>", "averageValue"), valueOr(target, "", "averageValue"))
	case kind == "Object":
		about := source.At("describedObject")
		d.line(1, "%q on %s/%s (target value):\t%s / %s", name, about.String("kind"), about.String("name"), valueOr(current, "<unknown>", "value"), valueOr(target, "", "value"))
	default:
		d.line(1, "%q (target value):\t%s / %s", name, valueOr(current, "<unknown>", "value"), valueOr(target, "", "value"))
	}
}

func (d *describer) budget(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	for _, f := range []string{"minAvailable", "maxUnavailable"} {
		if spec.Has(f) {
			d.line(0, "%s:\t%s", map[string]string{"minAvailable": "Min available", "maxUnavailable": "Max unavailable"}[f], valueOr(spec, "", f))
		}
	}
	s := "<unset>"
	if spec.Has("selector") {
		s = selectorShown(spec.Map("selector"))
	}
	d.line(0, "Selector:\t%s\nStatus:", s)
	for _, row := range slices.All([][2]string{{"Allowed disruptions", "disruptionsAllowed"}, {"Current", "currentHealthy"}, {"Desired", "desiredHealthy"}, {"Total", "expectedPods"}}) {
		d.line(2, "%s:\t%d", row[0], status.Int64(row[1]))
	}
}
