package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// about identifies the target of a request: the objects of a resource, or one of them.
type about struct{ resource, namespace, name, subresource string }

// aboutOf parses a path: /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE, or a prefix of it. It returns the zero
// value for other paths.
func aboutOf(path string) (a about) {
	parts := strings.SplitN(path, "/", 9) // the first element is empty, because the path begins with a slash
	var group string
	switch {
	case len(parts) > 3 && parts[1] == "api":
		parts = parts[3:]
	case len(parts) > 4 && parts[1] == "apis":
		group, parts = "."+parts[2], parts[4:]
	default:
		return a
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		a.namespace, parts = parts[1], parts[2:]
	}
	a.resource = parts[0] + group
	if len(parts) > 1 {
		a.name = parts[1]
	}
	if len(parts) > 2 {
		a.subresource = parts[2]
	}
	return a
}

// memory records what a client has learned from responses and events, apart from its last response.
type memory struct {
	known map[about]uint64  // the newest revision of each object
	came  map[string]uint64 // the last revision of its watches, by scope
	page  *call             // its last list if another page follows, otherwise nil
}

func newMemory() memory { return memory{known: map[about]uint64{}, came: map[string]uint64{}} }

// scope returns the path and the selectors of a list or a watch as one string, the key of memory.came.
func (c *call) scope() string {
	return c.path + "?" + c.query.Get("labelSelector") + "&" + c.query.Get("fieldSelector")
}

// remember updates the client's memory with the object or list in the response.
func (c *call) remember() {
	m, body, whole := c.client, c.body, c.exchange.Lost == 0
	if whole && c.exchange.Method == "GET" && c.about.resource != "" && c.about.name == "" && !c.watching() {
		if m.page = nil; body.String("metadata", "continue") != "" {
			m.page = c
		}
	}
	if !whole || c.exchange.Method == "DELETE" || c.answer.Code >= 300 || body.ResourceVersion() == "" {
		return
	}
	for _, item := range body.Objects("items") {
		m.rememberObject(c.about.resource, item)
	}
	if body["items"] == nil {
		m.rememberObject(c.about.resource, body)
	}
}

// rememberObject records the revision of an object and returns that revision.
func (m *memory) rememberObject(resource string, obj object.Object) uint64 {
	rev, _ := strconv.ParseUint(obj.ResourceVersion(), 10, 64)
	at := about{resource: resource, namespace: obj.Namespace(), name: obj.Name()}
	m.known[at] = max(m.known[at], rev)
	return rev
}

// rememberEvent records the revision of a watch event.
func (c *call) rememberEvent(e *Event) {
	rev := uint64(0)
	switch {
	case e.Type == watchcache.Error || e.Object == nil:
		return
	case e.Type == watchcache.Bookmark:
		rev, _ = strconv.ParseUint(e.Object.ResourceVersion(), 10, 64)
	default:
		rev = c.client.rememberObject(c.about.resource, e.Object)
	}
	scope := c.scope()
	c.client.came[scope] = max(c.client.came[scope], rev)
}

// nextPage adds the request for the page that follows the client's last list, if there is one.
func (b *builder) nextPage() error {
	last := b.client.page
	if last == nil {
		b.w.say("%s has no page to turn", b.client.name)
		return nil
	}
	q := maps.Clone(last.query)
	q.Del("resourceVersion")
	q.Del("resourceVersionMatch")
	q.Set("continue", last.body.String("metadata", "continue"))
	b.add("GET", last.path, q, "", nil).def = last.def
	return nil
}

// revisionOf returns the revision that a word stands for: "seen", or an offset from the newest revision. For "seen", it returns 0
// if the client has seen no revision.
func (b *builder) revisionOf(word string, d *resource.Definition, namespace, name string, q url.Values) (uint64, error) {
	switch {
	case word != "seen":
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("a revision is a number, last, seen, or -20 or +3 from the newest one; not %q", word)
		}
		return uint64(max(int64(cmp.Or(b.w.newest, b.w.cluster.Revision()))+n, 1)), nil
	case name == "":
		return b.client.came[(&call{path: b.location(d, namespace, ""), query: q}).scope()], nil
	}
	at := about{resource: d.GroupResource().String(), name: name}
	if d.Namespaced {
		at.namespace = b.namespace(namespace)
	}
	return b.client.known[at], nil
}
