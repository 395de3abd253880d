package kubectl

import (
	"fmt"
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
