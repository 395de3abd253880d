package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// drainer evicts the pods of nodes (drain.Helper of kubectl).
type drainer struct{ *deletion }

// runDrain cordons nodes and evicts their pods.
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

// filter returns why a pod must not be evicted, "" if it may be, and whether it is left alone.
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

// retryEviction is how long drain waits before it tries again what a disruption budget did not allow.
const retryEviction = 5 * time.Second

// evictAll evicts pods and waits until they are gone.
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
