package soak

import (
	"fmt"

	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/wire"
)

// Request is an Op as it goes to a server: the HTTP request, and what is noted of it.
type Request struct {
	Method      string
	Path        string
	Query       url.Values
	ContentType string
	Body        string

	Call   *checker.Call   // nil: it is a watch
	Stream *checker.Stream // nil: it is none
}

// Memory is what one client knows from earlier answers.
type Memory struct {
	Known map[checker.ID]uint64    // newest revision of each object that it was shown
	Last  map[checker.Scope]uint64 // how far its watches have come
	Token *checker.Call            // the last list that was not complete
}

// NewMemory returns the memory of a client that knows nothing.
func NewMemory() *Memory {
	return &Memory{Known: map[checker.ID]uint64{}, Last: map[checker.Scope]uint64{}}
}

// Learn takes in an answer.
func (m *Memory) Learn(c *checker.Call) {
	if c.Verb == "list" && c.Returned != 0 && !c.Broken {
		m.Token = nil
		if c.Next != "" {
			m.Token = c
		}
	}
	if !c.Done() || c.Verb == "delete" || c.Verb == "deletecollection" {
		return
	}
	for _, o := range c.Objects {
		at := checker.ID{Resource: c.Resource, Namespace: o.Namespace, Name: o.Name}
		if c.Resource == "" {
			at.Resource = c.Scope.Resource
		}
		m.Known[at] = max(m.Known[at], o.Rev)
	}
}

// Saw takes in an event.
func (m *Memory) Saw(s *checker.Stream, ev *checker.Event) {
	switch {
	case ev.Type == checker.Error:
		return
	case ev.Object != nil:
		at := checker.ID{Resource: s.Scope.Resource, Namespace: ev.Object.Namespace, Name: ev.Object.Name}
		m.Known[at] = max(m.Known[at], ev.Rev)
	}
	m.Last[s.Scope] = max(m.Last[s.Scope], ev.Rev)
}

// maker makes requests of ops.
type maker struct {
	m   *Memory
	n   int    // of the op
	rev uint64 // the store's
}

