package client

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// errTimedOut is the error of a wait that is over.
func errTimedOut(info *Info) error {
	return fmt.Errorf("timed out waiting for the condition on %s/%s", info.Mapping.Resource, info.Name)
}

// Await watches an object until done says so. It is an error if the object is deleted meanwhile.
func (c *Client) Await(info *Info, until time.Time, done func(obj object.Object) (bool, error)) error {
	for {
		list, err := c.listOf(info)
		if err != nil {
			return err
		}
		if items := list.Objects("items"); len(items) > 0 {
			info.Mapping.Default(items[0])
			info.Object = items[0]
			if ok, err := done(items[0]); ok || err != nil {
				return err
			}
		} else if info.Object != nil {
			return info.notFound()
		}
		left := until.Sub(c.Now())
		if left <= 0 {
			return errTimedOut(info)
		}
		var found bool
		var failed error
		err = c.Watch(c.watchOf(info, list.ResourceVersion()), left, func(frame []byte) bool {
			e, err := object.Parse(frame)
			if err != nil || e.String("type") == "ERROR" {
				return false
			}
			if e.String("type") == "DELETED" {
				failed = info.notFound()
				return false
			}
			info.Object = e.At("object")
			found, failed = done(info.Object)
			return !found && failed == nil
		})
		if err != nil || found || failed != nil {
			return cmp.Or(err, failed)
		}
	}
}

// AwaitGone waits until the object with a uid is gone or another one has its name. If uid is "", any object counts.
func (c *Client) AwaitGone(info *Info, uid string, until time.Time) error {
	for {
		list, err := c.listOf(info)
		if err != nil || len(list.Objects("items")) == 0 {
			return nil
		}
		if is := list.Objects("items")[0].UID(); uid != "" && is != uid {
			return nil
		}
		left := until.Sub(c.Now())
		if left <= 0 {
			return errTimedOut(info)
		}
		gone := false
		err = c.Watch(c.watchOf(info, list.ResourceVersion()), left, func(frame []byte) bool {
			e, err := object.Parse(frame)
			gone = err == nil && e.String("type") == "DELETED"
			return err == nil && !gone && e.String("type") != "ERROR"
		})
		if err != nil || gone {
			return err
		}
	}
}

// listOf returns a list with the object alone.
func (c *Client) listOf(info *Info) (object.Object, error) {
	return c.Get(info.Mapping.Path(info.Namespace, ""), Query("fieldSelector", "metadata.name="+info.Name))
}

// watchOf returns the request that watches the object from a revision.
func (c *Client) watchOf(info *Info, revision string) *Request {
	return c.Request(wire.MethodGet, info.Mapping.Path(info.Namespace, ""),
		Query("fieldSelector", "metadata.name="+info.Name, "watch", "true", "resourceVersion", revision), "", nil)
}
