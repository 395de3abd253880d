package kubectl

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// errTimedOut is the end of a wait.
func errTimedOut(t *target) error {
	return fmt.Errorf("timed out waiting for the condition on %s/%s", t.m.resource, t.name)
}

// awaitObject watches an object until done says so. What is deleted meanwhile is an error.
func (c *call) awaitObject(t *target, until time.Time, done func(obj object.Object) (bool, error)) error {
	for {
		list, err := c.get(t.m.path(t.namespace, ""), query("fieldSelector", "metadata.name="+t.name))
		if err != nil {
			return err
		}
		if items := list.Objects("items"); len(items) > 0 {
			withKind(items[0], t.m)
			t.obj = items[0]
			if ok, err := done(items[0]); ok || err != nil {
				return err
			}
		} else if t.obj != nil {
			return &statusError{reason: "NotFound", message: fmt.Sprintf("%s %q not found", t.m.plural(), t.name)}
		}
		left := until.Sub(c.Conn.Now())
		if left <= 0 {
			return errTimedOut(t)
		}
		r := c.request(wire.MethodGet, t.m.path(t.namespace, ""), query("fieldSelector", "metadata.name="+t.name, "watch", "true",
			"resourceVersion", list.ResourceVersion()), "", nil)
		var found bool
		var failed error
		a, err := c.Conn.Watch(r, left, func(frame []byte) bool {
			e, err := object.Parse(frame)
			if err != nil || e.String("type") == "ERROR" {
				return false
			}
			if e.String("type") == "DELETED" {
				failed = &statusError{reason: "NotFound", message: fmt.Sprintf("%s %q not found", t.m.plural(), t.name)}
				return false
			}
			t.obj = e.At("object")
			found, failed = done(t.obj)
			return !found && failed == nil
		})
		if err == nil && a != nil {
			_, err = c.checked(a)
		}
		if err != nil || found || failed != nil {
			return firstError(err, failed)
		}
	}
}

func withKind(obj object.Object, m *mapping) {
	obj.SetDefault(m.kind, "kind")
	obj.SetDefault(m.gv(), "apiVersion")
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

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
		switch {
		case err != nil:
			errs = append(errs, err)
		case w.deleted:
			err = c.saidPlain(t, "condition met")
		default:
			err = c.saidPlain(t, "condition met")
		}
	}
	return together(errs)
}

// saidPlain is said for commands without --dry-run.
func (c *call) saidPlain(t *target, what string) error { return c.said(t, what) }

// awaitCreated waits until there is an object.
func (c *call) awaitCreated(t *target, until time.Time) error {
	if t.name == "" {
		return c.saidPlain(t, "condition met")
	}
	t.obj = nil
	if err := c.awaitObject(t, until, func(object.Object) (bool, error) { return true, nil }); err != nil {
		return err
	}
	return c.saidPlain(t, "condition met")
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
		found, err := path.all(map[string]any(obj))
		if err != nil || len(found) == 0 {
			return false, nil
		}
		if len(found) > 1 {
			return false, fmt.Errorf("given jsonpath expression matches more than one value")
		}
		return !compared || plain(found[0]) == value, nil
	}}, nil
}
