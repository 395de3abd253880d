package kubectl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

const rolloutFlags = " selector|l field-manager" + printed + ofFiles

// rolloutWords are about the versions of the pods that a workload makes.
var rolloutWords = []word{
	{name: "rollout", help: "Manage the rollout of a resource", sub: []word{
		{name: "history", help: "View rollout history", run: (*call).history, flags: "revision#" + rolloutFlags},
		{name: "pause", help: "Mark the provided resource as paused", run: (*call).pause, flags: rolloutFlags},
		{name: "restart", help: "Restart a resource", run: (*call).restart, flags: rolloutFlags},
		{name: "resume", help: "Resume a paused resource", run: (*call).pause, flags: rolloutFlags},
		{name: "status", help: "Show the status of the rollout", run: (*call).rolloutStatus, flags: "revision# timeout@ watch|w?" + rolloutFlags},
		{name: "undo", help: "Undo a previous rollout", run: (*call).undo, flags: "to-revision# dry-run~" + rolloutFlags},
	}},
	{name: "wait", help: "Experimental: Wait for a specific condition on one or many resources", run: (*call).waitWord,
		flags: "for* timeout@ all-namespaces|A? local?" + selecting + printed + ofFiles},
}

// rolledOut returns the objects that a rollout command is about.
func (c *call) rolledOut() ([]*target, []error) {
	if len(c.args) == 0 && !c.given("filename") {
		return nil, []error{fmt.Errorf("required resource not specified")}
	}
	list, err := c.targets(c.args, selection{types: true})
	if err != nil {
		return nil, []error{err}
	}
	return c.objects(list)
}

// eachRollout does something with each object of a rollout command.
func (c *call) eachRollout(do func(t *target) error) error {
	found, errs := c.rolledOut()
	for _, t := range found {
		if err := do(t); err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

// patchRollout sends a patch and says what it did.
func (c *call) patchRollout(t *target, body any, done string) error {
	kind := "strategic"
	if typeOf(t.obj) == nil {
		kind = "merge"
	}
	obj, err := c.write(wire.MethodPatch, t, t.path(), patchTypes[kind], object.JSON(body), "kubectl-rollout")
	if err != nil {
		return with(err, "failed to patch")
	}
	t.obj = obj
	return c.said(t, done)
}

func (c *call) restart() error {
	return c.eachRollout(func(t *target) error {
		if !slices.Contains([]string{"Deployment", "DaemonSet", "StatefulSet"}, t.m.kind) {
			return fmt.Errorf("%s %q restarting is not supported", t.m.plural(), t.name)
		}
		if t.obj.True("spec", "paused") {
			return fmt.Errorf("%s %q can't restart paused deployment (run rollout resume first)", t.m.plural(), t.name)
		}
		now := object.Time(c.Conn.Now())
		body := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{"kubectl.kubernetes.io/restartedAt": now}}}}}
		return c.patchRollout(t, body, "restarted")
	})
}

// pause pauses and resumes.
func (c *call) pause() error {
	wanted, done := c.word.name == "pause", c.word.name+"d"
	return c.eachRollout(func(t *target) error {
		if t.m.kind != "Deployment" {
			return fmt.Errorf("%s %q pausing is not supported", t.m.plural(), t.name)
		}
		if t.obj.True("spec", "paused") == wanted {
			if wanted {
				return fmt.Errorf("%s %q is already paused", t.m.plural(), t.name)
			}
			return fmt.Errorf("%s %q is not paused", t.m.plural(), t.name)
		}
		var value any
		if wanted {
			value = true
		}
		return c.patchRollout(t, map[string]any{"spec": map[string]any{"paused": value}}, done)
	})
}

// rolloutStatus waits until a rollout is done, and says how far it is whenever that changes.
func (c *call) rolloutStatus() error {
	until := c.Conn.Now().Add(week)
	if d := c.duration("timeout", 0); d > 0 {
		until = c.Conn.Now().Add(d)
	}
	return c.eachRollout(func(t *target) error {
		status := rolloutOf(t.m.kind)
		if status == nil {
			return fmt.Errorf("no status viewer has been implemented for %s.%s/%s", t.m.kind, t.m.group, t.m.version)
		}
		said := ""
		look := func(obj object.Object) (bool, error) {
			text, done, err := status(obj)
			if err == nil && text != said {
				c.printf("%s", text)
				said = text
			}
			return done || c.off("watch"), err
		}
		err := c.awaitObject(t, until, look)
		if err != nil && c.Conn.Now().Sub(until) >= 0 {
			return fmt.Errorf("timed out waiting for the condition")
		}
		return err
	})
}

// rolloutOf returns what tells how far a rollout is (polymorphichelpers.StatusViewerFor).
func rolloutOf(kind string) func(obj object.Object) (text string, done bool, err error) {
	return map[string]func(object.Object) (string, bool, error){
		"Deployment": deploymentRollout, "DaemonSet": daemonSetRollout, "StatefulSet": statefulSetRollout}[kind]
}

