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

// Options configure the Documents of one API server.
type Options struct {
	Table   *resource.Table
	Schema  *schema.Set
	Version Version

	// Address is the server's address in /api and the OpenID configuration. The default is 127.0.0.1:6443.
	Address string

	// Keys contains the keys that verify service account tokens. The default is a token.Authority with empty token.Options.
	Keys *token.Authority

	// Statusz and Flagz are the feature gates ComponentStatusz and ComponentFlagz, which enable the pages /statusz and /flagz.
	Statusz, Flagz bool

	// Flags are those kube-apiserver flags that do not have their default values. /flagz shows them.
	Flags map[string]string

	// CBOR encodes lists of resources, and the debugging pages, as CBOR. If it is nil, it is not offered.
	CBOR codec.CBORCodec

	Host Host // The default is StandaloneHost.
}

// Host connects Documents to the surrounding cluster.
type Host interface {
	// Now returns the current time.
	Now() time.Time
	// Checks returns the names of health checks that /healthz and /readyz have in addition to those of every server.
	Checks() []string
	// Check runs the named health check, such as "etcd". It returns nil if the check succeeds.
	Check(name string) error
	// Seats returns, for each priority level, the number of requests that the server executes concurrently. If there are no levels,
	// it returns nil.
	Seats() map[string]int
	// Metrics returns additional metrics in the Prometheus text format, or "".
	Metrics() string
	// Peers returns the Documents of all servers that share the store, including this one, sorted by server name. If there are no
	// other servers, it returns nil. Aggregated discovery publishes the union of their resources, unless a client requests
	// profile=nopeer.
	Peers() []*Documents
	// Remotes returns the versions that aggregated API servers serve, sorted by the names of their APIServices.
	Remotes() []Remote
	// Priorities returns the highest groupPriorityMinimum of each group's APIServices.
	Priorities() map[string]int64
	// CustomSchema returns the openAPIV3Schema of a custom resource's version, which is published unchanged. If it returns nil, the
	// schema is generated from the Type of the definition.
	CustomSchema(*resource.Definition) object.Object
}

// StandaloneHost is a Host for a server without a cluster. Its time is always the Unix epoch.
type StandaloneHost struct{}

func (StandaloneHost) Now() time.Time                                  { return time.Unix(0, 0) }
func (StandaloneHost) Checks() []string                                { return nil }
func (StandaloneHost) Check(string) error                              { return nil }
func (StandaloneHost) Seats() map[string]int                           { return nil }
func (StandaloneHost) Metrics() string                                 { return "" }
func (StandaloneHost) Peers() []*Documents                             { return nil }
func (StandaloneHost) Remotes() []Remote                               { return nil }
func (StandaloneHost) Priorities() map[string]int64                    { return nil }
func (StandaloneHost) CustomSchema(*resource.Definition) object.Object { return nil }

// Documents are the discovery documents of one API server. They are not safe for concurrent use; callers hold the Cluster's lock.
type Documents struct {
	o      Options
	groups []group           // in the order of /apis, without the core group; nil until they are computed
	core   *group            // nil if not served
	made   map[string][]byte // JSON documents by path; keys of the aggregated form begin with "aggregated "
	etags  map[string]string // of aggregated documents
	spec   specs

	started time.Time
	healthy map[probe]bool // latest result by check and endpoint
	probes  map[probe]int  // number of results by check, endpoint and result
}

// New returns the documents of an API server.
func New(o Options) *Documents {
	if o.Address == "" {
		o.Address = "127.0.0.1:6443"
	}
	if o.Keys == nil {
		o.Keys, _ = token.New(token.Options{}) // empty options are valid
	}
	if o.Host == nil {
		o.Host = StandaloneHost{}
	}
	d := &Documents{o: o, started: o.Host.Now(), healthy: map[probe]bool{}, probes: map[probe]int{}}
	for i := range endpoints {
		d.runChecks(&endpoints[i], nil) // as if a running server's health had been checked once
	}
	d.spec.begin(&o)
	d.Changed()
	return d
}

