package kubectl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// nodeWords are about nodes.
var nodeWords = []word{
	{name: "cordon", help: "Mark node as unschedulable", run: (*call).cordon, flags: "selector|l dry-run~"},
	{name: "uncordon", help: "Mark node as schedulable", run: (*call).cordon, flags: "selector|l dry-run~"},
	{name: "drain", help: "Drain node in preparation for maintenance", run: (*call).drain,
		flags: "selector|l dry-run~ force? ignore-daemonsets? delete-emptydir-data? grace-period# timeout@ disable-eviction? pod-selector " +
			"skip-wait-for-delete-timeout# chunk-size#"},
	{name: "taint", help: "Update the taints on one or more nodes", run: (*call).taint,
		flags: "overwrite? all? selector|l validate~" + dry + printed},
}

// nodesNamed returns the nodes of the arguments.
func (c *call) nodesNamed() ([]*target, []error) {
	if len(c.args) == 0 && !c.given("selector") {
		return nil, []error{c.usage("USAGE: %s NODE [flags]", c.word.name)}
	}
	m, err := c.find("nodes")
	if err != nil {
		return nil, []error{err}
	}
	if len(c.args) == 0 {
		found, err := c.listed(&target{m: m})
		if err != nil {
			return nil, []error{err}
		}
		return found, nil
	}
	var list []*target
	for _, name := range c.args {
		list = append(list, &target{m: m, name: strings.TrimPrefix(strings.TrimPrefix(name, "node/"), "nodes/")})
	}
	return c.objects(list)
}

func (c *call) cordon() error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	found, errs := c.nodesNamed()
	for _, t := range found {
		if err := c.cordonOne(t, c.word.name == "cordon"); err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

func (c *call) cordonOne(t *target, wanted bool) error {
	done := "cordoned"
	if !wanted {
		done = "uncordoned"
	}
	if t.obj.True("spec", "unschedulable") == wanted {
		c.printf("%s already %s%s\n", t.refer(), done, c.dryRunSuffix())
		return nil
	}
	var value any
	if wanted {
		value = true
	}
	if c.dryRun() != dryClient {
		body := object.JSON(map[string]any{"spec": map[string]any{"unschedulable": value}})
		if _, err := c.write(wire.MethodPatch, t, t.path(), patchTypes["strategic"], body, ""); err != nil {
			return fmt.Errorf("unable to %s node %q: %w", c.word.name, t.name, err)
		}
	}
	c.printf("%s %s%s\n", t.refer(), done, c.dryRunSuffix())
	return nil
}

// drain cordons nodes and evicts their pods.
func (c *call) drain() error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	found, errs := c.nodesNamed()
	if len(errs) > 0 {
		return together(errs)
	}
	for _, t := range found {
		if err := c.cordonOne(t, true); err != nil {
			return err
		}
	}
	var failed []string
	for _, t := range found {
		if err := c.drainOne(t); err != nil {
			failed = append(failed, t.name)
			c.complain("error: unable to drain node %q due to error: %s, continuing command...", t.name, err)
			errs = append(errs, err)
			continue
		}
		c.printf("%s drained%s\n", t.refer(), c.dryRunSuffix())
	}
	if len(failed) > 0 {
		c.complain("There are pending nodes to be drained:\n %s", strings.Join(failed, "\n "))
	}
	return together(errs)
}

func (c *call) drainOne(t *target) error {
	m, err := c.find("pods")
	if err != nil {
		return err
	}
	list, err := c.get(m.path("", ""), query("fieldSelector", "spec.nodeName="+t.name, "labelSelector", c.text("pod-selector")))
	if err != nil {
		return err
	}
	var pods []*target
	reasons := map[string][]string{}
	var ignored []string
	for _, obj := range list.Objects("items") {
		why, ignore := c.stands(obj)
		full := obj.Namespace() + "/" + obj.Name()
		switch {
		case ignore:
			ignored = append(ignored, full)
		case why != "":
			reasons[why] = append(reasons[why], full)
		default:
			pods = append(pods, &target{m: m, namespace: obj.Namespace(), name: obj.Name(), obj: obj})
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
		c.complain("Warning: ignoring DaemonSet-managed Pods: %s", strings.Join(ignored, ", "))
	}
	return c.evictAll(pods)
}

// stands says why a pod is not to be evicted, and whether it is left alone.
func (c *call) stands(obj object.Object) (why string, ignore bool) {
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
		if c.on("ignore-daemonsets") {
			return "", true
		}
		return "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)", false
	case local && !done && !c.on("delete-emptydir-data"):
		return "cannot delete Pods with local storage (use --delete-emptydir-data to override)", false
	case owner == "" && !done && !c.on("force"):
		return "cannot delete Pods that declare no controller (use --force to override)", false
	}
	return "", false
}

