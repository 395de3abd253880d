package kubectl

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// forced is the warning about a forced deletion.
const forced = "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. " +
	"The resource may continue to run on the cluster indefinitely."

// runDelete deletes objects and, unless --wait=false, waits until they are gone. Without names, it deletes what the
// flags select.
func runDelete(c *call) error {
	if raw := c.Text("raw"); raw != "" {
		return c.raw(wire.MethodDelete, raw)
	}
	d := c.deletion()
	if err := d.check(); err != nil {
		return err
	}
	list, err := c.Infos(c.Args, client.Selection{AnyScope: c.On("all-namespaces"), Strict: true})
	if err != nil {
		return err
	}
	if o := c.Text("output"); o != "" && o != "name" {
		return fmt.Errorf("unexpected -o output mode: %v. We only support '-o name'", o)
	}
	if c.On("force") && c.Number("grace-period", 0) == 0 {
		c.Complain("%s", forced)
	}
	var found []*client.Info
	var errs []error
	for _, info := range list {
		if info.Name != "" || info.Err != nil {
			found = append(found, info)
			continue
		}
		all, err := c.Listed(info)
		if err != nil {
			errs = append(errs, err)
		}
		found = append(found, all...)
	}
	if len(found) == 0 && len(errs) == 0 {
		if !c.On("ignore-not-found") {
			c.Complain("No resources found")
		}
		return nil
	}
	return errors.Join(append(errs, d.all(found, !c.Off("wait")))...)
}

// deletion is a running command that deletes objects as its flags specify.
type deletion struct {
	*call
	dryRun dryRun
}

func (c *call) deletion() *deletion { return &deletion{c, c.dryRun()} }

func (d *deletion) check() error {
	if _, ok := cascades[d.Text("cascade")]; !ok {
		return fmt.Errorf("invalid cascade value (%s). Must be \"background\", \"foreground\", or \"orphan\"", d.Text("cascade"))
	}
	if d.On("now") && d.Given("grace-period") {
		return fmt.Errorf("--now and --grace-period cannot be specified together")
	}
	if d.On("force") && d.Number("grace-period", 0) > 0 {
		return fmt.Errorf("--force and --grace-period greater than 0 cannot be specified together")
	}
	return d.checkDryRun()
}

// cascades maps the values of --cascade to those of the API.
var cascades = map[string]string{"": "Background", flags.Unchanged: "Background", "true": "Background", "background": "Background",
	"foreground": "Foreground", "orphan": "Orphan", "false": "Orphan"}

// all deletes the objects. If wait is set, it then waits until they are gone.
func (d *deletion) all(list []*client.Info, wait bool) error {
	type deleted struct {
		info *client.Info
		uid  string
	}
	var gone []deleted
	err := each(list, func(info *client.Info) error {
		if d.dryRun != dryClient {
			uid, err := d.remove(info)
			if client.IsNotFound(err) && d.On("ignore-not-found") {
				return nil
			}
			if err != nil && info.Source != "" {
				return client.Wrap(err, "error when deleting %q", info.Source)
			}
			if err != nil {
				return err
			}
			gone = append(gone, deleted{info, uid})
		}
		d.print(info)
		return nil
	})
	if !wait || d.dryRun != dryNone {
		return err
	}
	until := d.until()
	for _, x := range gone {
		if e := d.AwaitGone(x.info, x.uid, until); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

// week is how long a command waits if --timeout does not limit it.
const week = 7 * 24 * time.Hour

// until returns the time at which --timeout expires.
func (c *call) until() time.Time {
	if d := c.Duration("timeout", 0); d != 0 {
		return c.Now().Add(d)
	}
	return c.Now().Add(week)
}

// print prints that an object was deleted, or would be deleted in a dry run.
func (d *deletion) print(info *client.Info) {
	if d.Text("output") == "name" {
		d.Printf("%s\n", info.Refer())
		return
	}
	how := "deleted"
	if d.On("force") && d.Number("grace-period", 0) == 0 && d.verb.name == "delete" {
		how = "force deleted"
	}
	from := ""
	if info.Mapping.Namespaced {
		from = " from " + info.Namespace + " namespace"
	}
	d.Printf("%s %q %s%s%s\n", info.Mapping.GroupKind(), info.Name, how, from, d.dryRun.suffix())
}

// remove deletes an object and returns its UID, or "" if the response does not contain it.
func (d *deletion) remove(info *client.Info) (uid string, err error) {
	o := object.Object{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": cascades[d.Text("cascade")]}
	switch {
	case d.On("now"):
		o["gracePeriodSeconds"] = int64(1)
	case d.On("force"):
		o["gracePeriodSeconds"] = int64(0)
	case d.Number("grace-period", -1) >= 0:
		o["gracePeriodSeconds"] = max(d.Number("grace-period", 1), 1)
	}
	if d.dryRun == dryServer {
		o["dryRun"] = []any{"All"}
	}
	answer, err := d.Ask(d.Request(wire.MethodDelete, info.Path(), nil, "application/json", json(o)))
	if err != nil {
		return "", err
	}
	if answer.Kind() == "Status" {
		return answer.String("details", "uid"), nil
	}
	return answer.UID(), nil
}
