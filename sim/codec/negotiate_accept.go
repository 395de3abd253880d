package codec

import (
	"sort"
	"strconv"
	"strings"
)

// clause is one part of an Accept header.
//
//	application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9
//	└─ typ ───┘ └sub┘ └───────── params ────────┘ └ q
type clause struct {
	typ, sub string
	q        float64
	params   map[string]string
}

// parseAccept reads an Accept header and puts the clauses in the order in which they are tried, as the goautoneg
// library does: letter case counts, unreadable clauses and parameters are skipped. No header at all is */*.
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

// byPreference sorts by weight and then by how exact a clause is. This is no strict order: */*;q=1 goes before
// text/plain;q=0.5 and after it. sort.Sort settles that as it does in the real server.
type byPreference []clause

func (s byPreference) Len() int      { return len(s) }
func (s byPreference) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

func (s byPreference) Less(i, j int) bool {
	a, b := &s[i], &s[j]
	return a.q > b.q || a.typ != "*" && b.typ == "*" || a.sub != "*" && b.sub == "*"
}

// target is the kind to which a clause wants an answer to be converted.
type target struct{ kind, group, version string }

// endpoint is the set of answers that an endpoint offers. The zero value offers only the object itself.
type endpoint struct {
	resource  bool // Table and PartialObjectMetadata, server version v1
	noTable   bool // of these, no Table
	custom    bool // no protobuf for the object as it is
	discovery bool // nothing but APIGroupDiscoveryList
}

// allows reports whether the endpoint answers in a media type with the target; nil stands for the object as it is.
func (e endpoint) allows(m Media, to *target) bool {
	switch {
	case e.discovery:
		return to != nil && *to == target{"APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"}
	case to == nil:
		return !e.custom || m != Protobuf
	case !e.resource || to.group != "meta.k8s.io" || to.version != "v1" && to.version != "v1beta1":
		return false
	case to.kind == "Table":
		return m != Protobuf && !e.noTable
	}
	return to.kind == "PartialObjectMetadata" || to.kind == "PartialObjectMetadataList"
}

// pick returns the first media type that matches a clause whose wishes the endpoint allows.
func pick(clauses []clause, e endpoint) (Format, bool) {
	for i := range clauses {
		c := &clauses[i]
		for m := JSON; m <= Protobuf; m++ {
			if c.matches(m) {
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

// format reads the parameters of a clause. Unknown parameters are ignored.
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

// transforms reports whether a clause asks for another kind than the object's.
func (c *clause) transforms() bool { return c.has("as") || c.has("g") || c.has("v") }

func (c *clause) has(param string) bool {
	_, ok := c.params[param]
	return ok
}
