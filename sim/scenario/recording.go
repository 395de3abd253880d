package scenario

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/object"
)

// expiring lists the resources whose objects expire: an Event is deleted after an hour.
var expiring = []string{"events"}

// history records commits, requests and watch events for package checker. The step of each (Commit.Step, Call.Called) is the
// number of the scenario's operation during which it occurred.
type history struct {
	checker.History
	objects map[string]*checker.Object // committed objects by their JSON, because most responses contain the same JSON
	events  map[string]checker.Event   // events by their JSON, because watches of one resource share most events
}

// History returns the recorded history, or nil if nothing is recorded. Later operations add to it.
func (w *World) History() *checker.History {
	if w.recording == nil {
		return nil
	}
	return &w.recording.History
}

// startRecording starts a new recording with the existing objects.
func (w *World) startRecording(op *Op) (err error) {
	if w.recording, err = newHistory(w); err != nil {
		return err
	}
	w.cluster.OnCommit(w.committing)
	w.addControlFrame(op, "store", 0)
	return nil
}

// committing records a commit. The caller holds the cluster's lock.
func (w *World) committing(c sim.Commit) { w.recording.committed(w.op, &c, w.read(c.Object)) }

// newHistory returns a history that begins now, with the existing objects.
func newHistory(w *World) (*history, error) {
	h := &history{checker.History{From: w.cluster.Revision(), Expiring: expiring}, map[string]*checker.Object{},
		map[string]checker.Event{}}
	seen := map[string]bool{}
	for _, d := range w.cluster.Server(1).Table.All() {
		if seen[d.Storage] {
			continue
		}
		seen[d.Storage] = true
		list, err := w.cluster.ListAt(d, "", "", 0)
		if err != nil {
			return nil, err
		}
		for _, obj := range list {
			o, err := checker.ObjectOf(obj)
			if err != nil {
				return nil, err
			}
			h.Before = append(h.Before, checker.Commit{ID: checker.ID{Resource: d.GroupResource().String(), Namespace: o.Namespace, Name: o.Name},
				Rev: o.Rev, Object: o})
		}
	}
	return h, nil
}

// broken returns descriptions of the broken promises. healed reports that all pending events have arrived, so that missing ones
// break a promise.
func (h *history) broken(healed bool) (out []string) {
	h.Settled = healed
	for _, v := range checker.Check(&h.History) {
		out = append(out, v.Error())
	}
	return out
}

func (h *history) committed(op int, c *sim.Commit, obj object.Object) {
	made := checker.Commit{ID: checker.ID{Resource: c.Resource, Namespace: c.Namespace, Name: c.Name}, Rev: c.Rev, Step: int64(op)}
	if c.Object != nil {
		var err error
		if made.Object, err = checker.ObjectOf(obj); err != nil {
			h.unreadable(err)
			return
		}
		h.objects[string(c.Object)] = made.Object
	}
	h.Commits = append(h.Commits, made)
}

// moved records that the World continues with another cluster, which ends all open streams.
func (h *history) moved() {
	for _, s := range h.Streams {
		s.Ended = true
	}
}

func (h *history) unreadable(err error) {
	if err != nil {
		h.Unreadable = append(h.Unreadable, err.Error())
	}
}

