package record

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Story is a recording as a sequence of changes: the objects that existed when it began, and the later writes of the program and of other
// clients.
//
//	Entries ─ NewStory ─▶ Story ─┬─ Scenario ─▶ a scenario: everything
//	                             └─ fake.Recorded ─▶ a test: the objects and the other clients' writes; the test runs the program
type Story struct {
	Began, Ended time.Time
	Program      string // the recorded program, by its User-Agent

	// Objects existed when the recording began. Definitions of their kinds and their namespaces come first.
	Objects []object.Object
	Writes  []Write
	// Last are the last states that the program saw of the objects that it wrote, by their paths. A deleted object is nil.
	Last map[string]object.Object
	// Others contains, by the same paths, merge patches with the fields that other clients wrote last.
	Others map[string]map[string]any
	// Paths maps the uids of all objects to their paths.
	Paths map[string]string

	targets map[string]target // of kinds, by apiVersion and kind
}

// Write is a request that changes an object.
type Write struct {
	At           time.Time
	Method, Path string // Path has the query of a request of the program
	As           string // the name of the client
	ContentType  string // "" if the body determines it
	Body         any    // nil if there is none
	Own          bool   // the recorded program sends it

	mayFail bool
}

// NewStory returns the story of a recording. Kinds whose definitions the program did not read get definitions without a schema. Events
// and leases that the program writes are omitted.
func NewStory(entries []Entry) (*Story, error) {
	s, err := read(entries)
	if err != nil {
		return nil, err
	}
	return &s.Story, nil
}

// read returns a reader that has read all entries.
func read(entries []Entry) (*reader, error) {
	builtIn, err := schema.Load(schema.Default)
	if err != nil {
		return nil, err
	}
	s := &reader{
		Story: Story{Began: entries[0].At, Ended: entries[len(entries)-1].At, Last: map[string]object.Object{},
			Others: map[string]map[string]any{}, Paths: map[string]string{}, targets: map[string]target{
				"v1 Namespace": {version: "/api/v1", resource: "namespaces"},
				"apiextensions.k8s.io/v1 CustomResourceDefinition": {version: "/apis/apiextensions.k8s.io/v1", resource: "customresourcedefinitions"},
			}},
		builtIn: builtIn, urls: map[int]target{}, requests: map[int]*Request{}, names: map[int]string{}, sent: map[int]int{},
		seen: map[string]int{}, synced: map[int]bool{}, own: map[string]bool{}, known: map[string]bool{}, hasStatus: map[string]bool{},
		looked: map[string]bool{}, wrote: map[string]bool{}, states: map[string]object.Object{},
		namespaces: map[string]object.Object{}, definitions: map[string]object.Object{},
	}
	for n, e := range entries {
		if err := s.learn(n, e); err != nil {
			return nil, fmt.Errorf("request %d: %w", e.ID, err)
		}
	}
	for _, e := range entries {
		s.handle(e)
	}
	var first []object.Object
	for _, known := range []map[string]object.Object{s.definitions, s.namespaces} {
		for _, name := range object.SortedKeys(known) {
			if known[name] != nil {
				first = append(first, known[name])
			}
		}
	}
	s.Objects = append(first, s.Objects...)
	s.Program = cmp.Or(s.Program, clientOf(""))
	for path := range s.wrote { // order does not matter
		s.Last[path] = s.states[path]
	}
	return s, nil
}

// reader reads the entries of a recording.
type reader struct {
	Story
	builtIn   *schema.Set
	urls      map[int]target // of the requests
	requests  map[int]*Request
	names     map[int]string           // the names of the objects that requests have created
	sent      map[int]int              // the positions of requests in the recording
	seen      map[string]int           // the positions of the first events with paths and revisions; 0 if there is none
	synced    map[int]bool             // watches that have delivered the objects that existed
	own       map[string]bool          // paths with the revisions that the program's writes made, and paths that it created or deleted
	known     map[string]bool          // paths with the revisions that are in the story
	hasStatus map[string]bool          // resources with a subresource status, with their groups
	looked    map[string]bool          // paths of collections that were listed, and of objects that did not exist
	wrote     map[string]bool          // paths of objects that the program wrote
	states    map[string]object.Object // the last seen states of objects, by path

	// The namespaces and definitions that existed at first, by name. The value is nil if one was created later.
	namespaces, definitions map[string]object.Object
}

// PathOf returns the path of an object, or "" if the program has seen no object of its kind.
func (s *Story) PathOf(obj object.Object) string {
	switch t, ok := s.targets[kindOf(obj)]; {
	case !ok:
		return ""
	case t.namespace == "": // its objects have no namespaces
		return t.path("", obj.Name())
	default:
		return t.path(obj.Namespace(), obj.Name())
	}
}

// Knows reports whether the recording contains the object at path.
func (s *Story) Knows(path string) bool {
	_, ok := s.Others[path]
	return ok
}

// kindOf returns the apiVersion and the kind of an object.
func kindOf(obj object.Object) string { return obj.APIVersion() + " " + obj.Kind() }

