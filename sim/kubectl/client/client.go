// Package client sends kubectl's requests and discovers the resources of an API server.
//
//	Client ─ Request ─▶ Conn ─▶ API server
//	  │ Find("po"), MappingFor(object)
//	  └ Discovery ─▶ Mapping pods ─ Path ─▶ /api/v1/namespaces/default/pods/web
//
// An Info represents one object that a command processes (cli-runtime's resource.Info).
package client

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// Version is the version of kubectl in the User-Agent of requests.
const Version = schema.DefaultVersion

// Request is a request to an API server.
type Request struct {
	Method string
	Path   string // decoded
	Query  url.Values
	Header wire.Header
	Body   []byte
}

// Answer is the response to a Request.
type Answer struct {
	Code   int
	Header wire.Header
	Body   []byte
}

// Conn sends requests to an API server and provides a clock.
type Conn interface {
	// Do sends a request and returns its response.
	Do(r *Request) (*Answer, error)
	// Watch sends a watch request and calls event with each event, encoded as the server sent it, until event returns false, the
	// watch ends, or patience elapses. If the request fails, the Answer is the error response. Otherwise it is nil.
	Watch(r *Request, patience time.Duration, event func(frame []byte) (more bool)) (*Answer, error)
	// Follow starts a watch in the background and returns. It calls event with each event. A Conn without background watches
	// blocks until the watch ends.
	Follow(r *Request, event func(frame []byte)) (*Answer, error)
	// Exec sends a request to execute a command in a container, or to attach to a container. It sends stdin and calls out with
	// the output. If the request fails, the Answer is the error response. Otherwise the Answer contains the Status of the
	// command's exit, as in the error channel of v5.channel.k8s.io.
	Exec(r *Request, stdin []byte, out func(isError bool, data []byte)) (*Answer, error)
	Now() time.Time
	Sleep(d time.Duration)
}

// Forwarder is a Conn that can connect to a pod's ports.
type Forwarder interface {
	// Forward sends a request for port forwarding, and then an HTTP request to a port of the pod. It returns the HTTP response as it
	// was received. If the first request fails, the Answer is the error response.
	Forward(r *Request, port int, request []byte) (response []byte, a *Answer, err error)
}

// Reader reads objects. *Client implements it.
type Reader interface {
	// Find returns the resource that a word names.
	Find(text string) (*Mapping, error)
	// Get returns the object at a path.
	Get(path string, query url.Values) (object.Object, error)
	Now() time.Time
}

// List returns the resource and its objects in a namespace, or in all namespaces if namespace is "". The query consists of names
// and values, as in Query.
func List(r Reader, resource, namespace string, query ...string) (*Mapping, []object.Object, error) {
	m, err := r.Find(resource)
	if err != nil {
		return nil, nil, err
	}
	list, err := r.Get(m.Path(namespace, ""), Query(query...))
	return m, list.Objects("items"), err
}

// Client sends requests on behalf of a user.
type Client struct {
	Conn     Conn
	Warnings io.Writer // receives the server's warnings
	User     string    // the user to impersonate, or "" for none
	Groups   []string

	Discovery *Discovery // shared by the commands of a session

	warned []string // the warnings that were printed
}

// Warn prints a warning, unless it was printed before.
func (c *Client) Warn(text string) {
	if !slices.Contains(c.warned, text) {
		c.warned = append(c.warned, text)
		fmt.Fprintf(c.Warnings, "Warning: %s\n", text)
	}
}

// Request returns a request with the client's headers, including those for impersonation.
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

// Send sends a request and prints the server's warnings. It returns a *StatusError if the response code is at least 400.
func (c *Client) Send(r *Request) (*Answer, error) {
	a, err := c.Conn.Do(r)
	if err != nil {
		return nil, err
	}
	return a, c.Check(a)
}

// Check prints the warnings of a response. If the response is an error, Check returns it as a *StatusError.
func (c *Client) Check(a *Answer) error {
	for _, text := range a.Header["Warning"] {
		c.Warn(WarningText(text))
	}
	if a.Code < 400 {
		return nil
	}
	return statusError(a)
}

