package codec

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/status"
)

// Media is one of the three encodings the API server speaks.
type Media uint8

const (
	JSON Media = iota
	YAML
	Protobuf
)

// The media types in the order in which the server prefers them, and the media types of watches.
var (
	mediaTypes  = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamTypes = []string{"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"}
)

// String returns the media type.
func (m Media) String() string { return mediaTypes[m] }

// Format is the form of an answer, the outcome of a negotiation. The zero value, except for ContentType, is plain JSON.
type Format struct {
	Media              Media
	Pretty             bool   // indented JSON without a final newline
	As                 string // "", Table, PartialObjectMetadata, PartialObjectMetadataList, APIGroupDiscoveryList
	AsGroup, AsVersion string
	Profile            string // "nopeer": without the resources that other servers serve
	Stream             bool   // frames of a watch
	ContentType        string // the Content-Type header
}

// Options are the properties of the endpoint and the client that matter for an Accept header.
type Options struct {
	Custom     bool   // a custom resource: no go-restful route, objects are not printed as protobuf
	Unrouted   bool   // no go-restful route either, though built in: /apis and /apis/GROUP
	List       bool   // the route also offers the types of a watch: collections of resources that can be watched
	Watch      bool   // the answer is a watch
	Transforms bool   // Table and PartialObjectMetadata are offered
	NoTable    bool   // of the Transforms, Table is not offered
	Discovery  bool   // APIGroupDiscoveryList is offered: /api and /apis
	JSONOnly   bool   // the route offers nothing but JSON: /version
	Only       string // the route offers nothing but this type, and prints it by itself: /openid/v1/jwks
	Text       bool   // the route also offers a text: /log
	NoBody     bool   // a POST, PUT or PATCH without a Content-Length other than 0

	UserAgent   string
	PrettyParam *string // the query parameter pretty; nil when there is none
}

// Negotiate decides how to answer a request with the Accept header.
//
// The real server negotiates twice: go-restful looks for a route that offers a type named by the header (CheckAccept), then the
// handler weighs the clauses (API concepts, "Alternate representations of resources"). A watch is negotiated a third time,
// for an encoding that can stream; the server does that after it has opened the watch, so a caller may ask without Watch
// first.
func Negotiate(accept string, o Options) (Format, *status.Status) {
	if s := CheckAccept(accept, o); s != nil {
		return Format{}, s
	}
	if o.JSONOnly || o.Only != "" { // printed without looking at the header again
		return Format{Pretty: true, ContentType: JSON.String()}, nil
	}
	clauses := parseAccept(accept)
	if o.Discovery {
		if f, ok := pick(clauses, endpoint{discovery: true}); ok {
			f.ContentType = f.Media.String() + ";g=" + f.AsGroup + ";v=" + f.AsVersion + ";as=" + f.As
			return f.printed(o), nil
		}
	}
	f, ok := pick(clauses, endpoint{resource: o.Transforms || o.Custom, noTable: o.NoTable, custom: o.Custom})
	switch {
	case !ok:
		return Format{}, status.NotNegotiable(mediaTypes)
	case !o.Watch:
		return f.printed(o), nil
	case f.Media == YAML:
		return Format{}, status.NotNegotiable(streamTypes)
	}
	f.Pretty, f.Stream, f.ContentType = false, true, f.Media.String()
	if f.Media == Protobuf {
		f.ContentType += ";stream=watch"
	}
	return f, nil
}

// NegotiateError decides how to answer with an error: transformations are not offered, and a header that asks for
// nothing else gets indented JSON.
func NegotiateError(accept string, o Options) Format {
	f, ok := pick(parseAccept(accept), endpoint{})
	if !ok {
		return Format{Pretty: true, ContentType: JSON.String()}
	}
	return f.printed(o)
}

// ContentType returns how to read a request body with the Content-Type header; a body without one is JSON. That of a
// custom resource may be called protobuf too: it cannot be decoded, but that is found out later.
func ContentType(header string) (Media, *status.Status) {
	if header == "" {
		return JSON, nil
	}
	if name, _, err := mime.ParseMediaType(header); err == nil {
		if i := slices.Index(mediaTypes, name); i >= 0 {
			return Media(i), nil
		}
	}
	return JSON, status.UnsupportedMediaType(mediaTypes)
}

// printed fills in Pretty and, unless it is there, ContentType. Only JSON can be pretty: the client asks with a
// parameter in the Accept header or in the query, or is known to be read by a human.
func (f Format) printed(o Options) Format {
	f.Pretty = f.Media == JSON && (f.Pretty || o.pretty())
	if f.ContentType == "" {
		f.ContentType = f.Media.String()
	}
	return f
}

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

// CheckAccept does go-restful's part: a clause must name a type of the route letter by letter or be */*; parameters do not count.
func CheckAccept(accept string, o Options) *status.Status {
	if o.Custom || o.Unrouted || accept == "" {
		return nil
	}
	offered := mediaTypes
	switch {
	case o.JSONOnly:
		offered = mediaTypes[:1]
	case o.Only != "":
		offered = []string{o.Only}
	case o.Text:
		offered = slices.Concat([]string{"text/plain"}, mediaTypes)
	case o.List:
		offered = slices.Concat(mediaTypes, streamTypes)
	}
	for clause := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(clause, ";")
		name = strings.Trim(name, " ")
		if name == "*/*" || slices.Contains(offered, name) {
			return nil
		}
	}
	s := status.NotAcceptable("406: Not Acceptable")
	if o.NoBody { // go-restful takes it for a body of a wrong type
		s = &status.Status{Code: 415, Reason: status.ReasonMediaType, Message: "415: Unsupported Media Type"}
	}
	s.Message += "\n\nAvailable representations: " + strings.Join(offered, ", ")
	s.Details = &status.Details{}
	return s
}