// isTransient reports whether a resource is omitted from stories because programs write its objects all the time: events and leases.
func isTransient(t target) bool { return t.resource == "events" || t.resource == "leases" }

// learn records the requests, and the revisions of the program's writes. An event may come before the answer to its write.
// The answer to a write that changes nothing has the revision of an earlier one, which the program may have seen.
func (s *reader) learn(n int, e Entry) error {
	if event, err := object.Parse(e.Event); err == nil {
		t, obj := s.urls[e.ID], event.At("object")
		if revision := t.path(obj.Namespace(), obj.Name()) + " " + obj.ResourceVersion(); s.seen[revision] == 0 {
			s.seen[revision] = n
		}
	}
	if e.Request != nil {
		s.sent[e.ID] = n
		u, err := url.ParseRequestURI(e.Request.URL)
		if err != nil {
			return err
		}
		s.urls[e.ID], s.requests[e.ID] = targetOf(u), e.Request
		if agent := e.Request.Header["User-Agent"]; s.Program == "" && agent != "" {
			s.Program = clientOf(agent)
		}
	}
	q := s.requests[e.ID]
	if q == nil || e.Answer == nil || e.Answer.Code >= http.StatusBadRequest {
		return nil
	}
	t := s.urls[e.ID]
	if t.subresource == "status" {
		s.hasStatus[t.definition()] = true
	}
	if q.Method == http.MethodGet || q.Other {
		return nil
	}
	if q.Method == http.MethodDelete {
		s.own[t.path(t.namespace, t.name)] = true
	}
	if obj, err := object.Parse(e.Answer.Body.JSON); err == nil && obj.ResourceVersion() != "" {
		path := t.path(obj.Namespace(), obj.Name())
		if e.Answer.Code == http.StatusCreated && t.subresource == "" {
			s.own[path+" created"], s.names[e.ID] = true, obj.Name()
			switch t.resource {
			case "namespaces":
				s.namespaces[obj.Name()] = nil
			case "customresourcedefinitions":
				s.definitions[obj.Name()] = nil
			}
		}
		if revision := path + " " + obj.ResourceVersion(); s.seen[revision] == 0 || s.seen[revision] > s.sent[e.ID] {
			s.own[revision] = true
		}
	}
	return nil
}

// handle adds the objects and the writes of an entry.
func (s *reader) handle(e Entry) {
	t, q := s.urls[e.ID], s.requests[e.ID]
	switch {
	case q == nil || t.resource == "":
	case e.Request != nil && q.Method != http.MethodGet && t.subresource != "token":
		if !isTransient(t) && (!q.Other || t.subresource != "" && t.subresource != "status") {
			s.write(e, t)
		}
	case e.Answer != nil && q.Method != http.MethodGet && e.Answer.Code < 300 && (t.subresource == "" || t.subresource == "status"):
		if !isTransient(t) {
			s.answered(e, q, t)
		}
	case e.Answer != nil && q.Method == http.MethodGet && t.subresource == "":
		s.readAnswer(e, q, t)
	case e.Event != nil:
		event, err := object.Parse(e.Event)
		switch {
		case err != nil:
		case event.String("object", "metadata", "annotations", "k8s.io/initial-events-end") == "true":
			s.synced[e.ID] = true
		default:
			first := strings.Contains(q.URL, "sendInitialEvents=true") && !s.synced[e.ID]
			s.saw(e.At, t, event.String("type"), event.At("object"), first)
		}
	}
}

// readAnswer adds the objects in the answer to a read. They existed from the beginning unless an earlier read did not find them.
func (s *reader) readAnswer(e Entry, q *Request, t target) {
	path := t.path(t.namespace, t.name)
	first := !s.looked[path] && !s.looked[t.path(t.namespace, "")] && !s.looked[t.path("", "")]
	if e.Answer.Code == http.StatusNotFound && t.name != "" {
		s.looked[path] = true
	}
	obj, err := object.Parse(e.Answer.Body.JSON)
	if err != nil || e.Answer.Code != http.StatusOK {
		return // a watch, a stream or an error
	}
	if t.name != "" {
		s.saw(e.At, t, "ADDED", obj, first)
		return
	}
	for _, item := range obj.Objects("items") {
		item.SetDefault(obj.APIVersion(), "apiVersion")
		item.SetDefault(strings.TrimSuffix(obj.Kind(), "List"), "kind")
		s.saw(e.At, t, "ADDED", item, first)
	}
	if obj.String("metadata", "continue") == "" && !strings.Contains(q.URL, "Selector=") {
		s.looked[path] = true
	}
}

