package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/describe"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/kubectl/rollout"
	"github.com/kubesim/kubesim/sim/object"
)

// visitRollout calls do for each object of a rollout command.
func (c *call) visitRollout(do func(info *client.Info) error) error {
	if len(c.Args) == 0 && !c.Given("filename") && !c.Given("kustomize") {
		return fmt.Errorf("required resource not specified")
	}
	return c.visit(c.Args, client.Selection{Types: true}, do)
}

// isRolledOut reports whether a kind keeps revisions of its pod template.
func isRolledOut(kind string) bool {
	return slices.Contains([]string{"Deployment", "DaemonSet", "StatefulSet"}, kind)
}

// patchRollout patches an object and prints that done, such as "restarted", happened to it.
func (c *call) patchRollout(info *client.Info, body any, done string) error {
	kind := "strategic"
	if client.TypeOf(info.Object) == nil {
		kind = "merge"
	}
	obj, err := c.helper("kubectl-rollout").Patch(info, "", patches.ContentTypes[kind], object.JSON(body))
	if err != nil {
		return client.Wrap(err, "failed to patch")
	}
	info.Object = obj
	return c.printObj(info, done)
}

// runRolloutRestart restarts the pods of workloads by an annotation in their pod template. It returns an error if one
// is paused.
func runRolloutRestart(c *call) error {
	return c.visitRollout(func(info *client.Info) error {
		if !isRolledOut(info.Mapping.Kind) {
			return fmt.Errorf("%s %q restarting is not supported", info.Mapping.GroupResource(), info.Name)
		}
		if info.Object.True("spec", "paused") {
			return fmt.Errorf("%s %q can't restart paused deployment (run rollout resume first)", info.Mapping.GroupResource(), info.Name)
		}
		now := object.Time(c.Now())
		body := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{"kubectl.kubernetes.io/restartedAt": now}}}}}
		return c.patchRollout(info, body, "restarted")
	})
}

func runRolloutPause(c *call) error  { return pause(c, true, "paused") }
func runRolloutResume(c *call) error { return pause(c, nil, "resumed") }

// pause sets spec.paused of Deployments to value: true, or nil to remove the field. It returns an error for other
// kinds, and if spec.paused already has the value.
func pause(c *call, value any, done string) error {
	return c.visitRollout(func(info *client.Info) error {
		if info.Mapping.Kind != "Deployment" {
			return fmt.Errorf("%s %q pausing is not supported", info.Mapping.GroupResource(), info.Name)
		}
		if info.Object.True("spec", "paused") == (value != nil) {
			if value != nil {
				return fmt.Errorf("%s %q is already paused", info.Mapping.GroupResource(), info.Name)
			}
			return fmt.Errorf("%s %q is not paused", info.Mapping.GroupResource(), info.Name)
		}
		return c.patchRollout(info, map[string]any{"spec": map[string]any{"paused": value}}, done)
	})
}

// runRolloutStatus waits until a rollout is complete. It prints the progress whenever it changes. It returns an error
// when --timeout has passed.
func runRolloutStatus(c *call) error {
	until := c.until()
	return c.visitRollout(func(info *client.Info) error {
		status := rollout.StatusViewerFor(info.Mapping.Kind)
		if status == nil {
			return fmt.Errorf("no status viewer has been implemented for %s", strings.TrimSuffix(info.Mapping.Kind+"."+info.Mapping.Group, "."))
		}
		said := ""
		wanted := c.Number("revision", 0)
		look := func(obj object.Object) (bool, error) {
			is, _ := strconv.ParseInt(obj.Annotations()["deployment.kubernetes.io/revision"], 10, 64)
			if wanted > 0 && wanted != is && info.Mapping.Kind == "Deployment" {
				return false, fmt.Errorf("desired revision (%d) is different from the running revision (%d)", wanted, is)
			}
			text, done, err := status(obj)
			if err == nil && text != said {
				c.Printf("%s", text)
				said = text
			}
			return done || c.Off("watch"), err
		}
		err := c.Await(info, until, look)
		if err != nil && c.Now().Sub(until) >= 0 {
			return fmt.Errorf("timed out waiting for the condition")
		}
		return err
	})
}