func deploymentRollout(obj object.Object) (string, bool, error) {
	if obj.Generation() > obj.Int64("status", "observedGeneration") {
		return "Waiting for deployment spec update to be observed...\n", false, nil
	}
	for _, cond := range obj.Objects("status", "conditions") {
		if cond.String("type") == "Progressing" && cond.String("reason") == "ProgressDeadlineExceeded" {
			return "", false, fmt.Errorf("deployment %q exceeded its progress deadline", obj.Name())
		}
	}
	status := obj.At("status")
	wanted, updated := obj.Int64("spec", "replicas"), status.Int64("updatedReplicas")
	before := fmt.Sprintf("Waiting for deployment %q rollout to finish: ", obj.Name())
	switch {
	case updated < wanted:
		return fmt.Sprintf("%s%d out of %d new replicas have been updated...\n", before, updated, wanted), false, nil
	case status.Int64("replicas") > updated:
		return fmt.Sprintf("%s%d old replicas are pending termination...\n", before, status.Int64("replicas")-updated), false, nil
	case status.Int64("availableReplicas") < updated:
		return fmt.Sprintf("%s%d of %d updated replicas are available...\n", before, status.Int64("availableReplicas"), updated), false, nil
	}
	return fmt.Sprintf("deployment %q successfully rolled out\n", obj.Name()), true, nil
}

func daemonSetRollout(obj object.Object) (string, bool, error) {
	if obj.String("spec", "updateStrategy", "type") != "RollingUpdate" {
		return "", true, fmt.Errorf("rollout status is only available for RollingUpdate strategy type")
	}
	if obj.Generation() > obj.Int64("status", "observedGeneration") {
		return "Waiting for daemon set spec update to be observed...\n", false, nil
	}
	status := obj.At("status")
	wanted, updated := status.Int64("desiredNumberScheduled"), status.Int64("updatedNumberScheduled")
	before := fmt.Sprintf("Waiting for daemon set %q rollout to finish: ", obj.Name())
	switch {
	case updated < wanted:
		return fmt.Sprintf("%s%d out of %d new pods have been updated...\n", before, updated, wanted), false, nil
	case status.Int64("numberAvailable") < wanted:
		return fmt.Sprintf("%s%d of %d updated pods are available...\n", before, status.Int64("numberAvailable"), wanted), false, nil
	}
	return fmt.Sprintf("daemon set %q successfully rolled out\n", obj.Name()), true, nil
}

func statefulSetRollout(obj object.Object) (string, bool, error) {
	if obj.String("spec", "updateStrategy", "type") != "RollingUpdate" {
		return "", true, fmt.Errorf("rollout status is only available for RollingUpdate strategy type")
	}
	if seen := obj.Int64("status", "observedGeneration"); seen == 0 || obj.Generation() > seen {
		return "Waiting for statefulset spec update to be observed...\n", false, nil
	}
	status, wanted := obj.At("status"), obj.Int64("spec", "replicas")
	if ready := status.Int64("readyReplicas"); ready < wanted {
		return fmt.Sprintf("Waiting for %d pods to be ready...\n", wanted-ready), false, nil
	}
	updated := status.Int64("updatedReplicas")
	if part, ok := obj.Int("spec", "updateStrategy", "rollingUpdate", "partition"); ok {
		if updated < wanted-part {
			return fmt.Sprintf("Waiting for partitioned roll out to finish: %d out of %d new pods have been updated...\n", updated, wanted-part), false, nil
		}
		return fmt.Sprintf("partitioned roll out complete: %d new pods have been updated...\n", updated), true, nil
	}
	if status.String("updateRevision") != status.String("currentRevision") {
		return fmt.Sprintf("waiting for statefulset rolling update to complete %d pods at revision %s...\n", updated, status.String("updateRevision")), false, nil
	}
	return fmt.Sprintf("statefulset rolling update complete %d pods at revision %s...\n", status.Int64("currentReplicas"), status.String("currentRevision")), true, nil
}

// revision is one version of the pods of a workload.
type revision struct {
	number int64
	cause  string
	obj    object.Object // the ReplicaSet or ControllerRevision
}

// revisions returns the versions of an object, the oldest first.
func (c *call) revisions(t *target) ([]revision, error) {
	resource := "controllerrevisions.apps"
	if t.m.kind == "Deployment" {
		resource = "replicasets.apps"
	}
	m, err := c.find(resource)
	if err != nil {
		return nil, err
	}
	list, err := c.get(m.path(t.namespace, ""), query("labelSelector", selectorText(t.obj.Map("spec", "selector"))))
	if err != nil {
		return nil, err
	}
	var out []revision
	for _, obj := range list.Objects("items") {
		if !ownedBy(obj, t.obj) {
			continue
		}
		r := revision{number: obj.Int64("revision"), cause: obj.Annotations()["kubernetes.io/change-cause"], obj: obj}
		if t.m.kind == "Deployment" {
			r.number, _ = strconv.ParseInt(obj.Annotations()["deployment.kubernetes.io/revision"], 10, 64)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b revision) int { return int(a.number - b.number) })
	return out, nil
}