// Make makes the n-th request, for a client that remembers m, of a store at a revision. It is nil when there is nothing
// to ask: no page to turn.
func Make(o Op, m *Memory, n int, rev uint64) *Request {
	k := maker{m, n, rev}
	switch o.Verb {
	case "create", "update", "patch", "apply", "delete":
		return k.write(o)
	case "deletecollection":
		q, scope := k.scoped(o)
		q.Method = wire.MethodDelete
		q.Call = &checker.Call{Verb: o.Verb, Scope: scope}
		return q
	case "get":
		resource, key := o.resource()
		at := id(resource, key)
		c := &checker.Call{Verb: "get", ID: at, Version: k.version(o, checker.Scope{})}
		path := resources[resource].collection(at.Namespace) + "/" + at.Name
		q := &Request{Method: wire.MethodGet, Path: path, Query: url.Values{}, Call: c}
		set(q.Query, "resourceVersion", c.Version)
		return q
	case "list":
		return k.list(o)
	case "page":
		return k.page()
	case "watch":
		return k.watch(o)
	}
	return nil
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func (k maker) write(o Op) *Request {
	resource, key := o.resource()
	at, kind := id(resource, key), resources[resource]
	c := &checker.Call{Verb: o.Verb, ID: at}
	if _, ok := o.Args["based"]; ok {
		c.Based = k.m.Known[at]
	}
	q := &Request{Path: kind.collection(at.Namespace) + "/" + at.Name, Query: url.Values{}, ContentType: "application/json", Call: c}
	label := o.Args["label"]
	switch o.Verb {
	case "create":
		q.Method, q.Path = wire.MethodPost, kind.collection(at.Namespace)
		q.Body = kind.object(at, label, k.n, 0)
	case "update":
		q.Method, q.Body = wire.MethodPut, kind.object(at, label, k.n, c.Based)
	case "apply":
		c.Verb = "patch"
		q.Method, q.ContentType, q.Body = wire.MethodPatch, "application/apply-patch+yaml", kind.object(at, label, k.n%3, 0)
		q.Query.Set("fieldManager", "soak")
		if _, force := o.Args["force"]; force {
			q.Query.Set("force", "true")
		}
	case "patch":
		q.Method = wire.MethodPatch
		q.ContentType, q.Body = patch(o, label, k.n, c.Based)
	case "delete":
		q.Method = wire.MethodDelete
		if c.Based != 0 {
			q.Body = fmt.Sprintf(`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"%d"}}`, c.Based)
		}
	}
	return q
}

// patch makes a patch that changes a label and an annotation, and may put a finalizer on or take it off.
func patch(o Op, label string, n int, based uint64) (contentType, body string) {
	if o.Args["type"] == "json" && o.Args["finalizer"] == "" {
		test := ""
		if based != 0 {
			test = fmt.Sprintf(`{"op":"test","path":"/metadata/resourceVersion","value":"%d"},`, based)
		}
		return "application/json-patch+json", fmt.Sprintf(`[%s{"op":"add","path":"/metadata/annotations","value":{"j":"%d"}}]`, test, n)
	}
	value := fmt.Sprintf("%q", label)
	if label == "l2" {
		value = "null"
	}
	guard := map[string]string{"on": `,"finalizers":["example.com/soak"]`, "off": `,"finalizers":null`}[o.Args["finalizer"]]
	if based != 0 {
		guard += fmt.Sprintf(`,"resourceVersion":"%d"`, based)
	}
	return "application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"app":%s},"annotations":{"m":"%d"}%s}}`, value, n%5, guard)
}

// scoped begins the request about a collection.
func (k maker) scoped(o Op) (*Request, checker.Scope) {
	resource, namespace := o.resource()
	s := checker.Scope{Resource: resource, Namespace: namespace, Name: o.Args["name"],
		Selector: strings.ReplaceAll(o.Args["selector"], "+", " ")}
	q := &Request{Method: wire.MethodGet, Path: resources[resource].collection(namespace), Query: url.Values{}}
	set(q.Query, "labelSelector", s.Selector)
	if s.Name != "" {
		q.Query.Set("fieldSelector", "metadata.name="+s.Name)
	}
	return q, s
}

// version returns the resourceVersion that an op asks for.
func (k maker) version(o Op, s checker.Scope) string {
	switch rv := o.Args["rv"]; {
	case rv == "" || rv == "0":
		return rv
	case rv == "last":
		if last := k.m.Last[s]; last != 0 {
			return strconv.FormatUint(last, 10)
		}
		return ""
	default:
		n, _ := strconv.ParseInt(rv, 10, 64)
		return strconv.FormatInt(max(int64(k.rev)+n, 1), 10)
	}
}

func (k maker) list(o Op) *Request {
	q, s := k.scoped(o)
	c := &checker.Call{Verb: "list", Scope: s, Version: k.version(o, s), Match: o.Args["match"]}
	c.Limit, _ = strconv.Atoi(o.Args["limit"])
	q.Call = c
	set(q.Query, "resourceVersion", c.Version)
	set(q.Query, "resourceVersionMatch", c.Match)
	set(q.Query, "limit", o.Args["limit"])
	return q
}

// page turns the page of the client's last list.
func (k maker) page() *Request {
	if k.m.Token == nil {
		return nil
	}
	t := k.m.Token
	o := Op{Words: []string{t.Scope.Resource}, Args: map[string]string{"selector": t.Scope.Selector, "name": t.Scope.Name}}
	if t.Scope.Namespace != "" {
		o.Words = append(o.Words, t.Scope.Namespace)
	}
	q, s := k.scoped(o)
	q.Call = &checker.Call{Verb: "list", Scope: s, Continue: t.Next, Limit: t.Limit}
	q.Query.Set("continue", t.Next)
	set(q.Query, "limit", strconv.Itoa(t.Limit))
	return q
}

func (k maker) watch(o Op) *Request {
	q, s := k.scoped(o)
	w := &checker.Stream{Scope: s, Version: k.version(o, s)}
	_, w.Bookmarks = o.Args["bookmarks"]
	_, none := o.Args["noinitial"]
	_, legacy := o.Args["legacy"]
	q.Query.Set("watch", "true")
	set(q.Query, "resourceVersion", w.Version)
	if w.Bookmarks {
		q.Query.Set("allowWatchBookmarks", "true")
	}
	begins := w.Version == "" || w.Version == "0"
	switch {
	case none:
		q.Query.Set("sendInitialEvents", "false")
		q.Query.Set("resourceVersionMatch", "NotOlderThan")
	case legacy || !begins && o.Args["rv"] == "last":
		w.Initial = begins
	default:
		w.Initial = true
		q.Query.Set("sendInitialEvents", "true")
		q.Query.Set("resourceVersionMatch", "NotOlderThan")
	}
	q.Stream = w
	return q
}