// retryEviction is how long drain waits before it tries again what a disruption budget did not allow.
const retryEviction = 5 * time.Second

// evictAll evicts pods and waits until they are gone.
func (c *call) evictAll(pods []*target) error {
	until := c.Conn.Now().Add(week)
	if d := c.duration("timeout", 0); d > 0 {
		until = c.Conn.Now().Add(d)
	}
	for _, t := range pods {
		if c.dryRun() == dryClient {
			continue
		}
		c.complain("evicting pod %s/%s", t.namespace, t.name)
		for {
			err := c.evict(t)
			e, ok := err.(*statusError)
			if ok && e.code == wire.StatusTooManyRequests && c.Conn.Now().Before(until) {
				c.complain("error when evicting pods/%q -n %q (will retry after 5s): %s", t.name, t.namespace, e.message)
				c.Conn.Sleep(retryEviction)
				continue
			}
			if err != nil && !isNotFound(err) {
				return with(err, "error when evicting pods/%q -n %q", t.name, t.namespace)
			}
			break
		}
	}
	for _, t := range pods {
		if c.dryRun() != dryNone {
			c.printf("%s evicted%s\n", t.refer(), c.dryRunSuffix())
			continue
		}
		if err := c.awaitGone(&target{m: t.m, namespace: t.namespace, name: t.name, source: t.obj.UID()}, until); err != nil {
			return err
		}
		c.printf("%s evicted\n", t.refer())
	}
	return nil
}

func (c *call) evict(t *target) error {
	if c.on("disable-eviction") {
		_, err := c.remove(t)
		return err
	}
	body := object.Object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": t.name, "namespace": t.namespace}}
	o := map[string]any{}
	if n := c.number("grace-period", -1); n >= 0 {
		o["gracePeriodSeconds"] = n
	}
	if c.dryRun() == dryServer {
		o["dryRun"] = []any{"All"}
	}
	body["deleteOptions"] = o
	_, err := c.send(c.request(wire.MethodPost, t.path()+"/eviction", nil, "application/json", object.JSON(map[string]any(body))))
	return err
}

// effects are what a taint can do to pods.
var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// taint sets and removes taints: key=value:effect, key:effect-, key-.
func (c *call) taint() error {
	args, edits := c.splitArguments(func(a string) bool { return isChange(a) || strings.Contains(a, ":") })
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
	list, err := c.targets(args, selection{})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	for _, t := range found {
		if err := c.taintOne(t, set, gone); err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

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

func (c *call) taintOne(t *target, set, gone []object.Object) error {
	same := func(a, b object.Object) bool {
		return a.String("key") == b.String("key") && (!b.Has("effect") || a.String("effect") == b.String("effect"))
	}
	now := t.obj.Objects("spec", "taints")
	for _, g := range gone {
		before := len(now)
		now = slices.DeleteFunc(slices.Clone(now), func(x object.Object) bool { return same(x, g) })
		if len(now) == before {
			name := g.String("key")
			if e := g.String("effect"); e != "" {
				name += ":" + e
			}
			return fmt.Errorf("taint %q not found", name)
		}
	}
	for _, s := range set {
		at := slices.IndexFunc(now, func(x object.Object) bool { return same(x, s) })
		switch {
		case at < 0:
			now = append(slices.Clone(now), s)
		case !c.on("overwrite"):
			return fmt.Errorf("node %s already has %s taint(s) with same effect(s) and --overwrite is false", t.name, s.String("key"))
		default:
			now = slices.Clone(now)
			now[at] = s
		}
	}
	taints := make([]any, len(now))
	for i, x := range now {
		taints[i] = map[string]any(x)
	}
	changed := t.obj.Copy()
	changed.Set(taints, "spec", "taints")
	if c.dryRun() != dryClient {
		p, contentType := between(t.obj, changed, t.obj)
		if _, err := c.write(wire.MethodPatch, t, t.path(), contentType, object.JSON(p), "kubectl-taint"); err != nil {
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
	return c.said(t, done)
}
