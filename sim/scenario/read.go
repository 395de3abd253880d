package scenario

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
)

// readCommands read objects and follow their changes.
var readCommands = []Command{
	{Name: "get", Usage: "RESOURCE [NAME]", Help: "read one object, or list them", Example: "get pods a -o yaml",
		Group: Requests, Flags: readFlags, Args: []Arg{Resource, ObjectName}, needs: 1,
		check: checkRead, run: (*World).request, build: (*builder).read},
	{Name: "list", Usage: "RESOURCE", Help: "read the objects of a resource", Example: "list pods --rv 0",
		Group: Requests, Flags: readFlags, Args: []Arg{Resource}, needs: 1,
		check: checkList, run: (*World).request, build: (*builder).read},
	{Name: "watch", Usage: "RESOURCE [NAME]", Help: "be told of changes", Example: "watch pods --name w --bookmarks",
		Group: Requests, Flags: append(slices.Clone(readFlags), "bookmarks", "initial-events", "timeout", "name"),
		Args: []Arg{Resource, ObjectName}, needs: 1,
		check: checkWatch, run: (*World).request, build: (*builder).watch},
}

func checkRead(op *Op, at int) error {
	if _, name := op.target(0); name != "" && op.has("all-namespaces") {
		return wrong(at, "one object is in one namespace: leave out -A")
	}
	return nil
}

func checkList(op *Op, at int) error {
	if _, name := op.target(0); name != "" {
		return wrong(at, "list reads a whole resource; get %s reads one object", op.Args[0])
	}
	return nil
}

func checkWatch(op *Op, at int) error {
	if err := checkRead(op, at); err != nil {
		return err
	}
	if op.has("limit") {
		return wrong(at, "a watch has no pages: leave out --limit")
	}
	return nil
}

func (b *builder) read() error {
	q, d, name, err := b.readable()
	if err != nil {
		return err
	}
	b.add("GET", b.location(d, "", name), q, "", nil).def = d
	return nil
}

// readable returns what a read or a watch is about, and its parameters.
func (b *builder) readable() (q url.Values, d *resource.Definition, name string, err error) {
	if q, err = b.query(); err != nil {
		return nil, nil, "", err
	}
	rv, given, err := b.revision()
	if err != nil {
		return nil, nil, "", err
	}
	if given {
		q.Set("resourceVersion", rv)
	}
	d, name, err = b.target()
	return q, d, name, err
}

func (b *builder) watch() error {
	q, d, name, err := b.readable()
	if err != nil {
		return err
	}
	q.Set("watch", "true")
	if name != "" {
		q.Set("fieldSelector", strings.TrimPrefix(q.Get("fieldSelector")+",metadata.name="+name, ","))
	}
	if b.op.has("initial-events") {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
	}
	if b.op.has("bookmarks") || b.op.has("initial-events") {
		q.Set("allowWatchBookmarks", "true")
	}
	c := b.add("GET", b.location(d, "", ""), q, "", nil)
	c.def, c.watchName = d, b.op.value("name")
	if c.watchName == "" {
		c.watchName = b.w.freeName("w")
	}
	if b.w.watchNamed(c.watchName) != nil {
		return fmt.Errorf("there is a watch %s already; choose another --name", c.watchName)
	}
	return nil
}
