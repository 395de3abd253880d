package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// nodesNamed returns the nodes that the arguments or --selector name, and an error for each one that does not exist.
func (c *call) nodesNamed() ([]*client.Info, []error) {
	if len(c.Args) == 0 && !c.Given("selector") {
		return nil, []error{c.usage("USAGE: %s NODE [flags]", c.verb.name)}
	}
	if len(c.Args) > 0 && c.Text("selector") != "" {
		return nil, []error{c.usage("cannot specify both a node name and a --selector option")}
	}
	m, err := c.Find("nodes")
	if err != nil {
		return nil, []error{err}
	}
	if len(c.Args) == 0 {
		found, err := c.Listed(&client.Info{Mapping: m})
		if err != nil {
			return nil, []error{err}
		}
		return found, nil
	}
	var list []*client.Info
	for _, name := range c.Args {
		list = append(list, &client.Info{Mapping: m, Name: strings.TrimPrefix(strings.TrimPrefix(name, "node/"), "nodes/")})
	}
	return c.Objects(list)
}

func runCordon(c *call) error   { return cordon(c, true, "cordoned") }
func runUncordon(c *call) error { return cordon(c, nil, "uncordoned") }

// cordon sets spec.unschedulable of nodes to value: true, or nil to remove the field.
func cordon(c *call, value any, done string) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	found, errs := c.nodesNamed()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return each(found, func(info *client.Info) error { return c.cordonOne(info, value, done) })
}

func (c *call) cordonOne(info *client.Info, value any, done string) error {
	if info.Object.True("spec", "unschedulable") == (value != nil) {
		done = "already " + done
	} else if c.dryRun() != dryClient {
		body := object.JSON(map[string]any{"spec": map[string]any{"unschedulable": value}})
		if _, err := c.helper("").Patch(info, "", patches.ContentTypes["strategic"], body); err != nil {
			return fmt.Errorf("unable to %s node %q: %w", c.verb.name, info.Name, err)
		}
	}
	c.Printf("%s %s%s\n", info.Refer(), done, c.dryRun().suffix())
	return nil
}

// drainer evicts the pods of nodes (kubectl's drain.Helper).
type drainer struct{ *deletion }

// runDrain cordons nodes and evicts their pods (kubectl drain). If a node cannot be drained, it continues with the next one.
func runDrain(c *call) error {
	d := &drainer{c.deletion()}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	found, errs := c.nodesNamed()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, info := range found {
		if err := c.cordonOne(info, true, "cordoned"); err != nil {
			return err
		}
	}
	var failed []string
	for _, info := range found {
		if err := d.drain(info); err != nil {
			failed = append(failed, info.Name)
			c.Complain("error: unable to drain node %q due to error: %s, continuing command...", info.Name, err)
			if list, ok := err.(undrained); ok {
				for _, text := range list {
					errs = append(errs, client.PlainError(text))
				}
			} else {
				errs = append(errs, err)
			}
			continue
		}
		c.Printf("%s drained%s\n", info.Refer(), d.dryRun.suffix())
	}
	if len(failed) > 0 {
		c.Complain("There are pending nodes to be drained:\n %s", strings.Join(failed, "\n "))
	}
	return errors.Join(errs...)
}

// undrained is the error for a node with pods that drain must not evict. It has one text for each reason.
type undrained []string

// Error implements error.
func (u undrained) Error() string {
	if len(u) == 1 {
		return u[0]
	}
	return "[" + strings.Join(u, ", ") + "]"
}

// drain evicts the pods of a node.
func (d *drainer) drain(info *client.Info) error {
	m, items, err := client.List(d, "pods", "", "fieldSelector", "spec.nodeName="+info.Name, "labelSelector", d.Text("pod-selector"))
	if err != nil {
		return err
	}
	var pods []*client.Info
	reasons, warnings := map[string][]string{}, map[string][]string{}
	for _, obj := range items {
		why, warning, skip := d.filter(obj)
		full := obj.Namespace() + "/" + obj.Name()
		if warning != "" {
			warnings[warning] = append(warnings[warning], full)
		}
		switch {
		case skip:
		case why != "":
			reasons[why] = append(reasons[why], full)
		default:
			pods = append(pods, &client.Info{Mapping: m, Namespace: obj.Namespace(), Name: obj.Name(), Object: obj})
		}
	}
	if len(reasons) > 0 {
		return undrained(podLists(reasons))
	}
	if len(warnings) > 0 {
		d.Complain("Warning: %s", strings.Join(podLists(warnings), "; "))
	}
	return d.evictAll(pods)
}

