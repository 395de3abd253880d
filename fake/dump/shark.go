package dump

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// record is a response that k8shark has recorded. Its archive contains a file per record:
//
//	{"captured_at": "2026-04-09T10:00:30Z", "api_path": "/api/v1/namespaces/default/pods", "response_code": 200, "response_body": {…}}
//
// The body is a list, or, if there is an event_type, the object of a watch event.
type record struct {
	at          time.Time
	path, event string
	body        object.Object
	file        string
	line        int
}

// record adds a record. It skips errors, tables (their path ends in ?as=Table) and documents such as those of discovery.
func (d *Dump) record(file string, line int, obj object.Object) {
	r := record{path: obj.String("api_path"), event: obj.String("event_type"), body: obj.At("response_body"), file: file, line: line}
	r.at, _ = time.Parse(time.RFC3339, obj.String("captured_at")) // records without a time come first
	d.seen(r.at)
	_, isList := r.body["items"]
	if code, ok := obj.Int("response_code"); ok && code != 200 || strings.Contains(r.path, "?") || r.event == "" && !isList {
		return
	}
	d.records = append(d.records, r)
}

// settle adds the objects of the newest state that the records describe: for each path the newest list, and the events after it.
func (d *Dump) settle() {
	slices.SortStableFunc(d.records, func(a, b record) int { return a.at.Compare(b.at) })
	paths := map[string]map[string]Object{} // by path and name
	for _, r := range d.records {
		name := r.body.Namespace() + "/" + r.body.Name()
		of := Object{File: r.file, Line: r.line}
		switch r.event {
		case "":
			paths[r.path] = map[string]Object{}
			for _, item := range r.body.Objects("items") {
				inherit(item, r.body.Kind(), r.body.APIVersion())
				of.JSON = object.JSON(map[string]any(item))
				paths[r.path][item.Namespace()+"/"+item.Name()] = of
			}
		case "DELETED":
			delete(paths[r.path], name)
		default:
			if paths[r.path] == nil {
				paths[r.path] = map[string]Object{}
			}
			of.JSON = object.JSON(map[string]any(r.body))
			paths[r.path][name] = of
		}
	}
	for _, path := range object.SortedKeys(paths) {
		for _, name := range object.SortedKeys(paths[path]) {
			o := paths[path][name]
			obj, _ := object.Parse(o.JSON) // it was just printed
			d.add(o, obj)
		}
	}
	d.records = nil
}
