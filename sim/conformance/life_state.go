package conformance

import (
	"net/http"
	"slices"
	"strings"
)

// state returns the state of a case, without values that differ from run to run:
//
//	objects   "deployments/web": the object, …
//	events    message, object, count and source of each event
//
// of contains the plural names of the resources to return, including events. If of is empty, state returns all
// resources.
func (l *life) state(of []string) (any, error) {
	resources, err := l.resources()
	if err != nil {
		return nil, err
	}
	found := make([][]*Object, len(resources))
	for i, r := range resources {
		if len(of) > 0 && !slices.Contains(of, r.name) {
			continue
		}
		if found[i], err = l.list(r); err != nil {
			return nil, err
		}
		for _, obj := range found[i] {
			l.seen.note(false, obj, r) // the watch may lag behind
		}
	}
	m := newMasker(l.seen)
	var objects, events []entry
	for i, r := range resources {
		for _, obj := range found[i] {
			name := textAt(obj, "metadata", "name")
			switch {
			case r.group == "" && r.name == "events":
				if textAt(obj, "involvedObject", "name") != l.player.node() {
					events = append(events, entry{value: m.event(obj)})
				}
			case !l.everywhere(r, name):
				objects = append(objects, entry{key: r.name + "/" + name, value: m.object(obj)})
			}
		}
	}
	m.name(append(slices.Clone(objects), events...))
	return m.print(objects, events), nil
}

// list returns the objects of a resource that belong to the case.
func (l *life) list(r resourceAt) (found []*Object, err error) {
	var at []string
	if !r.namespaced {
		prefix := r.collection("") + "/"
		for _, path := range l.seen.clusterWide() {
			if strings.HasPrefix(path, prefix) {
				obj, err := l.ask(http.MethodGet, path, "")
				if _, gone := err.(*refused); err != nil && !gone {
					return nil, err
				}
				if err == nil {
					found = append(found, obj.(*Object))
				}
			}
		}
		return found, nil
	}
	for _, ns := range l.seen.there("Namespace") {
		at = append(at, textAt(ns, "metadata", "name"))
	}
	if r.name == "events" {
		at = append(at, "default")
	}
	for _, ns := range at {
		list, err := l.ask(http.MethodGet, r.collection(ns), "")
		if err != nil {
			return nil, err
		}
		for _, x := range itemsAt(list, "items") {
			obj := x.(*Object)
			if ns != "default" || strings.Contains(textAt(obj, "involvedObject", "name"), l.seen.ns) {
				found = append(found, obj)
			}
		}
	}
	return found, nil
}

// everywhere reports whether an object is omitted because it exists in every namespace or belongs to the harness.
func (l *life) everywhere(r resourceAt, name string) bool {
	common := r.name == "configmaps" && name == "kube-root-ca.crt" || r.name == "serviceaccounts" && name == "default"
	return common && !l.whole || r.name == "nodes" && name == l.player.node()
}

// entry is an object or an event, with its key in the state.
type entry struct {
	key   string
	value *Object
}
