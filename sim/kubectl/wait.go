package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// waiter is a condition of --for.
type waiter struct {
	deleted, created bool
	done             func(obj object.Object) (bool, error)
}

// runWait waits until objects meet the condition of --for. It returns an error if there are no objects, unless it waits
// for their deletion.
func runWait(c *call) error {
	w, err := waiterOf(c.List("for"))
	if err != nil {
		return err
	}
	list, err := c.Infos(c.Args, client.Selection{AnyScope: c.On("all-namespaces")})
	if err != nil {
		return err
	}
	until := c.Now().Add(c.Duration("timeout", 30*time.Second))
	if c.Duration("timeout", 1) < 0 {
		until = c.Now().Add(week)
	}
	if w.created {
		return each(list, func(info *client.Info) error {
			info.Object = nil
			if info.Name == "" {
				found, errs := c.Objects([]*client.Info{info})
				return join(errs, each(found, func(info *client.Info) error { return c.printObj(info, "condition met") }))
			}
			if err := c.Await(info, until, func(object.Object) (bool, error) { return true, nil }); err != nil {
				return err
			}
			return c.printObj(info, "condition met")
		})
	}
	found, errs := c.Objects(list)
	if w.deleted {
		errs = slices.DeleteFunc(errs, client.IsNotFound)
	} else if len(found) == 0 && len(errs) == 0 {
		return fmt.Errorf("no matching resources found")
	}
	err = each(found, func(info *client.Info) (err error) {
		if w.deleted {
			err = c.AwaitGone(info, info.Object.UID(), until)
		} else {
			err = c.Await(info, until, w.done)
		}
		if err != nil {
			return err
		}
		return c.printObj(info, "condition met")
	})
	return errors.Join(append(errs, err)...)
}

// waiterOf parses the last value of --for: delete, create, condition=… or jsonpath=….
func waiterOf(list []string) (*waiter, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("unrecognized condition: []")
	}
	text := list[len(list)-1]
	switch {
	case text == "delete":
		return &waiter{deleted: true}, nil
	case text == "create":
		return &waiter{created: true}, nil
	case strings.HasPrefix(text, "condition="):
		name, value, ok := strings.Cut(text[len("condition="):], "=")
		if !ok {
			value = "True"
		}
		return &waiter{done: func(obj object.Object) (bool, error) { return hasCondition(obj, name, value), nil }}, nil
	case strings.HasPrefix(text, "jsonpath="):
		return pathWaiter(text[len("jsonpath="):])
	}
	return nil, fmt.Errorf("unrecognized condition: %q", text)
}

// hasCondition reports whether a condition has a value and was observed for the current generation.
func hasCondition(obj object.Object, name, value string) bool {
	for _, cond := range obj.Objects("status", "conditions") {
		if !strings.EqualFold(cond.String("type"), name) {
			continue
		}
		seen, ok := cond.Int("observedGeneration")
		if !ok {
			seen, ok = obj.Int("status", "observedGeneration")
		}
		if ok && seen < obj.Generation() {
			return false
		}
		return strings.EqualFold(cond.String("status"), value)
	}
	return false
}

// pathWaiter parses a JSONPath condition, such as {.status.phase}=Running or a path without a value. The waiter returns
// an error if the path has more than one value.
func pathWaiter(text string) (*waiter, error) {
	end := strings.LastIndexByte(text, '}') + 1
	if end == 0 {
		end = len(text)
		if i := strings.IndexByte(text, '='); i >= 0 {
			end = i
		}
	}
	value, compared := strings.CutPrefix(text[end:], "=")
	path, err := printer.RelaxedJSONPath(strings.Trim(text[:end], "'\""))
	if err != nil {
		return nil, err
	}
	value = strings.Trim(value, "'\"")
	return &waiter{done: func(obj object.Object) (bool, error) {
		found := path.Values(map[string]any(obj))
		if len(found) == 0 {
			return false, nil
		}
		if len(found) > 1 {
			return false, fmt.Errorf("given jsonpath expression matches more than one value")
		}
		return !compared || jsonpath.Text(found[0]) == value, nil
	}}, nil
}
