package checker

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// ObjectOf converts a JSON object to an Object. It returns an error if the resourceVersion is not a number.
func ObjectOf(obj object.Object) (*Object, error) {
	o := &Object{Namespace: obj.Namespace(), Name: obj.Name(), UID: obj.UID(), Labels: obj.Labels(),
		Terminating: obj.DeletionTimestamp() != ""}
	rev, err := strconv.ParseUint(obj.ResourceVersion(), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("checker: object %q: resourceVersion %q is not a revision", o.Name, obj.ResourceVersion())
	}
	o.Rev = rev
	rest, meta := maps.Clone(obj), maps.Clone(obj.Map("metadata"))
	delete(rest, "kind")
	delete(rest, "apiVersion")
	delete(meta, "resourceVersion")
	rest["metadata"] = map[string]any(meta)
	h := fnv.New64a()
	h.Write(object.JSON(map[string]any(rest)))
	o.Digest = h.Sum64()
	return o, nil
}

// ReadAnswer is like TakeAnswer, but parses the body first. A body that cannot be parsed makes the call Broken.
func (c *Call) ReadAnswer(code int, body []byte) error {
	obj, _ := object.Parse(body)
	return c.TakeAnswer(code, obj)
}

// TakeAnswer sets the result of a call from the body of its response. If obj is nil, the body could not be parsed and
// the call is Broken.
func (c *Call) TakeAnswer(code int, obj object.Object) (err error) {
	c.Code = code
	switch {
	case code == 429 || code == 204: // the body is plain text or empty
		return nil
	case obj == nil:
		c.Broken = true
		return fmt.Errorf("checker: %s: the body of %d is not a JSON object", c, code)
	case obj.Kind() == "Status":
		c.Next, c.Reason = obj.String("metadata", "continue"), obj.String("reason")
		return nil
	case c.Verb == "list" || c.Verb == "deletecollection":
		err = c.readList(obj)
	default:
		var o *Object
		if o, err = ObjectOf(obj); err == nil {
			c.Objects, c.Rev = []*Object{o}, o.Rev
		}
	}
	c.Broken = err != nil
	return err
}

func (c *Call) readList(list object.Object) error {
	rev, err := strconv.ParseUint(list.ResourceVersion(), 10, 64)
	if err != nil {
		return fmt.Errorf("checker: %s: the list has resourceVersion %q", c, list.ResourceVersion())
	}
	c.Rev, c.Next = rev, list.String("metadata", "continue")
	for _, x := range list.List("items") {
		item, ok := x.(map[string]any)
		if !ok {
			return fmt.Errorf("checker: %s: an item of the list is not an object", c)
		}
		o, err := ObjectOf(item)
		if err != nil {
			return err
		}
		c.Objects = append(c.Objects, o)
	}
	return nil
}

// initialEventsEnd is the annotation of the bookmark that ends the initial events (KEP-3157).
const initialEventsEnd = "k8s.io/initial-events-end"

// ReadEvent parses one frame of a watch, received at a step, and appends it to the stream. It returns an error if the
// frame cannot be parsed.
func (s *Stream) ReadEvent(frame []byte, step int64) error {
	f, err := object.Parse(frame)
	if err != nil {
		return fmt.Errorf("checker: %s: a frame: %w", s, err)
	}
	ev, err := EventOf(f)
	if err != nil {
		return fmt.Errorf("checker: %s: %w", s, err)
	}
	ev.Step = step
	s.Events = append(s.Events, ev)
	return nil
}

// EventOf converts a frame of a watch to an Event. It returns an error if the frame is not a valid event.
func EventOf(frame object.Object) (ev Event, err error) {
	ev.Type = frame.String("type")
	obj := object.Object(frame.Map("object"))
	switch ev.Type {
	case Added, Modified, Deleted:
		if ev.Object, err = ObjectOf(obj); err == nil {
			ev.Rev = ev.Object.Rev
		}
	case Bookmark:
		if ev.Rev, err = strconv.ParseUint(obj.ResourceVersion(), 10, 64); err != nil {
			err = fmt.Errorf("a bookmark has resourceVersion %q", obj.ResourceVersion())
		}
		ev.InitialEnd = obj.Annotations()[initialEventsEnd] == "true"
	case Error:
		ev.Code = int(obj.Int64("code"))
	default:
		err = fmt.Errorf("an event of type %q", ev.Type)
	}
	return ev, err
}

// Rebuild reconstructs the log of a history from one list and one stream per resource, for servers whose store cannot
// be read. The streams must have no selectors, begin at the revisions of the lists, and have been read to their end,
// because the log contains only the commits that they delivered. The steps of these commits are unknown.
func Rebuild(h *History, lists []*Call, full []*Stream) {
	h.From, h.Before, h.Commits = math.MaxUint64, nil, nil
	for _, l := range lists {
		h.From = min(h.From, l.Rev)
		for _, o := range l.Objects {
			h.Before = append(h.Before, Commit{ID: ID{l.Scope.Resource, o.Namespace, o.Name}, Rev: o.Rev, Object: o})
		}
	}
	for _, s := range full {
		for ev := range visibleEvents(s.Events) {
			c := Commit{ID: ID{s.Scope.Resource, ev.Object.Namespace, ev.Object.Name}, Rev: ev.Rev}
			if ev.Type != Deleted {
				c.Object = ev.Object
			}
			h.Commits = append(h.Commits, c)
		}
	}
	slices.SortStableFunc(h.Commits, func(a, b Commit) int { return cmp.Compare(a.Rev, b.Rev) })
}
