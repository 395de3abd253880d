package scenario

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// builder builds the requests of one operation.
type builder struct {
	w       *World
	op      *Op
	client  *client
	replica int
	out     []*call

	template func(string) (string, error) // replaces placeholders in manifests; may be nil
}

// requests returns the HTTP requests of an operation. If template is not nil, it replaces placeholders in the
// manifests.
func (w *World) requests(op *Op, template func(string) (string, error)) ([]*call, error) {
	b := &builder{w: w, op: op, client: w.client(cmp.Or(op.value("as"), you)), template: template}
	var err error
	if b.replica, err = w.reached(b.client, op.value("via")); err != nil {
		return nil, err
	}
	err = FindCommand(op.Name).build(b)
	return b.out, err
}

// reached returns the number of the replica that receives a client's request.
func (w *World) reached(c *client, via string) (int, error) {
	if via == "" {
		return max(c.replica, 1), nil
	}
	return w.replica(via)
}

// add appends a request to the builder's requests and returns it.
func (b *builder) add(method, path string, query url.Values, contentType string, body []byte) *call {
	x := &Exchange{Client: b.client.name, Replica: b.replica, Method: method, Path: path, Body: body,
		Header: wire.Header{"User-Agent": {b.w.agent(b.client.name)}, "Accept": {accepts[b.op.value("output")]}}}
	if len(query) > 0 && !b.w.options.Quiet { // a quiet World does not record paths
		x.Path += "?" + query.Encode()
	}
	if contentType != "" {
		x.Header["Content-Type"] = []string{contentType}
	}
	c := &call{exchange: x, client: b.client, path: path, query: query, output: b.op.value("output")}
	b.out = append(b.out, c)
	return c
}

// accepts maps the values of -o to Accept headers.
var accepts = map[string]string{
	"": "application/json", "json": "application/json", "name": "application/json", "yaml": "application/yaml",
	"table":    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
	"protobuf": "application/vnd.kubernetes.protobuf",
}

// location returns the URL path of a resource or of one of its objects.
func (b *builder) location(d *resource.Definition, namespace, name string) string {
	path := d.Root()
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

// target returns the resource of the operation and the name of its object. The name is "" if the operation does not
// specify an object.
func (b *builder) target() (d *resource.Definition, name string, err error) {
	text, name := b.op.target(0)
	d, err = b.w.resolve(text, b.replica)
	return d, name, err
}

// namespace returns the value of --namespace. Without that flag, it returns the given namespace or, if that is empty,
// "default".
func (b *builder) namespace(given string) string {
	return cmp.Or(b.op.value("namespace"), given, "default")
}

// parameters maps flags to query parameters.
var parameters = []struct{ flag, name string }{
	{"rv-match", "resourceVersionMatch"}, {"limit", "limit"}, {"selector", "labelSelector"},
	{"field-selector", "fieldSelector"}, {"timeout", "timeoutSeconds"}, {"validate", "fieldValidation"},
	{"field-manager", "fieldManager"},
}

// query returns the query parameters for the flags of the operation.
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
				return nil, fmt.Errorf("%s has not read a page that another one follows; read one with --limit first", b.client.name)
			}
		}
		q.Set("continue", v)
	}
	return q, nil
}

// revision resolves the value of a flag such as --rv to a resourceVersion. "seen" refers to the object with the given
// name or, if name is empty, to lists and watches with the parameters q. given is false if the request must not contain
// the parameter.
func (b *builder) revision(flag string, d *resource.Definition, namespace, name string, q url.Values) (rv string, given bool, err error) {
	rv, given = b.op.Flag(flag)
	switch {
	case rv == "last":
		if rv = b.client.rv; rv == "" {
			err = fmt.Errorf("%s has not received an answer with a resourceVersion yet; let it read an object before", b.client.name)
		}
	case rv == "seen" || strings.HasPrefix(rv, "+") || strings.HasPrefix(rv, "-"):
		var n uint64
		n, err = b.revisionOf(rv, d, namespace, name, q)
		rv, given = strconv.FormatUint(n, 10), n != 0
	}
	return rv, given, err
}
