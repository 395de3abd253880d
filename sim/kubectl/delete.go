package kubectl

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// deleteFlags are those of delete.
const deleteFlags = "all? all-namespaces|A? cascade~ force? grace-period# ignore-not-found? interactive|i? now? raw timeout@ wait? " +
	"selector|l field-selector output|o dry-run~" + ofFiles

// forced warns of deletions that nobody confirms.
const forced = "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. " +
	"The resource may continue to run on the cluster indefinitely."

var deleteWords = []word{
	{name: "delete", help: "Delete resources by file names, stdin, resources and names, or by resources and label selector", run: (*call).deleteWord, flags: deleteFlags},
}

// deleteWord deletes objects, and waits until they are gone.
func (c *call) deleteWord() error {
	if raw := c.text("raw"); raw != "" {
		return c.raw(wire.MethodDelete, raw)
	}
	if err := c.checkDelete(); err != nil {
		return err
	}
	list, err := c.targets(c.args, selection{anyScope: c.on("all-namespaces")})
	if err != nil {
		return err
	}
	if c.on("force") && c.number("grace-period", 0) == 0 {
		c.complain("%s", forced)
	}
	var found []*target
	var errs []error
	for _, t := range list {
		if t.name != "" || t.err != nil {
			found = append(found, t)
			continue
		}
		all, err := c.listed(t)
		if err != nil {
			errs = append(errs, err)
		}
		found = append(found, all...)
	}
	if len(found) == 0 && len(errs) == 0 {
		if !c.on("ignore-not-found") {
			c.complain("No resources found")
		}
		return nil
	}
	if err := c.deleteAll(found, !c.off("wait")); err != nil {
		errs = append(errs, err)
	}
	return together(errs)
}

func (c *call) checkDelete() error {
	if _, ok := cascades[c.text("cascade")]; !ok {
		return fmt.Errorf("invalid cascade value (%s). Must be \"background\", \"foreground\", or \"orphan\"", c.text("cascade"))
	}
	if c.on("now") && c.given("grace-period") {
		return fmt.Errorf("--now and --grace-period cannot be specified together")
	}
	if c.on("force") && c.number("grace-period", 0) > 0 {
		return fmt.Errorf("--force and --grace-period greater than 0 cannot be specified together")
	}
	return c.checkDryRun()
}

// cascades are the values of --cascade, and what they are in the API.
var cascades = map[string]string{"": "Background", unchanged: "Background", "true": "Background", "background": "Background",
	"foreground": "Foreground", "orphan": "Orphan", "false": "Orphan"}

// deleteAll deletes targets and, if it is to, waits until they are gone.
func (c *call) deleteAll(list []*target, wait bool) error {
	var gone []*target
	err := each(list, func(t *target) error {
		if c.dryRun() != dryClient {
			uid, err := c.remove(t)
			if isNotFound(err) && c.on("ignore-not-found") {
				return nil
			}
			if err != nil && t.source != "" {
				return with(err, "error when deleting %q", t.source)
			}
			if err != nil {
				return err
			}
			gone = append(gone, &target{m: t.m, namespace: t.namespace, name: t.name, source: uid})
		}
		return c.sayDeleted(t)
	})
	if !wait || c.dryRun() != dryNone {
		return err
	}
	until := c.Conn.Now().Add(c.duration("timeout", 0))
	if c.duration("timeout", 0) == 0 {
		until = c.Conn.Now().Add(week)
	}
	for _, t := range gone {
		if e := c.awaitGone(t, until); e != nil {
			return together(slices.DeleteFunc([]error{err, e}, func(e error) bool { return e == nil }))
		}
	}
	return err
}

// week is how long is waited where nobody says how long.
const week = 7 * 24 * time.Hour

// sayDeleted says that an object is deleted, or will be.
func (c *call) sayDeleted(t *target) error {
	if c.text("output") == "name" {
		c.printf("%s\n", t.refer())
		return nil
	}
	how := "deleted"
	if c.on("force") && c.number("grace-period", 0) == 0 && c.word.name == "delete" {
		how = "force deleted"
	}
	from := ""
	if t.m.namespaced {
		from = " from " + t.namespace + " namespace"
	}
	c.printf("%s %q %s%s%s\n", t.m.named(), t.name, how, from, c.dryRunSuffix())
	return nil
}

// remove sends the request that deletes a target and returns the uid of what it deletes, "" if the answer does not say.
func (c *call) remove(t *target) (uid string, err error) {
	o := object.Object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": cascades[c.text("cascade")]}
	switch {
	case c.on("now"):
		o["gracePeriodSeconds"] = int64(1)
	case c.on("force"):
		o["gracePeriodSeconds"] = int64(0)
	case c.number("grace-period", -1) >= 0:
		o["gracePeriodSeconds"] = max(c.number("grace-period", 1), 1)
	}
	if c.dryRun() == dryServer {
		o["dryRun"] = []any{"All"}
	}
	answer, err := c.ask(c.request(wire.MethodDelete, t.path(), nil, "application/json", object.JSON(map[string]any(o))))
	if err != nil {
		return "", err
	}
	if answer.Kind() == "Status" {
		return answer.String("details", "uid"), nil
	}
	return answer.UID(), nil
}

// awaitGone waits until an object is gone, or another one has its name. Its uid is its source.
func (c *call) awaitGone(t *target, until time.Time) error {
	for {
		list, err := c.get(t.m.path(t.namespace, ""), query("fieldSelector", "metadata.name="+t.name))
		if err != nil || len(list.Objects("items")) == 0 {
			return nil
		}
		if uid := list.Objects("items")[0].UID(); t.source != "" && uid != t.source {
			return nil
		}
		left := until.Sub(c.Conn.Now())
		if left <= 0 {
			return fmt.Errorf("timed out waiting for the condition on %s/%s", t.m.resource, t.name)
		}
		r := c.request(wire.MethodGet, t.m.path(t.namespace, ""), query("fieldSelector", "metadata.name="+t.name, "watch", "true",
			"resourceVersion", list.ResourceVersion()), "", nil)
		gone := false
		a, err := c.Conn.Watch(r, left, func(frame []byte) bool {
			e, err := object.Parse(frame)
			gone = err == nil && e.String("type") == "DELETED"
			return err == nil && !gone && e.String("type") != "ERROR"
		})
		if err == nil && a != nil {
			_, err = c.checked(a)
		}
		if err != nil || gone {
			return err
		}
	}
}