// runRolloutHistory prints the revisions of workloads.
func runRolloutHistory(c *call) error {
	return c.visitRollout(func(info *client.Info) error {
		if !isRolledOut(info.Mapping.Kind) {
			return unsupported(info.Mapping, "history", "history viewer")
		}
		list, err := rollout.Revisions(c, info)
		if err != nil {
			return err
		}
		n := c.Number("revision", 0)
		if c.Given("output") {
			return c.printRevisions(info, list, n)
		}
		if n > 0 {
			return c.printRevision(info, list, n)
		}
		c.Printf("%s \n", info.Refer())
		rows := [][]string{{"REVISION", "CHANGE-CAUSE"}}
		for _, r := range list {
			rows = append(rows, []string{fmt.Sprint(r.Number), cmp.Or(r.Cause, "<none>")})
		}
		for _, line := range printer.Align(rows, 2) {
			c.Printf("%s\n", line)
		}
		c.Printf("\n")
		return nil
	})
}

// printRevision prints the pod template of revision n. It returns an error if there is no such revision.
func (c *call) printRevision(info *client.Info, list []rollout.Revision, n int64) error {
	at := slices.IndexFunc(list, func(r rollout.Revision) bool { return r.Number == n })
	if at < 0 {
		return fmt.Errorf("unable to find the specified revision")
	}
	template := object.Copy(list[at].Template()).(map[string]any)
	if cause := list[at].Cause; cause != "" && info.Mapping.Kind == "Deployment" {
		object.Object(template).Set(cause, "metadata", "annotations", changeCause)
	}
	c.Printf("%s with revision #%d\n%s\n", info.Refer(), n, describe.PodTemplate(template))
	return nil
}

// printRevisions prints revision n, or all revisions if n is 0, in the format of --output. A revision of a Deployment is its
// ReplicaSet; a revision of any other workload is the workload with the pod template of the revision.
func (c *call) printRevisions(info *client.Info, list []rollout.Revision, n int64) error {
	found := n == 0
	for _, r := range list {
		if n > 0 && r.Number != n {
			continue
		}
		found = true
		one := *info
		if info.Mapping.Kind == "Deployment" {
			m, err := c.Find("replicasets.apps")
			if err != nil {
				return err
			}
			one.Mapping, one.Name, one.Object = m, r.Object.Name(), r.Object
			m.Default(one.Object)
		} else {
			one.Object = info.Object.Copy()
			template := object.Copy(r.Template()).(map[string]any)
			delete(template, "$patch")
			one.Object.Set(template, "spec", "template")
		}
		if err := c.printObj(&one, ""); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("unable to find the specified revision")
	}
	return nil
}

// visited lists the other kinds that kubectl rollout knows (apps.KindVisitor).
var visited = strings.Fields("Job.batch CronJob.batch Pod ReplicationController ReplicaSet.apps")

// unsupported returns the error for a kind without revisions.
func unsupported(m *client.Mapping, noun, viewer string) error {
	kind := client.JoinGroup(m.Kind, m.Group)
	if !slices.Contains(visited, kind) {
		return fmt.Errorf("error retrieving %s for %q, no visitor method exists for {%s %s}", noun, kind, m.Group, m.Kind)
	}
	return fmt.Errorf("no %s has been implemented for %q", viewer, kind)
}

// runRolloutUndo rolls back to an earlier revision, by default the previous one. It returns an error if the Deployment
// is paused.
func runRolloutUndo(c *call) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	return c.visitRollout(func(info *client.Info) error {
		if info.Object.Annotations()[patches.LastApplied] != "" {
			c.Complain("Warning: resource %s/%s was previously managed with 'kubectl apply'. Rolling back will not update the %s annotation, which may cause "+
				"unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.",
				info.Mapping.Resource, info.Name, patches.LastApplied)
		}
		if !isRolledOut(info.Mapping.Kind) {
			return unsupported(info.Mapping, "rollbacker", "rollbacker")
		}
		list, err := rollout.Revisions(c, info)
		if err != nil {
			return err
		}
		r, err := rollout.Earlier(info.Object, list, c.Number("to-revision", 0))
		if err != nil {
			return err
		}
		if c.dryRun() == dryClient {
			return c.printObj(info, describe.PodTemplate(r.Template()))
		}
		if info.Object.True("spec", "paused") {
			return fmt.Errorf("you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again")
		}
		template, _ := object.Copy(r.Template()).(map[string]any)
		object.Object(template).Remove("metadata", "labels", "pod-template-hash")
		delete(template, "$patch")
		if object.SemanticEqual(template, info.Object.Map("spec", "template")) {
			return c.printObj(info, fmt.Sprintf("skipped rollback (current template already matches revision %d)", r.Number))
		}
		ops := []any{map[string]any{"op": "replace", "path": "/spec/template", "value": template}}
		if _, err := c.helper("kubectl-rollout").Patch(info, "", patches.ContentTypes["json"], object.JSON(ops)); err != nil {
			return fmt.Errorf("failed restoring revision %d: %w", r.Number, err)
		}
		return c.printObj(info, "rolled back")
	})
}
