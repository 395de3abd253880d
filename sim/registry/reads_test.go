package registry_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

var (
	badToken = step{"continue token", func(_ *testing.T, x *trial) { x.list.Continue = "?" }, "invalid continue token"}

	badVersion = step{"resourceVersion is a number", func(_ *testing.T, x *trial) { x.list.ResourceVersion = "x" }, `invalid resource version: resourceVersion: Invalid value: "x"`}

	filling = step{"cache is filled", func(_ *testing.T, x *trial) { x.Filling = true }, "storage is (re)initializing"}
)

// meanwhile returns a mutating plugin that lets another client write the object of the request the first time it is called. The
// plugin counts its calls in asked.
func (x *trial) meanwhile(t *testing.T, asked *int) func(*admission.Attributes) *status.Status {
	return func(*admission.Attributes) *status.Status {
		if *asked++; *asked > 1 {
			return nil
		}
		q := &registry.Request{Definition: x.Hubs["configmaps"], Namespace: "ns", Name: "a", Manager: "other"}
		_, s := x.Registry().Update(q, registry.Change{Make: func(object.Object) (object.Object, *status.Status) {
			obj := config("a")
			obj.Set("w", "data", "other")
			return obj, nil
		}})
		if s != nil {
			t.Fatal(s)
		}
		return nil
	}
}

// get reads an object, and advances the clock by the time that a read waits for its cache.
func get(_ *testing.T, x *trial) (s *status.Status) {
	x.reg.Get(x.q, x.version, func(_ *resource.Item, failed *status.Status) { s = failed })
	x.Clock.Advance(registry.FreshnessTimeout)
	return s
}

// A get without a resourceVersion reads from the store. Any other get reads from the cache, even if the store cannot be reached.
func TestGetInOrder(t *testing.T) {
	t.Parallel()
	missing := step{"object is there", func(*testing.T, *trial) {}, `configmaps "a" not found`}
	inOrder(t, get, []step{noName, unreachable, missing})

	future := step{"revision is there within 3 s", func(_ *testing.T, x *trial) { x.version = "99" }, "Too large resource version: 99, current: 1"}
	unread := step{"resourceVersion is a number", func(_ *testing.T, x *trial) { x.version = "x" }, `Invalid value: "x"`}
	inOrder(t, get, []step{noName, unread, future, missing})

	is := is.New(t)
	x := newTrial(t)
	x.present(t)
	x.version, x.Unreachable, x.Filling = "0", true, false
	is.True(get(t, x) == nil)
	x.Filling = true // the store has to serve it then
	is.Equal(get(t, x).Reason, status.ReasonServerTimeout)
}

func list(_ *testing.T, x *trial) (s *status.Status) {
	x.reg.List(x.q, x.list, func(_ *registry.Page, failed *status.Status) { s = failed })
	x.Clock.Advance(registry.FreshnessTimeout)
	return s
}

// A list checks the token first, then the resourceVersion, and then whether it can be served now.
func TestListInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, list, []step{badToken, badVersion, filling, unreachable})

	is := is.New(t)
	x := newTrial(t)
	x.list.Limit, x.Filling = 1, true
	is.True(list(t, x) == nil) // a page is cheap: the store serves it
	x.list.ResourceVersion, x.Filling, x.Unreachable = "0", false, true
	is.True(list(t, x) == nil) // any state of the cache
}

// Invalid parameters, or a cache that is being filled, are an error before a watch begins. Any other error is the only event of a
// stream that has begun.
func TestWatchInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, watch, []step{
		{badVersion.name, badVersion.fail, `Invalid value: "x"`},
		filling,
		{unreachable.name, unreachable.fail, "event: "},
	})
}

// watch opens a watch and returns its error: that of opening it, or else the first error event of the stream.
func watch(_ *testing.T, x *trial) *status.Status {
	var event *status.Status
	x.list.SendInitialEvents = new(true) // as if the client did not set it
	_, s := x.reg.Watch(x.q, x.list, watchcache.Encoder{Encode: func(n watchcache.Notice) codec.Text {
		if n.Type == watchcache.Error {
			event = status.BadRequest("event: %s", n.Status.Message)
		}
		return nil
	}})
	if s != nil {
		return s
	}
	return event
}

// connect sends the object to a subresource that has a connector.
func connect(_ *testing.T, x *trial) *status.Status {
	_, s := x.reg.Connect(x.q, "create", x.obj)
	return s
}

// A create of a subresource such as pods/binding: mutating admission runs before the connector, which itself runs validating
// admission.
func TestConnectInOrder(t *testing.T) {
	t.Parallel()
	steps := []step{otherNamespace, refuses("mutating admission"), refuses("connector"), refuses("validating admission")}
	inOrder(t, func(t *testing.T, x *trial) *status.Status {
		x.def.Connect = func(c *resource.Connection) (object.Object, *status.Status) {
			if s := x.ask("connector"); s != nil {
				return nil, s
			}
			return c.Body, c.Admit()
		}
		return connect(t, x)
	}, steps)
	unwritten := step{"somebody has written it", func(*testing.T, *trial) {}, "kubesim does not simulate configmaps/ yet"}
	inOrder(t, connect, []step{unwritten}, steps...)
}
