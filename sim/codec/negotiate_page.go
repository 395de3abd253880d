package codec

import (
	"strings"

	"github.com/kubesim/kubesim/sim/status"
)

// pageTypes are the media types of the debugging pages, in the server's order of preference. The last one needs a feature gate. All but
// text/plain, which replaces that of protobuf, have the index of their Media.
var pageTypes = []string{mediaTypes[JSON], mediaTypes[YAML], "text/plain", mediaTypes[CBOR]}

// NegotiatePage returns the format of the response to a request for /statusz or /flagz. It is plain text unless the client
// explicitly requests an object of the kind in a version of config.k8s.io, as JSON, YAML or, if o has a CBORCodec, CBOR.
func NegotiatePage(accept, kind string, o Options) (f Format, text bool, s *status.Status) {
	if strings.TrimSpace(accept) == "" {
		return Format{}, true, nil
	}
	clauses := parseAccept(accept)
	for i := range clauses {
		c := &clauses[i]
		if c.params["stream"] != "" || c.params["sv"] != "" {
			continue
		}
		for m, name := range o.offered(pageTypes) {
			switch typ, sub, _ := strings.Cut(name, "/"); {
			case !c.takes(typ, sub):
			case typ == "text":
				if !c.transforms() {
					return Format{}, true, nil
				}
			default:
				f, _ := c.format(Media(m), endpoint{})
				if f.As == kind && f.AsGroup == "config.k8s.io" && (f.AsVersion == "v1alpha1" || f.AsVersion == "v1beta1") {
					f.ContentType = name + ";g=" + f.AsGroup + ";v=" + f.AsVersion + ";as=" + f.As
					return f.printed(o), false, nil
				}
			}
		}
	}
	return Format{}, false, status.NotNegotiable(o.offered(pageTypes))
}
