package kubectl

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/object"
)

// waiter is what --for asks for.
type waiter struct {
	deleted, created bool
	done             func(obj object.Object) (bool, error)
}

// waitWord waits until objects are as --for says.
func (c *call) waitWord() error {
	w, err := waiterOf(c.list("for"))
	if err != nil {
		return err
	}
	list, err := c.targets(c.args, selection{anyScope: c.on("all-namespaces")})
	if err != nil {
		return err
	}
	until := c.Conn.Now().Add(c.duration("timeout", 30*time.Second))
	if c.duration("timeout", 1) < 0 {
		until = c.Conn.Now().Add(week)
	}
	if w.created {
		return each(list, func(t *target) error { return c.awaitCreated(t, until) })
	}
	found, errs := c.objects(list)
	if w.deleted {
		kept := errs[:0]
		for _, err := range errs {
			if !isNotFound(err) {
				kept = append(kept, err)
			}
		}
		errs = kept
	} else if len(found) == 0 && len(errs) == 0 {
		return fmt.Errorf("no matching resources found")
	}
	for _, t := range found {
		if w.deleted {
			err = c.awaitGone(&target{m: t.m, namespace: t.namespace, name: t.name, source: t.obj.UID()}, until)
		} else {
			err = c.awaitObject(t, until, w.done)
		}
		if err == nil {
			err = c.said(t, "condition met")
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

// awaitCreated waits until there is an object.
func (c *call) awaitCreated(t *target, until time.Time) error {
	if t.name == "" {
		return c.said(t, "condition met")
	}
	t.obj = nil
	if err := c.awaitObject(t, until, func(object.Object) (bool, error) { return true, nil }); err != nil {
		return err
	}
	return c.said(t, "condition met")
}

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

// hasCondition reports whether a condition has a value, for the generation that is there.
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

// pathWaiter reads {.status.phase}=Running, or a path alone.
func pathWaiter(text string) (*waiter, error) {
	end := strings.LastIndexByte(text, '}') + 1
	if end == 0 {
		end = len(text)
		if i := strings.IndexByte(text, '='); i >= 0 {
			end = i
		}
	}
	value, compared := strings.CutPrefix(text[end:], "=")
	path, err := relaxed(strings.Trim(text[:end], "'\""))
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
