package codec

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

const (
	routeText   = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	streamsText = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
	onlyText    = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	onlyStreams = "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
	protoType   = "application/vnd.kubernetes.protobuf"
	asTable     = ";as=Table;v=v1;g=meta.k8s.io"
	asPartial   = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asDiscovery = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// The endpoints of the negotiations.
var (
	resourceOptions  = Options{Transforms: true}
	customOptions    = Options{Transforms: true, Custom: true}
	watchOptions     = Options{Transforms: true, List: true, Watch: true}
	discoveryOptions = Options{Discovery: true}
)

var negotiations = []struct {
	accept string
	o      Options
	want   string // content type, followed by a space and "as" if it is set, or the error
}{
	{"", resourceOptions, "application/json"},
	{"*/*", resourceOptions, "application/json"},
	{"application/*", resourceOptions, routeText},
	{"application/*", customOptions, "application/json"},
	{"text/plain", resourceOptions, routeText},
	{"text/plain", watchOptions, routeText + streamsText},
	{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", resourceOptions, "application/json"},
	{protoType + "9, application/json", resourceOptions, "application/json"},
	{"application/json;charset=utf-8", resourceOptions, "application/json"},
	{"application/json;foo=bar", resourceOptions, "application/json"},
	{"application/json;q=0", resourceOptions, "application/json"},
	{"Application/JSON", resourceOptions, routeText},
	{"Application/JSON", customOptions, onlyText},
	{"///", resourceOptions, routeText},
	{"application/json" + asTable, resourceOptions, "application/json Table"},
	{"application/yaml" + asTable, resourceOptions, "application/yaml Table"},
	{protoType + asTable, resourceOptions, onlyText},
	{strings.Replace("application/json"+asTable, "v1", "v9", 1) + ", application/json", resourceOptions, "application/json"},
	{"application/json;as=Table;v=v2;g=meta.k8s.io", resourceOptions, onlyText},
	{"application/json;as=Frog;v=v1;g=meta.k8s.io", resourceOptions, onlyText},
	{"application/json;as=PartialObjectMetadata;v=v1;g=example.com", resourceOptions, onlyText},
	{"application/json;v=v1", resourceOptions, onlyText},
	{protoType + asPartial, resourceOptions, protoType + " PartialObjectMetadata"},
	{protoType, resourceOptions, protoType},
	{protoType + ",application/json", resourceOptions, protoType},
	{"application/json," + protoType, resourceOptions, "application/json"},
	{"application/json;q=0.2," + protoType, resourceOptions, protoType},
	{"application/json;sv=v1", resourceOptions, "application/json"},
	{"application/json;sv=v2", resourceOptions, onlyText},
	{"application/yaml;stream=watch", resourceOptions, onlyText},
	{protoType, customOptions, onlyText},
	{protoType + ",application/json", customOptions, "application/json"},
	{protoType + asPartial, customOptions, protoType + " PartialObjectMetadata"},
	{"text/plain", customOptions, onlyText},
	{"text/plain", Options{Unrouted: true}, onlyText},
	{"", watchOptions, "application/json"},
	{"application/json;stream=watch", watchOptions, "application/json"},
	{protoType, watchOptions, protoType + ";stream=watch"},
	{protoType + ";stream=watch", watchOptions, protoType + ";stream=watch"},
	{"application/yaml", watchOptions, onlyStreams},
	{"application/yaml, application/json;q=0.5", watchOptions, onlyStreams},
	{"application/json;as=PartialObjectMetadata;v=v9;g=meta.k8s.io", watchOptions, onlyText},
	{"application/json" + asTable, watchOptions, "application/json Table"},
	{"application/json" + asDiscovery, discoveryOptions, "application/json" + asDiscovery + " APIGroupDiscoveryList"},
	{"application/json," + protoType + asDiscovery, discoveryOptions, protoType + asDiscovery + " APIGroupDiscoveryList"},
	{"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", discoveryOptions, onlyText},
	{"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json", discoveryOptions, "application/json"},
	{"application/json" + asDiscovery, Options{}, onlyText},
	{"application/json" + asTable, Options{}, onlyText},
	{"application/yaml", Options{JSONOnly: true}, "406: Not Acceptable\n\nAvailable representations: application/json"},
}

func TestNegotiate(t *testing.T) {
	for _, tt := range negotiations {
		t.Run(tt.accept, func(t *testing.T) {
			is := is.New(t)
			f, s := Negotiate(tt.accept, tt.o)
			got := f.ContentType
			if f.As != "" {
				got += " " + f.As
			}
			if s != nil {
				got = s.Message
				is.Equal(s.Details != nil, strings.HasPrefix(got, "4")) // only go-restful adds empty details
			}
			is.Equal(got, tt.want)
		})
	}
}

func TestNegotiateError(t *testing.T) {
	for _, tt := range []struct {
		accept string
		want   Format
	}{
		{"", Format{ContentType: "application/json"}},
		{"*/*", Format{ContentType: "application/json"}},
		{"application/yaml", Format{Media: YAML, ContentType: "application/yaml"}},
		{protoType, Format{Media: Protobuf, ContentType: protoType}},
		{"text/plain", Format{Pretty: true, ContentType: "application/json"}},
		{"application/json" + asTable, Format{Pretty: true, ContentType: "application/json"}},
		{"application/json" + asTable + ",application/json", Format{ContentType: "application/json"}},
	} {
		t.Run(tt.accept, func(t *testing.T) {
			is := is.New(t)
			is.Equal(NegotiateError(tt.accept, Options{}), tt.want)
		})
	}
}

func TestPretty(t *testing.T) {
	for _, tt := range []struct {
		name, accept, agent, param string
		want                       bool
	}{
		{"nothing", "", "conform/v1.0", "", false},
		{"true", "", "", "true", true},
		{"one", "", "", "1", true},
		{"word", "", "", "yes", false},
		{"accept", "application/json;pretty=1", "", "", true},
		{"accept against the query", "application/json;pretty=1", "", "false", true},
		{"human", "", "curl/8.0", "", true},
		{"human who does not want it", "", "curl/8.0", "false", false},
		{"yaml", "application/yaml", "curl/8.0", "", false},
		{"protobuf", protoType, "curl/8.0", "true", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			f, s := Negotiate(tt.accept, Options{UserAgent: tt.agent, PrettyParam: &tt.param})
			is.True(s == nil)           // every header is acceptable
			is.Equal(f.Pretty, tt.want) // indented or not
		})
	}
}

func TestContentType(t *testing.T) {
	for header, want := range map[string]Media{
		"": JSON, "application/json": JSON, "application/json; charset=utf-8": JSON, "Application/JSON": JSON,
		"application/yaml": YAML, protoType: Protobuf,
	} {
		is := is.New(t)
		m, s := ContentType(header, false)
		is.True(s == nil) // the type is read
		is.Equal(m, want)
	}
	for _, header := range []string{"text/plain", "application/x-www-form-urlencoded", "application/", "application/xml"} {
		is := is.New(t)
		_, s := ContentType(header, false)
		is.Equal(s.Message, "the body of the request was in an unknown format - accepted media types include: "+
			"application/json, application/yaml, application/vnd.kubernetes.protobuf") // 415
	}
}

func FuzzNegotiate(f *testing.F) {
	f.Add("application/json;as=Table;v=v1;g=meta.k8s.io, */*;q=0.1")
	f.Add("a/b//;=;q==,*")
	f.Fuzz(func(t *testing.T, accept string) {
		for _, o := range []Options{{}, {Custom: true}, {Transforms: true, Watch: true}, {Discovery: true}} {
			if format, s := Negotiate(accept, o); s == nil && format.ContentType == "" {
				t.Errorf("Negotiate(%q) has no content type", accept)
			}
		}
		NegotiateError(accept, Options{})
	})
}