// sent records a request. It returns nil for requests that no promise covers: reads of subresources, and reads with a
// selector for fields other than the name.
func (h *history) sent(c *call) *callRecord {
	a, q := c.about, c.query
	fields := q.Get("fieldSelector")
	name, byName := strings.CutPrefix(fields, "metadata.name=")
	x := c.exchange
	switch {
	case a.resource == "", x.Method == "GET" && (a.subresource != "" || fields != "" && !byName), c.watching() && c.output != "":
		return nil
	}
	s := checker.Scope{Resource: a.resource, Namespace: a.namespace, Name: name, Selector: q.Get("labelSelector")}
	if c.watching() {
		stream := &checker.Stream{N: c.op, Client: x.Client, Scope: s, Version: q.Get("resourceVersion"), Called: int64(c.op),
			Bookmarks: q.Get("allowWatchBookmarks") == "true"}
		stream.Initial = q.Get("sendInitialEvents") == "true" ||
			!q.Has("sendInitialEvents") && (stream.Version == "" || stream.Version == "0")
		h.Streams = append(h.Streams, stream)
		return &callRecord{h: h, stream: stream}
	}
	made := &checker.Call{N: c.op, Client: x.Client, Called: int64(c.op), Verb: verbs[x.Method]}
	if a.name != "" || x.Method == "POST" {
		made.ID = checker.ID{Resource: a.resource, Namespace: a.namespace, Name: cmp.Or(a.name, c.made)}
	} else {
		made.Scope = s
	}
	switch x.Method {
	case "GET":
		if a.name == "" {
			made.Verb = "list"
		}
		made.Version, made.Match, made.Continue = q.Get("resourceVersion"), q.Get("resourceVersionMatch"), q.Get("continue")
		made.Limit, _ = strconv.Atoi(q.Get("limit"))
	case "DELETE":
		if a.name == "" {
			made.Verb = "deletecollection"
		}
		fallthrough
	default:
		made.Based = asked(made, x.Body)
	}
	h.Calls = append(h.Calls, made)
	return &callRecord{h: h, call: made}
}

var verbs = map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

// asked parses the body of a write. It sets the name of a created object in c, and returns the resourceVersion that the body
// contains, or 0.
func asked(c *checker.Call, body []byte) (based uint64) {
	if c.Name != "" && !bytes.Contains(body, []byte("resourceVersion")) {
		return 0
	}
	v, _ := object.ParseValue(body)
	var rv string
	switch v := v.(type) {
	case map[string]any:
		obj := object.Object(v)
		c.Name = cmp.Or(c.Name, obj.Name())
		rv = cmp.Or(obj.ResourceVersion(), obj.String("preconditions", "resourceVersion"))
	case []any:
		for _, step := range object.ObjectsOf(v) {
			if step.String("op") == "test" && step.String("path") == "/metadata/resourceVersion" {
				rv = step.String("value")
			}
		}
	}
	based, _ = strconv.ParseUint(rv, 10, 64)
	return based
}

// callRecord records either the result of a call or the events of a watch; the other field is nil.
type callRecord struct {
	h      *history
	call   *checker.Call
	stream *checker.Stream
}

// answered records a response. A response that does not show the resulting object counts as a broken connection.
func (n *callRecord) answered(op int, c *call) {
	if n.stream != nil {
		n.stream.Ended = c.answer.Watch == nil
		return
	}
	n.call.Returned = int64(op)
	if c.exchange.Lost > 0 || c.about.subresource != "" || c.query.Has("dryRun") || c.body.Kind() == "Table" ||
		c.output == "protobuf" {
		n.call.Code, n.call.Broken = c.answer.Code, true
		return
	}
	if o := n.h.objects[string(bytes.TrimRight(c.exchange.ResBody, "\n"))]; o != nil {
		n.call.Code, n.call.Objects, n.call.Rev = c.answer.Code, []*checker.Object{o}, o.Rev
		return
	}
	n.h.unreadable(n.call.TakeAnswer(c.answer.Code, c.body))
}

func (n *callRecord) event(op int, text []byte, frame object.Object) {
	if n.stream == nil { // the parsed parameters did not request this watch
		return
	}
	ev, ok := n.h.events[string(text)]
	if !ok {
		var err error
		if ev, err = checker.EventOf(frame); err != nil {
			n.h.unreadable(fmt.Errorf("%s: %w", n.stream, err))
			return
		}
		n.h.events[string(text)] = ev
	}
	ev.Step = int64(op)
	n.stream.Events = append(n.stream.Events, ev)
}

// ended records the end of the watch. n may be nil if nothing is recorded.
func (n *callRecord) ended() {
	if n != nil && n.stream != nil {
		n.stream.Ended = true
	}
}