// podLists returns texts with lists of pods: "text: namespace/name, namespace/name".
func podLists(pods map[string][]string) (out []string) {
	for _, text := range object.SortedKeys(pods) {
		out = append(out, text+": "+strings.Join(pods[text], ", "))
	}
	return out
}

// filter returns the reason why a pod must not be evicted, or "" if there is none, and a warning about the pod, or "". skip is set if
// drain does not evict the pod.
func (d *drainer) filter(obj object.Object) (why, warning string, skip bool) {
	phase := obj.String("status", "phase")
	done := phase == "Succeeded" || phase == "Failed"
	owner := ""
	for _, ref := range obj.Objects("metadata", "ownerReferences") {
		if ref.True("controller") {
			owner = ref.String("kind")
		}
	}
	local := slices.ContainsFunc(obj.Objects("spec", "volumes"), func(v object.Object) bool { return v.Has("emptyDir") })
	switch {
	case obj.Annotations()["kubernetes.io/config.mirror"] != "":
		return "", "", true
	case done:
		return "", "", false
	case owner == "DaemonSet":
		if d.On("ignore-daemonsets") {
			return "", "ignoring DaemonSet-managed Pods", true
		}
		return "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)", "", false
	case local && !d.On("delete-emptydir-data"):
		return "cannot delete Pods with local storage (use --delete-emptydir-data to override)", "", false
	case owner == "" && !d.On("force"):
		return "cannot delete Pods that declare no controller (use --force to override)", "", false
	case owner == "":
		return "", "deleting Pods that declare no controller", false
	}
	return "", "", false
}

// retryEviction is the delay before drain retries an eviction that a disruption budget did not allow.
const retryEviction = 5 * time.Second

// evictAll evicts pods and waits until they are gone. While a disruption budget refuses an eviction, it retries every five seconds
// until --timeout.
func (d *drainer) evictAll(pods []*client.Info) error {
	until := d.until()
	for _, info := range pods {
		d.Printf("evicting pod %s/%s%s\n", info.Namespace, info.Name, d.dryRun.suffix())
		if d.dryRun == dryClient {
			continue
		}
		for {
			err := d.evict(info)
			e, ok := err.(*client.StatusError)
			if ok && e.Code == wire.StatusTooManyRequests && d.Now().Before(until) {
				d.Complain("error when evicting pods/%q -n %q (will retry after 5s): %s", info.Name, info.Namespace, e.Message)
				d.Conn.Sleep(retryEviction)
				continue
			}
			if err != nil && !client.IsNotFound(err) {
				return client.Wrap(err, "error when evicting pods/%q -n %q", info.Name, info.Namespace)
			}
			break
		}
	}
	if d.dryRun != dryNone {
		return nil
	}
	for _, info := range pods {
		if err := d.AwaitGone(info, info.Object.UID(), until); err != nil {
			return err
		}
		d.Printf("%s evicted\n", info.Refer())
	}
	return nil
}

func (d *drainer) evict(info *client.Info) error {
	if d.On("disable-eviction") {
		_, err := d.remove(info)
		return err
	}
	body := object.Object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": info.Name, "namespace": info.Namespace}}
	o := map[string]any{}
	if n := d.Number("grace-period", -1); n >= 0 {
		o["gracePeriodSeconds"] = n
	}
	if d.dryRun == dryServer {
		o["dryRun"] = []any{"All"}
	}
	body["deleteOptions"] = o
	_, err := d.Send(d.Request(wire.MethodPost, info.Path()+"/eviction", nil, "application/json", json(body)))
	return err
}
