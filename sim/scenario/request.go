package scenario

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
)

// builder makes the requests of one operation.
type builder struct {
	w       *World
	op      *Op
	client  *client
	replica int
	out     []*call

	template func(string) (string, error) // fills in manifests; nil: they are as they stand
}

// requests returns the HTTP requests of an operation. template fills in its manifests; nil: they are as they stand.
func (w *World) requests(op *Op, template func(string) (string, error)) ([]*call, error) {
	name := op.value("as")
	if name == "" {
		name = you
	}
	b := &builder{w: w, op: op, client: w.client(name), template: template}
	var err error
	if b.replica, err = w.reached(b.client, op.value("via")); err != nil {
		return nil, err
	}
	switch op.Name {
	case "get", "list":
		err = b.read()
	case "watch":
		err = b.watch()
	case "create", "apply", "replace":
		err = b.write()
	case "patch":
		err = b.patch()
	case "delete", "deletecollection":
		err = b.delete()
	case "request":
		err = b.raw()
	}
	return b.out, err
}

// reached returns the replica that a client's request reaches.
func (w *World) reached(c *client, via string) (int, error) {
	if via == "" {
		return max(c.replica, 1), nil
	}
	return w.replica(via)
}

// add makes a request to the replica.
func (b *builder) add(method, path string, query url.Values, contentType string, body []byte) *call {
	x := &Exchange{Client: b.client.name, Replica: b.replica, Method: method, Path: path, Body: body,
		Header: map[string][]string{"User-Agent": {agent(b.client.name)}, "Accept": {accepts[b.op.value("output")]}}}
	if len(query) > 0 {
		x.Path += "?" + query.Encode()
	}
	if contentType != "" {
		x.Header["Content-Type"] = []string{contentType}
	}
	c := &call{exchange: x, client: b.client, path: path, query: query, output: b.op.value("output")}
	b.out = append(b.out, c)
	return c
}

// accepts is the Accept header of each value of -o.
var accepts = map[string]string{
	"": "application/json", "json": "application/json", "name": "application/json", "yaml": "application/yaml",
	"table":    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
	"protobuf": "application/vnd.kubernetes.protobuf",
}

// location returns the path of a resource, or of one of its objects.
func (b *builder) location(d *resource.Definition, namespace, name string) string {
	path := "/apis/" + d.GV()
	if d.Group == "" {
		path = "/api/" + d.Version
	}
	if d.Namespaced && !b.op.has("all-namespaces") {
		path += "/namespaces/" + url.PathEscape(b.namespace(namespace))
	}
	path += "/" + d.Resource
	if name != "" {
		path += "/" + url.PathEscape(name)
		if sub := b.op.value("subresource"); sub != "" {
			path += "/" + sub
		}
	}
	return path
}

// target returns the resource that the operation is about, and the name of its object, "" for all.
func (b *builder) target() (d *resource.Definition, name string, err error) {
	text, name := b.op.target(0)
	d, err = b.w.resolve(text, b.replica)
	return d, name, err
}

// namespace returns the one that a flag names, or else the given one, or else default.
func (b *builder) namespace(given string) string {
	if n := b.op.value("namespace"); n != "" {
		return n
	}
	if given != "" {
		return given
	}
	return "default"
}

// parameters are the flags that are parameters of the query.
var parameters = []struct{ flag, name string }{
	{"rv-match", "resourceVersionMatch"}, {"limit", "limit"}, {"selector", "labelSelector"},
	{"field-selector", "fieldSelector"}, {"timeout", "timeoutSeconds"}, {"validate", "fieldValidation"},
	{"field-manager", "fieldManager"},
}

// query returns the parameters that flags ask for.
func (b *builder) query() (url.Values, error) {
	q := url.Values{}
	for _, p := range parameters {
		if v, ok := b.op.Flag(p.flag); ok {
			q.Set(p.name, v)
		}
	}
	if b.op.has("dry-run") {
		q.Set("dryRun", "All")
	}
	if v, ok := b.op.Flag("continue"); ok {
		if v == "last" {
			if v = b.client.token; v == "" {
				return nil, fmt.Errorf("%s has read no page that another one follows; read one with --limit before", b.client.name)
			}
		}
		q.Set("continue", v)
	}
	return q, nil
}

// revision returns the value of --rv.
func (b *builder) revision() (rv string, given bool, err error) {
	rv, given = b.op.Flag("rv")
	if rv == "last" {
		if rv = b.client.rv; rv == "" {
			return "", true, fmt.Errorf("%s has had no answer with a resourceVersion yet; let it read something before",
				b.client.name)
		}
	}
	return rv, given, nil
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

// raw makes the request of METHOD PATH.
func (b *builder) raw() error {
	u, err := url.ParseRequestURI(b.op.Args[1])
	if err != nil {
		return fmt.Errorf("the path %q cannot be sent: %w", b.op.Args[1], err)
	}
	body := b.op.value("data")
	if file := b.op.value("filename"); file != "" {
		if body, err = b.w.file(file); err != nil {
			return err
		}
	}
	var data []byte
	contentType := ""
	if body != "" {
		data, contentType = []byte(body), "application/yaml"
		if strings.HasPrefix(strings.TrimSpace(body), "{") {
			contentType = "application/json"
		}
	}
	c := b.add(b.op.Args[0], u.Path, u.Query(), contentType, data)
	c.exchange.Path = b.op.Args[1]
	for _, h := range b.op.all("header") {
		name, value, _ := strings.Cut(h, ":")
		c.exchange.Header[canonical(name)] = []string{strings.TrimSpace(value)}
	}
	if c.exchange.Header["User-Agent"][0] != agent(b.client.name) {
		name, _, _ := strings.Cut(c.exchange.Header["User-Agent"][0], "/")
		c.client = b.w.client(name)
		c.exchange.Client = name
	}
	c.watchName = b.op.value("name")
	return nil
}

// canonical prints the name of a header with capitals after dashes.
func canonical(name string) string {
	b := []byte(strings.ToLower(strings.TrimSpace(name)))
	for i := range b {
		if (i == 0 || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
