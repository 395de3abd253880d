package discovery

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Options describe one API server.
type Options struct {
	Table   *resource.Table
	Schema  *schema.Set
	Version Version

	// Address is the server's address in /api and the OpenID configuration. The default is 127.0.0.1:6443.
	Address string

	// Keys verify service account tokens. The default is those of empty token.Options.
	Keys *token.Authority

	// Statusz and Flagz are the feature gates ComponentStatusz and ComponentFlagz: the pages of these names are served.
	Statusz, Flagz bool

	// Flags are the flags whose values are not kube-apiserver's defaults, for /flagz.
	Flags map[string]string

	Host Host // default: StandaloneHost
}

// Host provides the parts of the surrounding cluster that Documents need.
type Host interface {
	// Now returns the time.
	Now() time.Time
	// Check returns the error of the health check with the name ("etcd"), or nil if it succeeds.
	Check(name string) error
	// Seats returns how many requests of each priority level the server carries out concurrently, or nil if there are no levels.
	Seats() map[string]int
	// Peers returns the Documents of all servers over the same store, this one among them, in the order of their names, or nil if
	// there are none. The union of their resources is published as aggregated discovery, unless a client asks for profile=nopeer.
	Peers() []*Documents
	// Remotes returns the versions that aggregated API servers serve, sorted by the names of their APIServices.
	Remotes() []Remote
	// Priorities returns the highest groupPriorityMinimum of the APIServices of each group.
	Priorities() map[string]int64
	// CustomSchema returns the openAPIV3Schema that the definition of a custom resource gives for its version, to be published as
	// it is. If it returns nil, the Type of the definition is published.
	CustomSchema(*resource.Definition) object.Object
}

// StandaloneHost is a Host of a server that has no cluster around it: its time stands still, at Unix zero.
type StandaloneHost struct{}

func (StandaloneHost) Now() time.Time                                  { return time.Unix(0, 0) }
func (StandaloneHost) Check(string) error                              { return nil }
func (StandaloneHost) Seats() map[string]int                           { return nil }
func (StandaloneHost) Peers() []*Documents                             { return nil }
func (StandaloneHost) Remotes() []Remote                               { return nil }
func (StandaloneHost) Priorities() map[string]int64                    { return nil }
func (StandaloneHost) CustomSchema(*resource.Definition) object.Object { return nil }

// Documents are the discovery documents of one API server. It is not safe for concurrent use: the Cluster's lock is
// held around every call.
type Documents struct {
	o      Options
	groups []group           // sorted as /apis lists them, the core group aside; nil before they are computed
	core   *group            // nil if not served
	made   map[string][]byte // JSON documents by path, with "aggregated " before it for the aggregated form
	etags  map[string]string // of aggregated documents
	spec   specs

	started time.Time
	healthy map[probe]bool // how each check came out last, by check and endpoint
	probes  map[probe]int  // how often it came out how
}

// New returns the documents of an API server.
func New(o Options) *Documents {
	if o.Address == "" {
		o.Address = "127.0.0.1:6443"
	}
	if o.Keys == nil {
		o.Keys, _ = token.New(token.Options{}) // no options are good ones
	}
	if o.Host == nil {
		o.Host = StandaloneHost{}
	}
	d := &Documents{o: o, started: o.Host.Now(), healthy: map[probe]bool{}, probes: map[probe]int{}}
	for i := range endpoints {
		d.runChecks(&endpoints[i], nil) // a running server has been probed
	}
	d.spec.begin(&o)
	d.Changed()
	return d
}

// Changed notifies d that the definitions of the Table have changed. Unchanged documents are kept.
func (d *Documents) Changed() {
	d.groups, d.core = nil, nil
	d.made, d.etags = map[string][]byte{}, map[string]string{}
	d.spec.changed()
}

// Request is a request for a document.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header wire.Header
}

// Answer is the answer to a Request. Either Status is set, to be printed in the format that the client accepts, or Body, which is
// final. Header holds the headers that differ from those of every answer; a Cache-Control in it replaces theirs, and if the Body is
// encoded, the header is already set.
type Answer struct {
	Code   int
	Header wire.Header
	Body   []byte
	Status *status.Status

	// Modified is the time of the last change of a document. If it is set, clients may send conditional and range requests (RFC
	// 9110), which the sender of the answer must handle. Packed is then Body for clients that accept gzip, or nil if there is none.
	Modified time.Time
	Packed   []byte

	// Negotiated answers are written like those of resources: compressed if they are long. Other answers are not compressed.
	Negotiated bool
}

// Serve answers a request. It returns false when the path is not one of discovery's. The answer of a HEAD has the body that a GET gets.
func (d *Documents) Serve(r Request) (*Answer, bool) {
	a := d.route(&r)
	return a, a != nil
}

