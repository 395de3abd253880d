// Package client sends kubectl's requests and discovers the resources of an API server.
//
//	Client ─ Request ─▶ Conn ─▶ API server
//	  │ Find("po"), MappingFor(object)
//	  └ Discovery ─▶ Mapping pods ─ Path ─▶ /api/v1/namespaces/default/pods/web
//
// An Info is one object that a command is about (resource.Info of cli-runtime).
package client

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// Version is the version of kubectl that requests are sent as.
const Version = schema.DefaultVersion

// Request is one request to an API server.
type Request struct {
	Method string
	Path   string // decoded
	Query  url.Values
	Header wire.Header
	Body   []byte
}

// Answer is the answer to a Request.
type Answer struct {
	Code   int
	Header wire.Header
	Body   []byte
}

// Conn carries requests to an API server, and has a clock.
type Conn interface {
	// Do sends a request and waits for its answer.
	Do(r *Request) (*Answer, error)
	// Watch sends a request of a watch and calls event with each event as it is on the wire, until event returns false, the
	// watch ends, or patience is over. The Answer is that of a refused request, and nil otherwise.
	Watch(r *Request, patience time.Duration, event func(frame []byte) (more bool)) (*Answer, error)
	// Follow starts a watch in the background and returns. It calls event with each event. A Conn that cannot do that waits.
	Follow(r *Request, event func(frame []byte)) (*Answer, error)
	// Exec sends a request to run a command in a container, or to attach to one, with its stdin, and calls out with its output.
	// The Answer is that of a refused request, or a Status of how the command ended, as in the error channel of
	// v5.channel.k8s.io.
	Exec(r *Request, stdin []byte, out func(isError bool, data []byte)) (*Answer, error)
	Now() time.Time
	Sleep(d time.Duration)
}

// Reader reads objects. *Client implements it.
type Reader interface {
	// Find returns the resource that a word names.
	Find(text string) (*Mapping, error)
	// Get reads a path.
	Get(path string, query url.Values) (object.Object, error)
	Now() time.Time
}

// List returns the objects of a resource in a namespace, and the resource. The query has names and values as Query takes them.
func List(r Reader, resource, namespace string, query ...string) (*Mapping, []object.Object, error) {
	m, err := r.Find(resource)
	if err != nil {
		return nil, nil, err
	}
	list, err := r.Get(m.Path(namespace, ""), Query(query...))
	return m, list.Objects("items"), err
}

// Client sends requests in the name of a user.
type Client struct {
	Conn     Conn
	Warnings io.Writer // gets the server's warnings
	User     string    // to impersonate, "" for none
	Groups   []string

	Discovery *Discovery // shared by the commands of a session
}

// Request returns a request in the name of the user.
func (c *Client) Request(method, path string, query url.Values, contentType string, body []byte) *Request {
	r := &Request{Method: method, Path: path, Query: query, Body: body,
		Header: wire.Header{"User-Agent": {"kubectl/" + Version}, "Accept": {"application/json"}}}
	if contentType != "" {
		r.Header["Content-Type"] = []string{contentType}
	}
	if c.User != "" {
		r.Header["Impersonate-User"] = []string{c.User}
	}
	if len(c.Groups) > 0 {
		r.Header["Impersonate-Group"] = c.Groups
	}
	return r
}

// Send sends a request and prints the server's warnings. An answer of 400 and above is a *StatusError.
func (c *Client) Send(r *Request) (*Answer, error) {
	a, err := c.Conn.Do(r)
	if err != nil {
		return nil, err
	}
	return a, c.Check(a)
}

// Check prints the warnings of an answer. If the answer is an error, Check returns it as a *StatusError.
func (c *Client) Check(a *Answer) error {
	for _, text := range a.Header["Warning"] {
		fmt.Fprintf(c.Warnings, "Warning: %s\n", warningText(text))
	}
	if a.Code < 400 {
		return nil
	}
	return statusError(a)
}

// warningText returns the text of a Warning header (RFC 7234): 299 - "text".
func warningText(header string) string {
	text := strings.TrimPrefix(header, "299 - ")
	text = strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// Ask sends a request and returns the object of the answer.
func (c *Client) Ask(r *Request) (object.Object, error) {
	a, err := c.Send(r)
	if err != nil {
		return nil, err
	}
	return object.Parse(a.Body)
}

// Get reads a path.
func (c *Client) Get(path string, query url.Values) (object.Object, error) {
	return c.Ask(c.Request(wire.MethodGet, path, query, "", nil))
}

// Post sends a new object and returns the answer.
func (c *Client) Post(path string, obj object.Object) (object.Object, error) {
	return c.Ask(c.Request(wire.MethodPost, path, nil, "application/json", object.JSON(map[string]any(obj))))
}

// Now returns the time of the Conn.
func (c *Client) Now() time.Time { return c.Conn.Now() }

// Watch sends a watch request and calls event until it returns false, the watch ends or patience is over.
func (c *Client) Watch(r *Request, patience time.Duration, event func(frame []byte) (more bool)) error {
	a, err := c.Conn.Watch(r, patience, event)
	if err == nil && a != nil {
		err = c.Check(a)
	}
	return err
}

// Query returns the parameters of names and values, without those whose value is empty.
func Query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// PageSize is the limit of one list request.
const PageSize = "500"

// applyPatch is the content type of an apply.
const applyPatch = "application/apply-patch+yaml"

// Helper writes objects (resource.Helper of cli-runtime).
type Helper struct {
	*Client
	FieldManager    string
	FieldValidation string // of whole objects
	ServerDryRun    bool
}

// Create sends a new object and keeps the answer in info.
func (h *Helper) Create(info *Info) error {
	obj, err := h.write(wire.MethodPost, info.Mapping.Path(info.Namespace, ""), "application/json", info.Object, nil)
	if err == nil {
		info.Object, info.Name = obj, obj.Name()
	}
	return err
}

// Replace sends an object in the place of the one that is there and keeps the answer in info.
func (h *Helper) Replace(info *Info) error {
	obj, err := h.write(wire.MethodPut, info.Path(), "application/json", info.Object, nil)
	if err == nil {
		info.Object = obj
	}
	return err
}

// Apply sends an object for a server-side apply. With force, it takes fields from other managers.
func (h *Helper) Apply(info *Info, obj object.Object, force bool) (object.Object, error) {
	return h.write(wire.MethodPatch, info.Path(), applyPatch, obj, Query("force", fmt.Sprint(force)))
}

// write sends a whole object.
func (h *Helper) write(method, path, contentType string, obj object.Object, more url.Values) (object.Object, error) {
	q := h.query(more)
	if h.FieldValidation != "" {
		q.Set("fieldValidation", h.FieldValidation)
	}
	return h.Ask(h.Request(method, path, q, contentType, object.JSON(map[string]any(obj))))
}

// Patch sends a patch of an object, or of a subresource such as scale.
func (h *Helper) Patch(info *Info, subresource, contentType string, body []byte) (object.Object, error) {
	path := info.Path()
	if subresource != "" {
		path += "/" + subresource
	}
	return h.Ask(h.Request(wire.MethodPatch, path, h.query(nil), contentType, body))
}

// query returns the parameters of a write.
func (h *Helper) query(q url.Values) url.Values {
	if q == nil {
		q = url.Values{}
	}
	if h.FieldManager != "" {
		q.Set("fieldManager", h.FieldManager)
	}
	if h.ServerDryRun {
		q.Set("dryRun", "All")
	}
	return q
}