// WarningText returns the text of a Warning header (RFC 7234). The header has the form 299 - "text".
func WarningText(header string) string {
	text := strings.TrimPrefix(header, "299 - ")
	text = strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// Ask sends a request and returns the object in the response. If the response code is at least 400, the error is a *StatusError.
func (c *Client) Ask(r *Request) (object.Object, error) {
	a, err := c.Send(r)
	if err != nil {
		return nil, err
	}
	return object.Parse(a.Body)
}

// Get returns the object at a path. If the server responds with an error, it is a *StatusError.
func (c *Client) Get(path string, query url.Values) (object.Object, error) {
	return c.Ask(c.Request(wire.MethodGet, path, query, "", nil))
}

// Post creates an object and returns the object in the response.
func (c *Client) Post(path string, obj object.Object) (object.Object, error) {
	return c.Ask(c.Request(wire.MethodPost, path, nil, "application/json", object.JSON(map[string]any(obj))))
}

// Now returns the time of the Conn.
func (c *Client) Now() time.Time { return c.Conn.Now() }

// Watch sends a watch request and calls event until it returns false, the watch ends, or patience elapses.
func (c *Client) Watch(r *Request, patience time.Duration, event func(frame []byte) (more bool)) error {
	a, err := c.Conn.Watch(r, patience, event)
	if err == nil && a != nil {
		err = c.Check(a)
	}
	return err
}

// Query returns query parameters for pairs of names and values. It omits empty values.
func Query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// PageSize is the limit of a list request.
const PageSize = "500"

// applyPatch is the content type of a server-side apply.
const applyPatch = "application/apply-patch+yaml"

// Helper writes objects (cli-runtime's resource.Helper).
type Helper struct {
	*Client
	FieldManager    string
	FieldValidation string // applies to requests that send a whole object
	ServerDryRun    bool
}

// Create creates the object in info and replaces it by the object in the response.
func (h *Helper) Create(info *Info) error {
	if info.Object.ResourceVersion() != "" { // of a file that was written by kubectl get -o yaml
		info.Object = info.Object.Copy()
		delete(info.Object.At("metadata"), "resourceVersion")
	}
	obj, err := h.write(wire.MethodPost, info.Mapping.Path(info.Namespace, ""), "application/json", info.Object, nil)
	if err == nil {
		info.Object, info.Name = obj, obj.Name()
	}
	return err
}

// Replace sends a PUT of the object in info and replaces it by the object in the response. An object without a resource version gets
// the version of the live object.
func (h *Helper) Replace(info *Info) error {
	if info.Object.ResourceVersion() == "" {
		if live, err := h.Get(info.Path(), nil); err == nil {
			info.Object = info.Object.Copy()
			info.Object.SetMeta("resourceVersion", live.ResourceVersion())
		}
	}
	obj, err := h.write(wire.MethodPut, info.Path(), "application/json", info.Object, nil)
	if err == nil {
		info.Object = obj
	}
	return err
}

// Apply sends an object with server-side apply. If force is set, it takes over fields from other managers. It returns the object in
// the response.
func (h *Helper) Apply(info *Info, obj object.Object, force bool) (object.Object, error) {
	return h.write(wire.MethodPatch, info.Path(), applyPatch, obj, Query("force", fmt.Sprint(force)))
}

// write sends a whole object and returns the object in the response.
func (h *Helper) write(method, path, contentType string, obj object.Object, more url.Values) (object.Object, error) {
	q := h.query(more)
	if h.FieldValidation != "" {
		q.Set("fieldValidation", h.FieldValidation)
	}
	return h.Ask(h.Request(method, path, q, contentType, object.JSON(map[string]any(obj))))
}

// Patch sends a patch of an object or of a subresource such as scale. It returns the object in the response.
func (h *Helper) Patch(info *Info, subresource, contentType string, body []byte) (object.Object, error) {
	path := info.Path()
	if subresource != "" {
		path += "/" + subresource
	}
	return h.Ask(h.Request(wire.MethodPatch, path, h.query(nil), contentType, body))
}

// query returns q with the query parameters that all writes share.
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