// route finds the answer for a path. Paths of API groups may end in any number of slashes. Other paths are exact, except for the
// ones that the real server also serves through the router of API groups.
func (d *Documents) route(r *Request) *Answer {
	if !strings.HasPrefix(r.Path, "/") {
		return nil
	}
	trimmed := strings.TrimRight(r.Path, "/")
	root, below, _ := strings.Cut(strings.TrimPrefix(trimmed, "/"), "/")
	slashes := strings.Count(below, "/")
	switch {
	case r.Path == "/" || r.Path == "/index.html":
		return indented(object.JSON(map[string]any{"paths": object.FromStrings(d.list())}))
	case root == "api" && slashes == 0:
		return d.legacyCore(r, strings.Split(trimmed, "/")[2:])
	case root == "apis" && slashes <= 1:
		return d.named(r, strings.Split(trimmed, "/")[2:])
	case root == "api" || root == "apis":
		return nil
	case slices.Contains(routedPaths, trimmed) && d.routes(trimmed):
		return d.routed(r, trimmed)
	case slices.ContainsFunc(routedPaths, func(root string) bool { return strings.HasPrefix(r.Path, root+"/") && d.routes(root) }):
		return failed(status.NoResource())
	case r.Path == "/metrics":
		return d.metrics(r)
	case r.Path == "/metrics/slis":
		return d.serviceLevel(r)
	case d.served(r.Path):
		return d.zpage(r, zpages[r.Path])
	case strings.HasPrefix(r.Path, "/openapi/v"):
		return d.openAPI(r)
	}
	return d.health(r)
}

// routedPaths are the documents beside the API that the real server's router serves, and everything beneath them.
var routedPaths = []string{"/version", keysPath, configurationPath}

// The paths of the keys and of the issuer of service account tokens (OpenID Connect Discovery).
const (
	keysPath          = "/openid/v1/jwks"
	configurationPath = "/.well-known/openid-configuration"
)

// routes reports whether one of the routedPaths is served. The paths of token keys are served if their issuer may have a
// configuration.
func (d *Documents) routes(path string) bool { return path == routedPaths[0] || d.openID() != nil }

// openID returns the OpenID configuration of the issuer of tokens, or nil if there is none.
func (d *Documents) openID() []byte {
	document, _ := d.o.Keys.OpenID(d.o.Address)
	return document
}

// notFound returns the answer for an unknown path.
func notFound() *Answer {
	return text(wire.StatusNotFound, "404 page not found\n")
}

// plain is an answer in plain text.
func plain(code int, body string) *Answer {
	return &Answer{Code: code, Body: []byte(body), Header: wire.Header{"Content-Type": {"text/plain; charset=utf-8"}}}
}

// text is an answer in plain text that browsers must not take for anything else.
func text(code int, body string) *Answer {
	a := plain(code, body)
	a.Header.Set("X-Content-Type-Options", "nosniff")
	return a
}

func failed(s *status.Status) *Answer { return &Answer{Code: s.Code, Status: s} }

// asked adds the parameters of r that affect the format of its answer, beside the Accept header, to o.
func (r *Request) asked(o codec.Options) codec.Options {
	o.UserAgent = r.Header.Get("User-Agent")
	if r.Query.Has("pretty") {
		o.PrettyParam = new(r.Query.Get("pretty"))
	}
	return o
}

// negotiate decides the format of an answer to r.
func negotiate(r *Request, o codec.Options) (codec.Format, *status.Status) {
	return codec.Negotiate(r.Header.Get("Accept"), r.asked(o))
}

// document answers with a document of a kind, kept under the key, in the format that was agreed on.
func (d *Documents) document(f codec.Format, key string, kind schema.GVK, build func() object.Object) *Answer {
	a := &Answer{Code: wire.StatusOK, Header: wire.Header{"Content-Type": {f.ContentType}}, Negotiated: true}
	if f.Media == codec.Protobuf {
		obj := build()
		raw := codec.AppendProto(nil, obj, d.o.Schema.Kind(kind))
		if obj.APIVersion() == "" {
			kind.Version = ""
		}
		a.Body = codec.AppendEnvelope(nil, kind, raw)
		return a
	}
	a.Body = codec.Body(d.json(key, kind, build), f)
	return a
}

// json returns a document as compact JSON.
func (d *Documents) json(key string, kind schema.GVK, build func() object.Object) []byte {
	b, ok := d.made[key]
	if !ok {
		b = codec.Append(nil, build(), d.o.Schema.Kind(kind))
		d.made[key] = b
	}
	return b
}
