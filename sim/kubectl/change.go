package kubectl

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// labels holds the words for the kind of metadata that a command changes: labels or annotations.
type labels struct {
	field, noun, article, done string
}

var (
	labelKind      = labels{"labels", "label", "a label", "labeled"}
	annotationKind = labels{"annotations", "annotation", "an annotation", "annotated"}
)

func runLabel(c *call) error    { return relabel(c, labelKind) }
func runAnnotate(c *call) error { return relabel(c, annotationKind) }

// relabel changes the labels or annotations of objects.
func relabel(c *call, l labels) error {
	first := slices.IndexFunc(c.Args, isChange)
	if first < 0 {
		first = len(c.Args)
	}
	args, edits := c.Args[:first], c.Args[first:]
	set, gone := map[string]any{}, []string{}
	for _, e := range edits {
		k, v, ok := strings.Cut(e, "=")
		switch {
		case ok:
			set[k] = v
		case strings.HasSuffix(e, "-"):
			gone = append(gone, strings.TrimSuffix(e, "-"))
		default:
			return fmt.Errorf("all resources must be specified before %s changes: %s", l.noun, e)
		}
	}
	for _, k := range gone {
		if _, both := set[k]; both {
			return fmt.Errorf("can not both modify and remove %s in the same command", l.article)
		}
	}
	if len(args) == 0 && !c.Given("filename") && !c.Given("kustomize") {
		return errors.New("one or more resources must be specified as <resource> <name> or <resource>/<name>")
	}
	if len(edits) == 0 && !c.On("list") {
		return fmt.Errorf("at least one %s update is required", l.noun)
	}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	return c.visit(args, client.Selection{AnyScope: c.On("all-namespaces")}, func(info *client.Info) error {
		return c.relabelOne(info, l, set, gone)
	})
}

// isChange reports whether an argument has the form key=value or key-.
func isChange(arg string) bool {
	return strings.Contains(arg, "=") || strings.HasSuffix(arg, "-")
}

// relabelOne changes the labels or annotations of one object. It returns an error if a value exists and --overwrite is
// not given.
func (c *call) relabelOne(info *client.Info, l labels, set map[string]any, gone []string) error {
	now, done := info.Object.Map("metadata", l.field), l.done
	if !c.On("overwrite") {
		var taken []string
		for _, k := range object.SortedKeys(set) {
			if v, there := now[k]; there && v != set[k] && k != changeCause { // kubectl annotate overwrites the change cause
				taken = append(taken, fmt.Sprintf("'%s' already has a value (%v)", k, v))
			}
		}
		switch {
		case len(taken) > 0 && l == labelKind:
			return fmt.Errorf("%s, and --overwrite is false", strings.Join(taken, "; "))
		case len(taken) > 0:
			return fmt.Errorf("--overwrite is false but found the following declared annotation(s): %s", strings.Join(taken, "; "))
		}
	}
	changed, added := map[string]any{}, false
	for _, k := range object.SortedKeys(set) {
		if now[k] != set[k] {
			changed[k], added = set[k], true
		}
	}
	for _, k := range gone {
		if _, there := now[k]; there {
			changed[k] = nil
		} else if l == labelKind {
			c.Printf("label %q not found.\n", k)
		}
	}
	if l == labelKind {
		switch {
		case len(changed) == 0:
			done = "not labeled"
		case !added:
			done = "unlabeled"
		}
	}
	if c.On("list") {
		printChanged(c.Out, object.StringMap(now), changed)
		if len(set)+len(gone) == 0 {
			return nil
		}
	}
	if len(changed) > 0 && c.dryRun() != dryClient {
		body := map[string]any{"metadata": map[string]any{l.field: changed}}
		obj, err := c.helper("kubectl-"+c.verb.name).Patch(info, "", patches.ContentTypes["merge"], object.JSON(body))
		if err != nil {
			return err
		}
		info.Object = obj
	}
	if c.On("list") {
		return nil
	}
	return c.printObj(info, done)
}

// printChanged prints the labels or annotations that result from a change (label --list).
func printChanged(w io.Writer, now map[string]string, changed map[string]any) {
	merged := map[string]string{}
	maps.Copy(merged, now)
	for _, k := range object.SortedKeys(changed) {
		if v, ok := changed[k].(string); ok {
			merged[k] = v
		} else {
			delete(merged, k)
		}
	}
	for _, k := range object.SortedKeys(merged) {
		fmt.Fprintf(w, "%s=%s\n", k, merged[k])
	}
}

// runScale sets the number of replicas.
func runScale(c *call) error {
	n := c.Number("replicas", -1)
	if n < 0 {
		return fmt.Errorf("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
	}
	var failed error // kubectl scale stops at the first error
	return c.visit(c.Args, client.Selection{}, func(info *client.Info) error {
		if failed != nil {
			return nil
		}
		failed = c.scaleOne(info, n)
		return failed
	})
}

func (c *call) scaleOne(info *client.Info, n int64) error {
	if !info.Mapping.Scalable {
		return client.NotFound("the server could not find the requested resource")
	}
	if want := c.Number("current-replicas", -1); want >= 0 {
		s, err := c.Get(info.Path()+"/scale", nil)
		if err != nil {
			return err
		}
		if is := s.Int64("spec", "replicas"); is != want {
			return fmt.Errorf("Expected replicas to be %d, was %d", want, is)
		}
	}
	if c.dryRun() != dryClient {
		body := object.JSON(map[string]any{"spec": map[string]any{"replicas": n}})
		if _, err := c.helper("").Patch(info, "scale", patches.ContentTypes["merge"], body); err != nil {
			return err
		}
		if d := c.Duration("timeout", 0); d > 0 {
			err := c.Await(info, c.Now().Add(d), func(obj object.Object) (bool, error) { return obj.Int64("status", "replicas") == n, nil })
			if err != nil {
				return err
			}
		}
	}
	if c.On("record") && c.dryRun() == dryNone {
		cause := object.Object{}
		c.record(cause)
		if _, err := c.helper("").Patch(info, "", patches.ContentTypes["merge"], object.JSON(map[string]any(cause))); err != nil {
			return err
		}
	}
	return c.printObj(info, "scaled")
}
