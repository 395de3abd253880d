package scenario

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
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
	q, err := b.readQuery()
	if err != nil {
		return err
	}
	text, name := b.op.target(0)
	d, err := b.w.resolve(text, b.replica)
	if err != nil {
		return err
	}
	b.add("GET", b.location(d, "", name), q, "", nil).def = d
	return nil
}

func (b *builder) readQuery() (url.Values, error) {
	q, err := b.query()
	if err != nil {
		return nil, err
	}
	rv, given, err := b.revision()
	if given {
		q.Set("resourceVersion", rv)
	}
	return q, err
}

func (b *builder) watch() error {
	q, err := b.readQuery()
	if err != nil {
		return err
	}
	text, name := b.op.target(0)
	d, err := b.w.resolve(text, b.replica)
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

// write makes the requests of create, apply and replace: one for each object.
func (b *builder) write() error {
	q, err := b.query()
	if err != nil {
		return err
	}
	list, d, err := b.objects()
	if err != nil {
		return err
	}
	for _, obj := range list {
		kind := d
		if kind == nil {
			if kind, err = b.w.kindOf(obj, b.replica); err != nil {
				return fmt.Errorf("%s: %w", b.op.value("filename"), err)
			}
		}
		rv, given, err := b.revision()
		if err != nil {
			return err
		}
		if given {
			obj.Set(rv, "metadata", "resourceVersion")
		}
		b.send(kind, obj, q)
	}
	return nil
}

// send makes the request that writes one object.
func (b *builder) send(d *resource.Definition, obj object.Object, q url.Values) {
	name := obj.Name()
	if _, n := b.op.target(0); n != "" {
		name = n
	}
	body := object.JSON(map[string]any(obj))
	switch b.op.Name {
	case "create":
		if !b.op.has("subresource") {
			name = ""
		}
		b.add("POST", b.location(d, obj.Namespace(), name), q, "application/json", body).def = d
	case "replace":
		b.add("PUT", b.location(d, obj.Namespace(), name), q, "application/json", body).def = d
	case "apply":
		b.apply(d, obj.Namespace(), name, q, body)
	}
}

func (b *builder) apply(d *resource.Definition, namespace, name string, q url.Values, body []byte) {
	if q.Get("fieldManager") == "" {
		q.Set("fieldManager", b.client.name)
	}
	if b.op.has("force") {
		q.Set("force", "true")
	}
	b.add("PATCH", b.location(d, namespace, name), q, "application/apply-patch+yaml", body).def = d
}

// objects returns what is to be written, and its definition where the operation names it.
func (b *builder) objects() ([]object.Object, *resource.Definition, error) {
	var d *resource.Definition
	text, name := b.op.target(0)
	if text != "" {
		var err error
		if d, err = b.w.resolve(text, b.replica); err != nil {
			return nil, nil, err
		}
	}
	if file := b.op.value("filename"); file != "" {
		list, err := b.w.manifest(file, b.template)
		return list, d, err
	}
	obj, err := literal(b.op, d.GV(), d.Kind, name)
	return []object.Object{obj}, d, err
}

// patchTypes are the media types of each --type.
var patchTypes = map[string]string{
	"strategic": "application/strategic-merge-patch+json", "merge": "application/merge-patch+json",
	"json": "application/json-patch+json", "apply": "application/apply-patch+yaml",
}

func (b *builder) patch() error {
	q, err := b.query()
	if err != nil {
		return err
	}
	text, name := b.op.target(0)
	d, err := b.w.resolve(text, b.replica)
	if err != nil {
		return err
	}
	body := b.op.value("patch")
	if file := b.op.value("filename"); file != "" {
		if body, err = b.w.file(file); err != nil {
			return err
		}
	}
	data, err := codec.YAMLToJSON([]byte(body))
	if err != nil {
		return fmt.Errorf("the patch can be read neither as JSON nor as YAML: %w", err)
	}
	kind := b.op.value("type")
	if kind == "" {
		kind = "strategic"
		if d.Custom {
			kind = "merge"
		}
	}
	if rv, given, err := b.revision(); err != nil {
		return err
	} else if given && kind != "json" {
		patch, err := object.Parse(data)
		if err != nil {
			return fmt.Errorf("--rv goes into a patch that is an object: %w", err)
		}
		patch.Set(rv, "metadata", "resourceVersion")
		data = object.JSON(map[string]any(patch))
	}
	if kind == "apply" {
		b.apply(d, "", name, q, data)
		return nil
	}
	b.add("PATCH", b.location(d, "", name), q, patchTypes[kind], data).def = d
	return nil
}

// policies are the names of --cascade.
var policies = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}

func (b *builder) delete() error {
	q, err := b.query()
	if err != nil {
		return err
	}
	if rv, given, err := b.revision(); err != nil {
		return err
	} else if given {
		q.Set("resourceVersion", rv)
	}
	body := b.deleteOptions(q)
	contentType := ""
	if body != nil {
		contentType = "application/json"
	}
	if file := b.op.value("filename"); file != "" {
		list, err := b.w.manifest(file, b.template)
		if err != nil {
			return err
		}
		for _, obj := range list {
			d, err := b.w.kindOf(obj, b.replica)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			b.add("DELETE", b.location(d, obj.Namespace(), obj.Name()), q, contentType, body).def = d
		}
		return nil
	}
	text, name := b.op.target(0)
	d, err := b.w.resolve(text, b.replica)
	if err != nil {
		return err
	}
	b.add("DELETE", b.location(d, "", name), q, contentType, body).def = d
	return nil
}

// deleteOptions returns the body of a DELETE, nil if it needs none.
func (b *builder) deleteOptions(q url.Values) []byte {
	o := object.Object{}
	if v, ok := b.op.Flag("cascade"); ok {
		o.Set(policies[v], "propagationPolicy")
	}
	if v, ok := b.op.Flag("grace"); ok {
		o.Set(scalar(v), "gracePeriodSeconds")
	}
	if v, ok := b.op.Flag("precondition-rv"); ok {
		o.Set(v, "preconditions", "resourceVersion")
	}
	if v, ok := b.op.Flag("precondition-uid"); ok {
		o.Set(v, "preconditions", "uid")
	}
	if len(o) == 0 {
		return nil
	}
	if q.Get("dryRun") != "" { // the options of the query are not read when there is a body
		o.Set([]any{"All"}, "dryRun")
	}
	o["apiVersion"], o["kind"] = "v1", "DeleteOptions"
	return object.JSON(map[string]any(o))
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
