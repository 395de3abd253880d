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
	err := each(found, func(info *client.Info) error { return c.cordonOne(info, value, done) })
	return errors.Join(append(errs, err)...)
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
			errs = append(errs, err)
			continue
		}
		c.Printf("%s drained%s\n", info.Refer(), d.dryRun.suffix())
	}
	if len(failed) > 0 {
		c.Complain("There are pending nodes to be drained:\n %s", strings.Join(failed, "\n "))
	}
	return errors.Join(errs...)
}

// drain evicts the pods of a node.
func (d *drainer) drain(info *client.Info) error {
	m, items, err := client.List(d, "pods", "", "fieldSelector", "spec.nodeName="+info.Name, "labelSelector", d.Text("pod-selector"))
	if err != nil {
		return err
	}
	var pods []*client.Info
	reasons := map[string][]string{}
	var ignored []string
	for _, obj := range items {
		why, ignore := d.filter(obj)
		full := obj.Namespace() + "/" + obj.Name()
		switch {
		case ignore:
			ignored = append(ignored, full)
		case why != "":
			reasons[why] = append(reasons[why], full)
		default:
			pods = append(pods, &client.Info{Mapping: m, Namespace: obj.Namespace(), Name: obj.Name(), Object: obj})
		}
	}
	if len(reasons) > 0 {
		var texts []string
		for _, why := range object.SortedKeys(reasons) {
			texts = append(texts, fmt.Sprintf("%s: %s", why, strings.Join(reasons[why], ", ")))
		}
		return fmt.Errorf("[%s]", strings.Join(texts, ", "))
	}
	if len(ignored) > 0 {
		d.Complain("Warning: ignoring DaemonSet-managed Pods: %s", strings.Join(ignored, ", "))
	}
	return d.evictAll(pods)
}

// filter returns the reason why a pod must not be evicted, or "" if there is none. ignore is set if drain skips the pod.
func (d *drainer) filter(obj object.Object) (why string, ignore bool) {
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
		return "", true
	case owner == "DaemonSet" && !done:
		if d.On("ignore-daemonsets") {
			return "", true
		}
		return "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)", false
	case local && !done && !d.On("delete-emptydir-data"):
		return "cannot delete Pods with local storage (use --delete-emptydir-data to override)", false
	case owner == "" && !done && !d.On("force"):
		return "cannot delete Pods that declare no controller (use --force to override)", false
	}
	return "", false
}

// retryEviction is the delay before drain retries an eviction that a disruption budget did not allow.
const retryEviction = 5 * time.Second

// evictAll evicts pods and waits until they are gone. While a disruption budget refuses an eviction, it retries every five seconds
// until --timeout.
func (d *drainer) evictAll(pods []*client.Info) error {
	until := d.until()
	for _, info := range pods {
		if d.dryRun == dryClient {
			continue
		}
		d.Complain("evicting pod %s/%s", info.Namespace, info.Name)
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
	for _, info := range pods {
		if d.dryRun != dryNone {
			d.Printf("%s evicted%s\n", info.Refer(), d.dryRun.suffix())
			continue
		}
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

// effects lists the valid effects of taints.
var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// runTaint changes the taints of nodes. Each change has the form key=value:effect, key:effect- or key-.
func runTaint(c *call) error {
	args, edits := splitArguments(c.Args, func(a string) bool { return isChange(a) || strings.Contains(a, ":") })
	if len(edits) == 0 {
		return c.usage("at least one taint update is required")
	}
	if len(args) == 0 || !slices.Contains([]string{"node", "nodes", "no"}, strings.Split(args[0], "/")[0]) {
		return fmt.Errorf("invalid resource type %s, only node types are supported", strings.Join(args, " "))
	}
	var set, gone []object.Object
	for _, e := range edits {
		t, remove, err := taintOf(e)
		if err != nil {
			return c.usage("%s", err)
		}
		if remove {
			gone = append(gone, t)
		} else {
			set = append(set, t)
		}
	}
	return c.visit(args, client.Selection{}, func(info *client.Info) error { return c.taintOne(info, set, gone) })
}

// taintOf parses a change of a taint and reports whether it removes the taint.
func taintOf(text string) (t object.Object, remove bool, err error) {
	body, remove := strings.CutSuffix(text, "-")
	body, effect, has := strings.Cut(body, ":")
	key, value, _ := strings.Cut(body, "=")
	t = object.Object{"key": key}
	if has {
		if !slices.Contains(effects, effect) {
			return nil, false, fmt.Errorf("invalid taint effect: %s, unsupported taint effect", effect)
		}
		t["effect"] = effect
	} else if !remove {
		return nil, false, fmt.Errorf("invalid taint spec: %s", text)
	}
	if value != "" {
		t["value"] = value
	}
	return t, remove, nil
}

func (c *call) taintOne(info *client.Info, set, gone []object.Object) error {
	now, err := changedTaints(info, set, gone, c.On("overwrite"))
	if err != nil {
		return err
	}
	taints := make([]any, len(now))
	for i, x := range now {
		taints[i] = map[string]any(x)
	}
	changed := info.Object.Copy()
	changed.Set(taints, "spec", "taints")
	if c.dryRun() != dryClient {
		p, contentType := patches.Between(info.Object, changed, info.Object)
		if _, err := c.helper("kubectl-taint").Patch(info, "", contentType, object.JSON(p)); err != nil {
			return err
		}
	}
	done := "tainted"
	switch {
	case len(set) > 0 && len(gone) > 0:
		done = "modified"
	case len(set) == 0:
		done = "untainted"
	}
	return c.printObj(info, done)
}

// changedTaints returns the taints of a node after the taints in gone are removed and those in set are added. It returns an error
// if a taint to remove does not exist, or if a taint to add exists and overwrite is false.
func changedTaints(info *client.Info, set, gone []object.Object, overwrite bool) ([]object.Object, error) {
	same := func(a, b object.Object) bool {
		return a.String("key") == b.String("key") && (!b.Has("effect") || a.String("effect") == b.String("effect"))
	}
	now := info.Object.Objects("spec", "taints")
	for _, g := range gone {
		before := len(now)
		now = slices.DeleteFunc(slices.Clone(now), func(x object.Object) bool { return same(x, g) })
		if len(now) == before {
			name := g.String("key")
			if e := g.String("effect"); e != "" {
				name += ":" + e
			}
			return nil, fmt.Errorf("taint %q not found", name)
		}
	}
	for _, s := range set {
		at := slices.IndexFunc(now, func(x object.Object) bool { return same(x, s) })
		switch {
		case at < 0:
			now = append(slices.Clone(now), s)
		case !overwrite:
			return nil, fmt.Errorf("node %s already has %s taint(s) with same effect(s) and --overwrite is false", info.Name, s.String("key"))
		default:
			now = slices.Clone(now)
			now[at] = s
		}
	}
	return now, nil
}
