package kubectl

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// labels holds the words for the kind of metadata that a command changes: labels or annotations.
type labels struct {
	field, noun, done string
}

var (
	labelKind      = labels{"labels", "label", "labeled"}
	annotationKind = labels{"annotations", "annotation", "annotated"}
)

func runLabel(c *call) error    { return relabel(c, labelKind) }
func runAnnotate(c *call) error { return relabel(c, annotationKind) }

// relabel changes the labels or annotations of objects.
func relabel(c *call, l labels) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	args, edits, err := splitArguments(c.Args, l.noun, isPair)
	if err != nil {
		return err
	}
	set, gone, err := l.parse(edits)
	switch {
	case err != nil:
		return err
	case c.On("list") && c.Given("output"):
		return errors.New("--list and --output may not be specified together")
	case c.On("all") && c.Given("selector"):
		return errors.New("cannot set --all and --selector at the same time")
	case c.On("all") && c.Given("field-selector"):
		return errors.New("cannot set --all and --field-selector at the same time")
	case len(args) == 0 && !c.Given("filename") && !c.Given("kustomize"):
		return errNoResource
	case len(edits) == 0 && !c.On("list"):
		return fmt.Errorf("at least one %s update is required", l.noun)
	}
	var both []string
	for _, k := range gone {
		if _, ok := set[k]; ok {
			both = append(both, k)
		}
	}
	if len(both) > 0 {
		return fmt.Errorf("can not both modify and remove the following annotation(s) in the same command: %s", strings.Join(both, ", "))
	}
	list, err := c.Infos(args, client.Selection{AnyScope: c.On("all-namespaces")})
	if err != nil {
		return err
	}
	single := len(list) == 1 && list[0].Name != ""
	if !single && c.Given("resource-version") {
		return errors.New("--resource-version may only be used with a single resource")
	}
	found, errs := c.Objects(list)
	return join(errs, each(found, func(info *client.Info) error {
		if c.On("list") && !single {
			c.Printf("Listing %s for %s.%s/%s:\n", l.field, info.Mapping.Kind, info.Mapping.Group, info.Name)
		}
		return c.relabelOne(info, l, set, gone, single)
	}))
}

// parse parses changes such as a=b and a-. It returns an error for an invalid change.
func (l labels) parse(edits []string) (set map[string]any, gone []string, err error) {
	set = map[string]any{}
	for _, e := range edits {
		k, v, ok := strings.Cut(e, "=")
		switch {
		case !ok:
			gone = append(gone, strings.TrimSuffix(e, "-"))
			continue
		case l == labelKind && strings.Contains(v, "="):
			return nil, nil, fmt.Errorf("invalid label spec: %v", e)
		case l == labelKind:
			if errs := field.LabelValue(v); len(errs) > 0 {
				return nil, nil, fmt.Errorf("invalid label value: %q: %s", e, strings.Join(errs, ";"))
			}
		}
		set[k] = v
	}
	for _, k := range gone {
		if _, both := set[k]; both && l == labelKind {
			return nil, nil, errors.New("can not both modify and remove a label in the same command")
		}
	}
	return set, gone, nil
}

// isChange reports whether an argument has the form key=value or key-.
func isChange(arg string) bool {
	return strings.Contains(arg, "=") || strings.HasSuffix(arg, "-")
}

// relabelOne changes the labels or annotations of one object. It returns an error if a value exists and --overwrite is
// not given. If single is false, it indents the list of --list.
func (c *call) relabelOne(info *client.Info, l labels, set map[string]any, gone []string, single bool) error {
	local := c.dryRun() == dryClient || c.On("list")
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
	changed, added, removed := map[string]any{}, false, false
	for _, k := range object.SortedKeys(set) {
		if now[k] != set[k] {
			changed[k], added = set[k], true
		}
	}
	for _, k := range gone {
		if _, there := now[k]; there {
			changed[k], removed = nil, true
		} else if l == labelKind && !local {
			c.Printf("label %q not found.\n", k)
		}
	}
	if l == labelKind {
		switch {
		case added && removed:
			done = "modified"
		case removed:
			done = "unlabeled"
		case !added:
			done = "not labeled"
		}
	}
	if c.On("list") {
		printChanged(c.Out, object.StringMap(now), changed, single)
		return nil
	}
	version := c.Text("resource-version")
	if len(changed) > 0 || version != "" {
		patch := object.Object{"metadata": map[string]any{l.field: changed}}
		if version != "" {
			patch.SetMeta("resourceVersion", version)
		}
		var err error
		if local {
			info.Object, err = patches.Apply(info.Object, "merge", json(patch))
		} else {
			info.Object, err = c.helper("kubectl-"+c.verb.name).Patch(info, "", patches.ContentTypes["merge"], json(patch))
		}
		if err != nil {
			return err
		}
	}
	return c.printObj(info, done)
}

// printChanged prints the labels or annotations that result from a change (label --list). If single is false, it indents them.
func printChanged(w io.Writer, now map[string]string, changed map[string]any, single bool) {
	indent := " "
	if single {
		indent = ""
	}
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
		fmt.Fprintf(w, "%s%s=%s\n", indent, k, merged[k])
	}
}

// runScale sets the number of replicas.
func runScale(c *call) error {
	n := c.Number("replicas", -1)
	if n < 0 {
		return fmt.Errorf("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
	}
	if c.Number("current-replicas", 0) < -1 {
		return fmt.Errorf("The --current-replicas must specify an integer of -1 or greater")
	}
	list, err := c.Infos(c.Args, client.Selection{})
	if err != nil {
		return err
	}
	found, errs := c.Objects(list)
	if len(found) > 1 && c.Given("resource-version") {
		return fmt.Errorf("cannot use --resource-version with multiple resources")
	}
	if len(found)+len(errs) == 0 {
		return fmt.Errorf("no objects passed to scale")
	}
	for _, info := range found { // kubectl scale stops at the first error
		if err := c.scaleOne(info, n); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

func (c *call) scaleOne(info *client.Info, n int64) error {
	if g := info.Mapping.Group; g == "apps" || g == "" {
		info.Object.Set(n, "spec", "replicas")
	}
	if c.dryRun() != dryClient {
		want, version := c.Number("current-replicas", -1), c.Text("resource-version")
		if want >= 0 || version != "" {
			s, err := c.Get(info.Path()+"/scale", nil)
			if err != nil {
				return err
			}
			if is := s.Int64("spec", "replicas"); want >= 0 && is != want {
				return fmt.Errorf("Expected replicas to be %d, was %d", want, is)
			}
			if is := s.ResourceVersion(); version != "" && is != version {
				return fmt.Errorf("Expected resource version to be %s, was %s", version, is)
			}
		}
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
