package codec

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Media is one of the encodings that the API server supports.
type Media uint8

const (
	JSON Media = iota
	YAML
	Protobuf
	CBOR // only with the feature gate CBORServingAndStorage
)

// The media types in the server's order of preference, and the media types of watches. The last type of each list needs a feature gate.
var (
	mediaTypes  = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"}
	anyType     = []string{"*/*"}
	streamTypes = []string{"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch", "application/cbor-seq"}
)

// offered returns the types of a list, with or without CBOR's.
func offered(types []string, cbor bool) []string {
	if cbor {
		return types
	}
	return types[:len(types)-1]
}

// String returns the media type.
func (m Media) String() string { return mediaTypes[m] }

// Format is the format of a response, as negotiated. The zero value, apart from ContentType, is compact JSON.
type Format struct {
	Media              Media
	Pretty             bool   // indented JSON without a final newline
	As                 string // "", Table, PartialObjectMetadata, PartialObjectMetadataList, APIGroupDiscoveryList
	AsGroup, AsVersion string
	Profile            string // "nopeer": discovery omits resources that only other servers serve
	Stream             bool   // frames of a watch
	ContentType        string // the Content-Type header

	cbor   CBORCodec // if Media is CBOR
	schema *schema.Set
}

// Options are the properties of the endpoint and the client that affect the negotiation.
type Options struct {
	Custom     bool   // a custom resource: it has no go-restful route, and objects are not encoded as protobuf
	Unrouted   bool   // a built-in endpoint without a go-restful route: /apis and /apis/GROUP
	List       bool   // the route also offers the types of a watch: collections of resources that can be watched
	Watch      bool   // the response is a watch
	Transforms bool   // Table and PartialObjectMetadata are offered
	NoTable    bool   // Table is not offered, even if Transforms is set
	Discovery  bool   // APIGroupDiscoveryList is offered: /api and /apis
	JSONOnly   bool   // the route offers only JSON: /version
	Only       string // the route offers only this type and does not negotiate further: /openid/v1/jwks
	Text       bool   // the route also offers plain text: /log

	CBOR   CBORCodec   // if nil, CBOR is not offered
	Schema *schema.Set // the kinds that may be encoded as CBOR

	UserAgent   string
	PrettyParam *string // the query parameter pretty, or nil
}

// Negotiate returns the format of the response to a request with the Accept header.
//
// The real server negotiates twice: go-restful looks for a route that offers a type in the header (CheckAccept), and then the
// handler evaluates the clauses (API concepts, "Alternate representations of resources"). A watch is negotiated a third time, for
// an encoding that supports streaming. The server does that after opening the watch, so a caller may call Negotiate without Watch
// first.
func Negotiate(accept string, o Options) (Format, *status.Status) {
	if s := CheckAccept(accept, o); s != nil {
		return Format{}, s
	}
	if o.JSONOnly || o.Only != "" { // the handler encodes without negotiating again
		return Format{Pretty: true, ContentType: JSON.String()}, nil
	}
	clauses := parseAccept(accept)
	if o.Discovery {
		if f, ok := pick(clauses, endpoint{discovery: true}); ok {
			f.ContentType = f.Media.String() + ";g=" + f.AsGroup + ";v=" + f.AsVersion + ";as=" + f.As
			return f.printed(o), nil
		}
	}
	f, ok := pick(clauses, endpoint{resource: o.Transforms || o.Custom, noTable: o.NoTable, custom: o.Custom, cbor: o.CBOR != nil})
	switch {
	case !ok:
		return Format{}, status.NotNegotiable(o.offered(mediaTypes))
	case !o.Watch:
		return f.printed(o), nil
	case f.Media == YAML:
		return Format{}, status.NotNegotiable(o.offered(streamTypes))
	}
	f = f.printed(o)
	f.Pretty, f.Stream = false, true
	switch f.Media {
	case Protobuf:
		f.ContentType += ";stream=watch"
	case CBOR:
		f.ContentType = "application/cbor-seq" // whatever the client accepts: RFC 9110 allows it
	}
	return f, nil
}

// NegotiateError returns the format of an error response. An error is never sent as a Table or partial metadata. If nothing matches
// the header, the format is indented JSON.
func NegotiateError(accept string, o Options) Format {
	f, ok := pick(parseAccept(accept), endpoint{cbor: o.CBOR != nil})
	if !ok {
		return Format{Pretty: true, ContentType: JSON.String()}
	}
	return f.printed(o)
}

// ContentType returns the encoding of a request body with the Content-Type header, or 415 for an unsupported one. An empty header
// means JSON. Protobuf is also accepted for a custom resource, whose body can then not be decoded. cbor reports whether the server
// supports CBOR.
func ContentType(header string, cbor bool) (Media, *status.Status) {
	if header == "" {
		return JSON, nil
	}
	if name, _, err := mime.ParseMediaType(header); err == nil {
		if i := slices.Index(offered(mediaTypes, cbor), name); i >= 0 {
			return Media(i), nil
		}
	}
	return JSON, status.UnsupportedMediaType(offered(mediaTypes, cbor))
}

// printed returns f with Pretty, the codec of CBOR and, if it was empty, ContentType set. Only JSON can be pretty: a parameter in the
// Accept header or in the query requests it, or the user agent suggests a human reader.
func (f Format) printed(o Options) Format {
	f.Pretty = f.Media == JSON && (f.Pretty || o.pretty())
	if f.Media == CBOR {
		f.cbor, f.schema = o.CBOR, o.Schema
	}
	if f.ContentType == "" {
		f.ContentType = f.Media.String()
	}
	return f
}

func (o Options) offered(types []string) []string { return offered(types, o.CBOR != nil) }

func (o Options) pretty() bool {
	if o.PrettyParam != nil && *o.PrettyParam != "" {
		pretty, _ := strconv.ParseBool(*o.PrettyParam)
		return pretty
	}
	for _, human := range []string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(o.UserAgent, human) {
			return true
		}
	}
	return false
}

// CheckAccept implements go-restful's check of the Accept header: a clause must be exactly one of the route's types, or */*. It
// ignores parameters. If no clause matches, it returns 406.
func CheckAccept(accept string, o Options) *status.Status {
	if o.Custom || o.Unrouted || accept == "" {
		return nil
	}
	offered := o.offered(mediaTypes)
	switch {
	case o.JSONOnly:
		offered = mediaTypes[:1]
	case o.Only != "":
		offered = []string{o.Only}
	case o.Text:
		offered = slices.Concat([]string{"text/plain"}, offered)
	case o.List:
		offered = slices.Concat(offered, o.offered(streamTypes))
	}
	if mentions(accept, offered) || mentions(accept, anyType) {
		return nil
	}
	s := status.NotAcceptable("406: Not Acceptable")
	s.Message += "\n\nAvailable representations: " + strings.Join(offered, ", ")
	s.Details = &status.Details{}
	return s
}

// CheckContentType implements go-restful's check of the Content-Type header of a GET: a clause must be exactly one of the types that
// the route consumes. It ignores parameters. If no clause matches, it returns 415. Routes of resources accept any type.
func CheckContentType(header string, o Options) *status.Status {
	consumed := o.offered(mediaTypes)
	if o.JSONOnly {
		consumed = mediaTypes[:1]
	}
	if header == "" || mentions(header, consumed) {
		return nil
	}
	return status.NotConsumed()
}

// mentions reports whether a clause of a header, without its parameters, is one of the given media types.
func mentions(header string, types []string) bool {
	for clause := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(clause, ";")
		if slices.Contains(types, strings.Trim(name, " ")) {
			return true
		}
	}
	return false
}