// answered adds the result of a write by the program, or of one by another client in an audit log.
func (s *reader) answered(e Entry, q *Request, t target) {
	obj, err := object.Parse(e.Answer.Body.JSON)
	if err != nil {
		return // the log does not contain it
	}
	path := t.path(t.namespace, t.name)
	if q.Method == http.MethodPost {
		path = t.path(obj.Namespace(), obj.Name())
	}
	if !q.Other {
		s.wrote[path] = true
	}
	was := s.states[path]
	switch {
	case q.Method == http.MethodDelete && len(obj.Strings("metadata", "finalizers")) == 0 && obj.Int64("metadata", "deletionGracePeriodSeconds") == 0:
		if delete(s.states, path); q.Other {
			s.Writes = append(s.Writes, deletion(e.At, path, was))
		}
	case obj.Kind() == "Status":
	case q.Method == http.MethodPost:
		n := len(s.Writes)
		s.saw(e.At, t, "ADDED", obj, false)
		for i := range s.Writes[n:] {
			s.Writes[n+i].mayFail = true // a server or a controller may have created it before
		}
	default:
		s.saw(e.At, t, "MODIFIED", obj, false)
	}
}

// write adds a write as it was sent. A PUT becomes a merge patch, because the revision that it is based on does not exist in the story.
// A generated name becomes a given one, so that later requests find the object.
func (s *reader) write(e Entry, t target) {
	q := e.Request
	x := Write{At: e.At, Method: q.Method, Path: q.URL, As: clientOf(q.Header["User-Agent"]), Own: !q.Other, mayFail: true}
	if v, err := object.ParseValue(q.Body.JSON); err == nil {
		x.Body = v
	}
	switch body := object.As(x.Body); {
	case body.GenerateName() != "" && body.Name() == "" && s.names[e.ID] != "":
		body.Set(s.names[e.ID], "metadata", "name")
	case q.Method == http.MethodPut && body != nil:
		x.Method, x.ContentType, x.Body = http.MethodPatch, mergePatch, difference(stored(s.states[t.path(t.namespace, t.name)]), stored(body))
	case q.Method == http.MethodPatch:
		x.ContentType = q.Header["Content-Type"]
	}
	s.Writes = append(s.Writes, x)
}

const mergePatch = "application/merge-patch+json"

// saw adds a state of an object that the program has seen. If first is set, an unknown object existed from the beginning.
func (s *reader) saw(at time.Time, t target, change string, obj object.Object, first bool) {
	path := t.path(obj.Namespace(), obj.Name())
	revision := path + " " + obj.ResourceVersion()
	if obj.Name() == "" || s.known[revision] || change != "ADDED" && change != "MODIFIED" && change != "DELETED" {
		return
	}
	was, gone := s.states[path], change == "DELETED"
	first = first || change == "MODIFIED" && !s.own[path+" created"] // a log may begin in the middle
	t.namespace = obj.Namespace()
	s.known[revision], s.Paths[obj.UID()], s.targets[kindOf(obj)] = true, path, t
	if s.states[path] = obj; gone {
		delete(s.states, path)
	}
	if s.Others[path] == nil || was == nil {
		s.Others[path] = map[string]any{}
	}
	existing := map[string]map[string]object.Object{"namespaces": s.namespaces, "customresourcedefinitions": s.definitions}[t.resource]
	if existing == nil || was != nil {
		s.define(t, obj)
	}
	switch {
	case was == nil && gone:
	case was == nil && first && existing != nil:
		existing[obj.Name()] = obj
	case was == nil && first:
		s.Objects = append(s.Objects, obj)
	case s.own[revision] || gone && s.own[path]:
		unmark(s.Others[path], difference(stored(was), stored(obj)))
	case was == nil:
		mark(s.Others[path], stored(obj))
		if existing != nil {
			existing[obj.Name()] = nil
		}
		s.Writes = append(s.Writes, s.creation(at, t, obj)...)
	case gone:
		s.Writes = append(s.Writes, deletion(at, path, was))
	default:
		mark(s.Others[path], difference(stored(was), stored(obj)))
		s.Writes = append(s.Writes, s.changes(at, t, was, obj)...)
	}
}

// define records the namespace of an object, and the definition of its kind.
func (s *reader) define(t target, obj object.Object) {
	ns := obj.Namespace()
	if _, ok := s.namespaces[ns]; ns != "" && !ok {
		s.namespaces[ns] = object.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}}
	}
	gvk := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	if _, ok := s.definitions[t.definition()]; ok || s.builtIn.Kind(gvk) != nil {
		return
	}
	scope, subresources := "Cluster", map[string]any{}
	if obj.Namespace() != "" {
		scope = "Namespaced"
	}
	if s.hasStatus[t.definition()] {
		subresources["status"] = map[string]any{}
	}
	s.definitions[t.definition()] = object.Object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": t.definition(), // groups of Kubernetes need the annotation
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, from a recording"}},
		"spec": map[string]any{"group": gvk.Group, "scope": scope, "names": map[string]any{"kind": gvk.Kind, "plural": t.resource},
			"versions": []any{map[string]any{"name": gvk.Version, "served": true, "storage": true, "subresources": subresources,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}
}

// clientOf returns the name of a client in the language of scenarios.
func clientOf(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	if name == "" {
		return "client"
	}
	return name
}
