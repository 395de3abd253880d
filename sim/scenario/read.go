package scenario

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
)

// readCommands read and watch objects.
var readCommands = []Command{
	{Name: "get", Usage: "RESOURCE [NAME]", Help: "read one object, or list them", Example: "get pods a -o yaml",
		Group: Requests, Flags: readFlags, Args: []Arg{Resource, ObjectName}, needs: 1,
		check: checkRead, run: (*World).request, build: (*builder).read},
	{Name: "list", Usage: "RESOURCE", Help: "read the objects of a resource", Example: "list pods --rv 0",
		Group: Requests, Flags: readFlags, Args: []Arg{Resource}, needs: 1,
		check: checkList, run: (*World).request, build: (*builder).read},
	{Name: "watch", Usage: "RESOURCE [NAME]", Help: "receive the events of changes", Example: "watch pods --name w --bookmarks",
		Group: Requests, Flags: append(slices.Clone(readFlags), "bookmarks", "initial-events", "send-initial-events", "timeout", "name", "at-most"),
		Args: []Arg{Resource, ObjectName}, needs: 1,
		check: checkWatch, run: (*World).request, build: (*builder).watch},
	{Name: "page", Help: "read the page after the client's last list, if there is one", Example: "page --as alice",
		Group: Requests, Flags: requestFlags, run: (*World).request, build: (*builder).nextPage},
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

// readable returns the query parameters of a read or a watch, its resource and the object's name. For a watch, it moves
// the name into a field selector and returns "".
func (b *builder) readable() (q url.Values, d *resource.Definition, name string, err error) {
	if q, err = b.query(); err != nil {
		return nil, nil, "", err
	}
	if d, name, err = b.target(); err != nil {
		return nil, nil, "", err
	}
	if b.op.Name == "watch" && name != "" {
		q.Set("fieldSelector", strings.TrimPrefix(q.Get("fieldSelector")+",metadata.name="+name, ","))
		name = ""
	}
	rv, given, err := b.revision("rv", d, "", name, q)
	if given {
		q.Set("resourceVersion", rv)
	}
	return q, d, name, err
}

func (b *builder) watch() error {
	q, d, _, err := b.readable()
	if err != nil {
		return err
	}
	q.Set("watch", "true")
	initial := b.op.value("send-initial-events")
	if b.op.has("initial-events") {
		initial = "true"
	}
	if goesOn := b.op.value("rv") == "seen" && q.Has("resourceVersion"); initial != "" && !(goesOn && initial == "true") {
		q.Set("sendInitialEvents", initial)
		q.Set("resourceVersionMatch", "NotOlderThan")
	}
	if b.op.has("bookmarks") || b.op.has("initial-events") {
		q.Set("allowWatchBookmarks", "true")
	}
	c := b.add("GET", b.location(d, "", ""), q, "", nil)
	c.def, c.watchName = d, b.op.value("name")
	c.atMost, _ = strconv.Atoi(b.op.value("at-most"))
	if c.watchName == "" {
		c.watchName = b.w.freeName()
	}
	if b.w.watchNamed(c.watchName) != nil {
		return fmt.Errorf("a watch %s already exists; choose another --name", c.watchName)
	}
	return nil
}