// selectorText prints a label selector as a parameter of a query.
func selectorText(s map[string]any) string {
	var out []string
	labels := object.Object(s).Map("matchLabels")
	for _, k := range object.SortedKeys(labels) {
		out = append(out, k+"="+fmt.Sprint(labels[k]))
	}
	for _, e := range object.Object(s).Objects("matchExpressions") {
		key, values := e.String("key"), "("+strings.Join(e.Strings("values"), ",")+")"
		out = append(out, map[string]string{"In": key + " in " + values, "NotIn": key + " notin " + values, "Exists": key,
			"DoesNotExist": "!" + key}[e.String("operator")])
	}
	return strings.Join(out, ",")
}

func ownedBy(obj, owner object.Object) bool {
	for _, ref := range obj.Objects("metadata", "ownerReferences") {
		if ref.String("uid") == owner.UID() {
			return true
		}
	}
	return false
}

// template returns the pod template of a revision.
func (r *revision) template() map[string]any {
	if t := r.obj.Map("data", "spec", "template"); t != nil {
		return t
	}
	return r.obj.Map("spec", "template")
}

func (c *call) history() error {
	return c.eachRollout(func(t *target) error {
		if !slices.Contains([]string{"Deployment", "DaemonSet", "StatefulSet"}, t.m.kind) {
			return fmt.Errorf("no history viewer has been implemented for %q", t.m.kind)
		}
		list, err := c.revisions(t)
		if err != nil {
			return err
		}
		if n := c.number("revision", 0); n > 0 {
			return c.oneRevision(t, list, n)
		}
		c.printf("%s \n", t.refer())
		rows := [][]string{{"REVISION", "CHANGE-CAUSE"}}
		for _, r := range list {
			cause := r.cause
			if cause == "" {
				cause = "<none>"
			}
			rows = append(rows, []string{fmt.Sprint(r.number), cause})
		}
		for _, line := range align(rows, 2) {
			c.printf("%s\n", line)
		}
		c.printf("\n")
		return nil
	})
}

// oneRevision prints the pod template of a revision.
func (c *call) oneRevision(t *target, list []revision, n int64) error {
	for i := range list {
		if list[i].number != n {
			continue
		}
		c.printf("%s with revision #%d\n", t.refer(), n)
		var d describer
		d.tabbed = true
		d.podTemplate(object.Object(list[i].template()))
		c.printf("%s\n", d.String())
		return nil
	}
	return fmt.Errorf("unable to find the specified revision")
}

// undo goes back to an earlier revision, the one before if none is named.
func (c *call) undo() error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	return c.eachRollout(func(t *target) error {
		if !slices.Contains([]string{"Deployment", "DaemonSet", "StatefulSet"}, t.m.kind) {
			return fmt.Errorf("no rollbacker has been implemented for %q", t.m.kind)
		}
		list, err := c.revisions(t)
		if err != nil {
			return err
		}
		if t.obj.Annotations()[lastApplied] != "" {
			c.complain("Warning: resource %s/%s was previously managed with 'kubectl apply'. Rolling back will not update the %s annotation, which may cause "+
				"unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.",
				t.m.resource, t.name, lastApplied)
		}
		r, err := back(list, c.number("to-revision", 0))
		if err != nil {
			return err
		}
		if t.obj.True("spec", "paused") {
			return fmt.Errorf("you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again")
		}
		template, _ := object.Copy(r.template()).(map[string]any)
		object.Object(template).Remove("metadata", "labels", "pod-template-hash")
		delete(template, "$patch")
		if object.SemanticEqual(template, t.obj.Map("spec", "template")) {
			c.printf("%s skipped rollback (current template already matches revision %d)\n", t.refer(), r.number)
			return nil
		}
		if c.dryRun() != dryClient {
			ops := []any{map[string]any{"op": "replace", "path": "/spec/template", "value": template}}
			q := query("fieldManager", "kubectl-rollout")
			if c.dryRun() == dryServer {
				q.Set("dryRun", "All")
			}
			if _, err := c.ask(c.request(wire.MethodPatch, t.path(), q, patchTypes["json"], object.JSON(ops))); err != nil {
				return fmt.Errorf("failed restoring revision %d: %w", r.number, err)
			}
		}
		c.printf("%s rolled back%s\n", t.refer(), c.dryRunSuffix())
		return nil
	})
}

// back returns the revision to go back to: of a number, or the one before the last.
func back(list []revision, n int64) (*revision, error) {
	if n == 0 {
		if len(list) < 2 {
			return nil, fmt.Errorf("no rollout history found for deployment")
		}
		return &list[len(list)-2], nil
	}
	for i := range list {
		if list[i].number == n {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("unable to find specified revision %d in history", n)
}
