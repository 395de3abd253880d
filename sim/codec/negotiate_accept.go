package codec

import (
	"sort"
	"strconv"
	"strings"
)

// clause is one clause of an Accept header.
//
//	application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9
//	└─ typ ───┘ └sub┘ └───────── params ────────┘ └ q
type clause struct {
	typ, sub string
	q        float64
	params   map[string]string
}

// parseAccept parses an Accept header and sorts its clauses by preference, like the goautoneg library: it is case-sensitive and
// skips malformed clauses and parameters. An empty header means */*.
func parseAccept(header string) []clause {
	if header == "" {
		return []clause{{typ: "*", sub: "*", q: 1}}
	}
	var clauses []clause
	for part := range strings.SplitSeq(header, ",") {
		if c, ok := parseClause(strings.Trim(part, " ")); ok {
			clauses = append(clauses, c)
		}
	}
	sort.Sort(byPreference(clauses))
	return clauses
}

func parseClause(text string) (clause, bool) {
	name, params, _ := strings.Cut(text, ";")
	typ, rest, _ := strings.Cut(name, "/")
	c := clause{typ: strings.Trim(typ, " "), q: 1}
	sub, more, _ := strings.Cut(rest, "/")
	switch {
	case more != "" || rest == "" && c.typ != "*":
		return c, false
	case rest == "":
		c.sub = "*"
	default:
		c.sub = strings.Trim(sub, " ")
	}
	if params == "" {
		return c, true
	}
	c.params = map[string]string{}
	for param := range strings.SplitSeq(params, ";") {
		key, rest, _ := strings.Cut(param, "=")
		value, more, _ := strings.Cut(rest, "=")
		if rest == "" || more != "" {
			continue
		}
		if key = strings.Trim(key, " "); key == "q" {
			c.q, _ = strconv.ParseFloat(value, 32)
		} else {
			c.params[key] = strings.Trim(value, " ")
		}
	}
	return c, true
}

// byPreference sorts by weight and then by specificity. This is not a strict order: */*;q=1 is less than text/plain;q=0.5, and vice
// versa. sort.Sort resolves that as in the real server.
type byPreference []clause

func (s byPreference) Len() int      { return len(s) }
func (s byPreference) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

func (s byPreference) Less(i, j int) bool {
	a, b := &s[i], &s[j]
	return a.q > b.q || a.typ != "*" && b.typ == "*" || a.sub != "*" && b.sub == "*"
}

// target is the kind that a clause requests for the response.
type target struct{ kind, group, version string }

// endpoint is the set of representations that an endpoint offers. The zero value offers only the object itself.
type endpoint struct {
	resource  bool // Table and PartialObjectMetadata, and the server version v1
	noTable   bool // no Table, even if resource is set
	custom    bool // the object itself is not offered as protobuf
	discovery bool // only APIGroupDiscoveryList
	cbor      bool // CBOR is offered
}

// allows reports whether the endpoint offers a target in media type m. If to is nil, the target is the object itself.
func (e endpoint) allows(m Media, to *target) bool {
	switch {
	case e.discovery:
		return to != nil && *to == target{"APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"}
	case to == nil:
		return !e.custom || m != Protobuf
	case !e.resource || to.group != "meta.k8s.io" || to.version != "v1" && to.version != "v1beta1":
		return false
	case to.kind == "Table":
		return (m == JSON || m == YAML) && !e.noTable
	}
	return to.kind == "PartialObjectMetadata" || to.kind == "PartialObjectMetadataList"
}

// pick returns the format of the first clause that the endpoint can satisfy, with the first media type that matches the clause. It
// returns false if it can satisfy none.
func pick(clauses []clause, e endpoint) (Format, bool) {
	for i := range clauses {
		c := &clauses[i]
		for m := JSON; m <= CBOR; m++ {
			if c.matches(m) && (m != CBOR || e.cbor) {
				if f, ok := c.format(m, e); ok {
					return f, true
				}
			}
		}
	}
	return Format{}, false
}

func (c *clause) matches(m Media) bool {
	typ, sub, _ := strings.Cut(m.String(), "/")
	return c.takes(typ, sub)
}

func (c *clause) takes(typ, sub string) bool {
	return c.typ == typ && (c.sub == sub || c.sub == "*") || c.typ == "*" && c.sub == "*"
}

// format returns the format that a clause's parameters request, and whether the endpoint offers it. It ignores unknown parameters.
func (c *clause) format(m Media, e endpoint) (Format, bool) {
	if stream := c.params["stream"]; stream != "" && (stream != "watch" || m == YAML) {
		return Format{}, false
	}
	if version := c.params["sv"]; version != "" && (version != "v1" || !e.resource) {
		return Format{}, false
	}
	f := Format{Media: m, Pretty: c.params["pretty"] == "1", As: c.params["as"], AsGroup: c.params["g"], AsVersion: c.params["v"],
		Profile: c.params["profile"]}
	to := &target{f.As, f.AsGroup, f.AsVersion}
	if !c.transforms() {
		to = nil
	}
	return f, e.allows(m, to)
}

// transforms reports whether a clause requests a conversion of the object to another kind.
func (c *clause) transforms() bool { return c.has("as") || c.has("g") || c.has("v") }

func (c *clause) has(param string) bool {
	_, ok := c.params[param]
	return ok
}
