package client

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// Await watches an object until done returns true. It returns an error if the object is deleted before that, if done returns an
// error, or when the deadline until has passed. It stores the newest state of the object in info.
func (c *Client) Await(info *Info, until time.Time, done func(obj object.Object) (bool, error)) error {
	return c.watchUntil(info, until, func(items []object.Object, err error) (bool, error) {
		switch {
		case err != nil:
			return false, err
		case len(items) > 0:
			info.Mapping.Default(items[0])
			info.Object = items[0]
			return done(items[0])
		case info.Object != nil:
			return false, info.notFound()
		}
		return false, nil
	}, func(kind string, obj object.Object) (bool, error) {
		if kind == "DELETED" {
			return false, info.notFound()
		}
		info.Object = obj
		return done(obj)
	})
}

// AwaitGone waits until the object with a UID is gone or another object has its name. If uid is "", it waits until no object has
// the name. It returns an error when the deadline until has passed.
func (c *Client) AwaitGone(info *Info, uid string, until time.Time) error {
	return c.watchUntil(info, until, func(items []object.Object, err error) (bool, error) {
		return err != nil || len(items) == 0 || uid != "" && items[0].UID() != uid, nil
	}, func(kind string, _ object.Object) (bool, error) { return kind == "DELETED", nil })
}

// watchUntil lists and then watches a single object until listed or event returns true or an error. If the watch ends before
// that, watchUntil starts again.
func (c *Client) watchUntil(info *Info, until time.Time, listed func(items []object.Object, err error) (done bool, failed error),
	event func(kind string, obj object.Object) (done bool, failed error)) error {
	path, fields := info.Mapping.Path(info.Namespace, ""), "metadata.name="+info.Name
	for {
		list, err := c.Get(path, Query("fieldSelector", fields))
		if done, err := listed(list.Objects("items"), err); done || err != nil {
			return err
		}
		left := until.Sub(c.Now())
		if left <= 0 {
			return fmt.Errorf("timed out waiting for the condition on %s/%s", info.Mapping.Resource, info.Name)
		}
		var done bool
		var failed error
		query := Query("fieldSelector", fields, "watch", "true", "resourceVersion", list.ResourceVersion())
		err = c.Watch(c.Request(wire.MethodGet, path, query, "", nil), left, func(frame []byte) bool {
			e, err := object.Parse(frame)
			if err != nil || e.String("type") == "ERROR" {
				return false
			}
			done, failed = event(e.String("type"), e.At("object"))
			return !done && failed == nil
		})
		if err != nil || done || failed != nil {
			return cmp.Or(err, failed)
		}
	}
}