// Changed notifies d that the definitions in the Table have changed. Documents that do not depend on the changes are kept.
func (d *Documents) Changed() {
	d.groups, d.core = nil, nil
	d.made, d.etags = map[string][]byte{}, map[string]string{}
	d.spec.changed()
}

// Request is an HTTP request for a discovery document.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header wire.Header
}

// Answer is the response to a Request. Either Status or Body is set. The caller encodes Status in a format that the client accepts;
// Body is already encoded. Header holds only headers that differ from those of every response; its Cache-Control replaces the usual
// one. If Body is compressed, Content-Encoding is already set.
type Answer struct {
	Code   int
	Header wire.Header
	Body   []byte
	Status *status.Status

	// Modified is the time of the document's last change. If it is set, clients may send conditional and range requests (RFC 9110),
	// which the caller must handle. Packed is then the gzip form of Body, or nil if there is none.
	Modified time.Time
	Packed   []byte

	// Negotiated reports whether the caller compresses a long response, as it does for resources. It does not compress other
	// responses.
	Negotiated bool
}

// Serve returns the response to a request. If the path is not that of a discovery document, it returns false. The response to a
// HEAD request contains the body that GET would return.
func (d *Documents) Serve(r Request) (*Answer, bool) {
	a := d.route(&r)
	return a, a != nil
}

// route calls the handler for a path and returns its response, or nil if no document has the path. Paths of API groups may end in
// any number of slashes. Other paths must match exactly, except for paths that the real server also serves through the router for
// API groups.
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

// routedPaths are the paths outside the API that the real server's router serves, together with all paths below them.
var routedPaths = []string{"/version", keysPath, configurationPath}

// The paths of the public keys and the issuer configuration for service account tokens (OpenID Connect Discovery).
const (
	keysPath          = "/openid/v1/jwks"
	configurationPath = "/.well-known/openid-configuration"
)

// routes reports whether the server serves one of the routedPaths. The paths for token keys are served only if the issuer has an
// OpenID configuration.
func (d *Documents) routes(path string) bool { return path == routedPaths[0] || d.openID() != nil }

// openID returns the OpenID configuration of the token issuer, or nil if it has none.
func (d *Documents) openID() []byte {
	document, _ := d.o.Keys.OpenID(d.o.Address)
	return document
}

// notFound returns the response for an unknown path.
func notFound() *Answer {
	return text(wire.StatusNotFound, "404 page not found\n")
}

// plain returns a plain-text response.
func plain(code int, body string) *Answer {
	return &Answer{Code: code, Body: []byte(body), Header: wire.Header{"Content-Type": {"text/plain; charset=utf-8"}}}
}

// text returns a plain-text response. Its header prevents browsers from guessing the content type.
func text(code int, body string) *Answer {
	a := plain(code, body)
	a.Header.Set("X-Content-Type-Options", "nosniff")
	return a
}

func failed(s *status.Status) *Answer { return &Answer{Code: s.Code, Status: s} }

// asked adds those parameters of the request to o that affect the format of the response, except for the Accept header.
func (r *Request) asked(o codec.Options) codec.Options {
	o.UserAgent = r.Header.Get("User-Agent")
	if r.Query.Has("pretty") {
		o.PrettyParam = new(r.Query.Get("pretty"))
	}
	return o
}

// negotiate returns the format of the response to r.
func negotiate(r *Request, o codec.Options) (codec.Format, *status.Status) {
	if !o.Unrouted {
		if s := codec.CheckContentType(r.Header.Get("Content-Type"), o); s != nil {
			return codec.Format{}, s
		}
	}
	return codec.Negotiate(r.Header.Get("Accept"), r.asked(o))
}

// document serves a document of the given kind in the negotiated format. It caches the document under key.
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

// json returns a document as compact JSON. If no document is cached under key, it calls build.
func (d *Documents) json(key string, kind schema.GVK, build func() object.Object) []byte {
	b, ok := d.made[key]
	if !ok {
		b = codec.Append(nil, build(), d.o.Schema.Kind(kind))
		d.made[key] = b
	}
	return b
}
