package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// resourceAt is a resource in the discovery document.
type resourceAt struct {
	group, path, name, kind string // "apps", "/apis/apps/v1", "deployments", "Deployment"
	namespaced              bool
}

// collection returns the path at which to list the resource in a namespace. If namespace is empty, the path covers all
// namespaces.
func (r resourceAt) collection(namespace string) string {
	if r.namespaced && namespace != "" {
		return r.path + "/namespaces/" + namespace + "/" + r.name
	}
	return r.path + "/" + r.name
}

// resources returns the resources in the discovery document that can be listed and watched, each in its preferred
// version. It omits leases, which change all the time, events.k8s.io, which duplicates events, and custom resources of
// other cases.
func (l *life) resources() (all []resourceAt, err error) {
	for _, root := range []string{"/api", "/apis"} {
		e, err := request{method: http.MethodGet, target: root, headers: []Header{{"Accept",
			"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}}.send(l.ctx, l.target)
		if err != nil {
			return nil, err
		}
		v, err := Decode(e.body)
		if err != nil {
			return nil, err
		}
		for _, group := range itemsAt(v, "items") {
			all = appendGroup(all, root, group)
		}
	}
	return slices.DeleteFunc(all, func(r resourceAt) bool {
		other := strings.HasSuffix(r.group, ".example.com") && !strings.Contains(r.group, l.seen.ns)
		return other || r.name == "leases" || r.group == "events.k8s.io"
	}), nil
}

func appendGroup(all []resourceAt, root string, group any) []resourceAt {
	name := textAt(group, "metadata", "name")
	seen := map[string]bool{}
	for _, version := range itemsAt(group, "versions") {
		for _, r := range itemsAt(version, "resources") {
			resource, verbs := textAt(r, "resource"), itemsAt(r, "verbs")
			if seen[resource] || !slices.Contains(verbs, any("list")) || !slices.Contains(verbs, any("watch")) {
				continue
			}
			seen[resource] = true
			all = append(all, resourceAt{name, path.Join(root, name, textAt(version, "version")), resource,
				textAt(r, "responseKind", "kind"), textAt(r, "scope") == "Namespaced"})
		}
	}
	return all
}

// observer records the objects of a case: objects whose names contain its namespace, and objects that refer to them.
type observer struct {
	ns      string
	watches sync.WaitGroup

	mu      sync.Mutex
	moved   time.Time          // the time of the last change
	last    string             // a description of the last change
	order   []string           // uids, in the order in which the objects were first seen
	objects map[string]*Object // the last known state by uid, including deleted objects
	gone    map[string]bool    // uids of deleted objects
	drawn   map[string]string  // generated names, as in masker; kept because an update may remove generateName
	paths   map[string]string  // uid -> path of an object without a namespace
}

func newObserver(ns string) *observer {
	return &observer{ns: ns, objects: map[string]*Object{}, gone: map[string]bool{}, drawn: map[string]string{}, paths: map[string]string{}}
}

// observe starts to watch all resources after the revision rv. The events are read in the background.
func (l *life) observe(rv string) error {
	all, err := l.resources()
	if err != nil {
		return err
	}
	for _, r := range all {
		req, err := request{method: http.MethodGet, target: r.collection("") + "?watch=1&resourceVersion=" + rv}.build(l.ctx, l.target)
		if err != nil {
			return err
		}
		resp, err := l.target.transport().RoundTrip(req)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			resp.Body.Close()
			return fmt.Errorf("watching %s: %s", r.name, resp.Status)
		}
		l.seen.watches.Go(func() {
			defer resp.Body.Close()
			l.seen.read(bufio.NewReader(resp.Body), r)
		})
	}
	return nil
}

// read records the events of a watch of resource r until the watch ends.
func (o *observer) read(body *bufio.Reader, r resourceAt) {
	for {
		line, err := body.ReadBytes('\n')
		if err != nil {
			return
		}
		if !bytes.Contains(line, []byte(o.ns)) {
			continue
		}
		v, err := Decode(line)
		if err != nil {
			return
		}
		event := v.(*Object)
		if obj, ok := event.Get("object").(*Object); ok {
			o.record(event.Get("type") == "DELETED", obj, r)
		}
	}
}

// record records a change of an object and the time of the change.
func (o *observer) record(deleted bool, obj *Object, r resourceAt) {
	name := o.note(deleted, obj, r)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.moved, o.last = time.Now(), r.name+" "+name
}

// note records the state of an object and returns the object's name. A list item, which has no kind, is recorded only
// if the watch has not delivered the object yet.
func (o *observer) note(deleted bool, obj *Object, r resourceAt) string {
	uid, name := textAt(obj, "metadata", "uid"), textAt(obj, "metadata", "name")
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.objects[uid] != nil
	if !obj.Has("kind") {
		if known {
			return name
		}
		obj = Clone(obj).(*Object)
		obj.Set("kind", r.kind)
	}
	if !known {
		o.order = append(o.order, uid)
	}
	o.objects[uid], o.gone[uid] = obj, deleted
	draw(obj, o.drawn)
	if !r.namespaced && (strings.Contains(name, o.ns) || isAttachment(name) && strings.Contains(textAt(obj, "spec", "nodeName"), o.ns)) {
		o.paths[uid] = r.collection("") + "/" + name
	}
	return name
}

// move records that the harness is about to change something.
func (o *observer) move() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.moved = time.Now()
}

func (o *observer) lastMove() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// rest waits until nothing has changed for d.
func (o *observer) rest(d time.Duration) { o.restWithin(d, settleMax) }

// restWithin is like rest, but waits no longer than limit.
func (o *observer) restWithin(d, limit time.Duration) {
	for end := time.Now().Add(limit); ; {
		o.mu.Lock()
		left := min(d-time.Since(o.moved), time.Until(end))
		o.mu.Unlock()
		if left <= 0 {
			return
		}
		time.Sleep(left)
	}
}

// there returns the existing objects of a kind, in the order in which they were first seen.
func (o *observer) there(kind string) (all []*Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, uid := range o.order {
		if obj := o.objects[uid]; !o.gone[uid] && obj.Get("kind") == kind {
			all = append(all, obj)
		}
	}
	return all
}

// clusterWide returns the paths of the existing objects without a namespace.
func (o *observer) clusterWide() (paths []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, uid := range o.order {
		if at := o.paths[uid]; at != "" && !o.gone[uid] {
			paths = append(paths, at)
		}
	}
	return paths
}
