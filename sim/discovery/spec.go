package discovery

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/discovery/openapi"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// specs are the OpenAPI documents. Each is created when it is first requested; a request for the index creates all of them, because
// it contains their hashes.
type specs struct {
	source  openapi.Source
	stale   bool // parts were computed from an older Table
	parts   []openapi.Part
	v3      map[string]*spec // by key
	v2      *spec
	host    Host
	indexed time.Time // time of the last change of the version 3 index
}

// spec is an OpenAPI document and the hash of its JSON form. Both forms are stored compressed, because all documents together take
// several megabytes, and a client reads only one or two of them.
type spec struct {
	made  time.Time
	hash  string
	json  []byte // gzip
	proto []byte // gzip; nil until it is first requested
}

// begin sets the options from which the documents are generated.
func (s *specs) begin(o *Options) {
	s.host = o.Host
	s.source = openapi.Source{Schema: o.Schema, Version: o.Version.Major + "." + o.Version.Minor, CBOR: o.CBOR != nil, Custom: o.Host.CustomSchema}
}

// changed records that the definitions of the Table have changed.
func (s *specs) changed() { s.stale = true }

// refresh updates the parts, and discards the documents of parts that have changed.
func (d *Documents) refresh() {
	s := &d.spec
	if !s.stale {
		return
	}
	d.load()
	parts := openapi.Roots()
	if d.core != nil {
		for _, v := range d.core.versions {
			parts = append(parts, openapi.Part{Key: "api/" + v.name, Version: v.name, Defs: v.defs})
		}
	}
	for i := range d.groups {
		g := &d.groups[i]
		if !g.custom {
			parts = append(parts, openapi.Part{Key: "apis/" + g.name, Group: g.name})
		}
		for _, v := range g.versions {
			if v.remote != nil || v.empty() {
				continue // its documents come from the aggregated server
			}
			parts = append(parts, openapi.Part{Key: "apis/" + g.groupVersion(v.name), Group: g.name, Custom: g.custom, Version: v.name, Defs: v.defs})
		}
	}
	kept := map[string]*spec{}
	for _, p := range parts {
		i := slices.IndexFunc(s.parts, func(old openapi.Part) bool { return old.Key == p.Key })
		if i >= 0 && slices.Equal(s.parts[i].Defs, p.Defs) && s.v3[p.Key] != nil {
			kept[p.Key] = s.v3[p.Key]
		}
	}
	s.parts, s.v3, s.v2, s.stale, s.indexed = parts, kept, nil, false, s.host.Now()
}

// part returns the document with the given key, or nil if there is none.
func (s *specs) part(key string) *spec {
	if doc := s.v3[key]; doc != nil {
		return doc
	}
	i := slices.IndexFunc(s.parts, func(p openapi.Part) bool { return p.Key == key })
	if i < 0 {
		return nil
	}
	s.v3[key] = s.newSpec(s.source.V3(s.parts[i]))
	return s.v3[key]
}

func (s *specs) newSpec(json []byte) *spec {
	return &spec{made: s.host.Now(), hash: hash(json), json: pack(json)}
}

// openAPI serves /openapi/v2, /openapi/v3 and the paths below the latter, with any method. It returns nil for any other path.
func (d *Documents) openAPI(r *Request) *Answer {
	d.refresh()
	if r.Path == "/openapi/v2" {
		return d.openAPIV2(r)
	}
	if r.Path == "/openapi/v3" {
		return d.openAPIV3Index()
	}
	key, ok := strings.CutPrefix(r.Path, "/openapi/v3/")
	if !ok {
		return nil
	}
	doc := d.spec.part(key)
	if doc == nil {
		return &Answer{Code: wire.StatusNotFound, Header: wire.Header{}}
	}
	return openAPIV3(r, key, doc)
}

// openAPIV3Index serves the index of the version 3 documents. Like the aggregator, it does not set the content type, so net/http
// declares the JSON as plain text.
func (d *Documents) openAPIV3Index() *Answer {
	paths := map[string]any{}
	for _, p := range d.spec.parts {
		paths[p.Key] = map[string]any{"serverRelativeURL": hashedURL(p.Key, d.spec.part(p.Key).hash)}
	}
	for _, r := range d.remotes() {
		maps.Copy(paths, r.OpenAPI.V3)
	}
	return &Answer{Code: wire.StatusOK, Body: object.JSON(map[string]any{"paths": paths}), Modified: d.spec.indexed, Header: wire.Header{
		"Content-Type": {"text/plain; charset=utf-8"},
	}}
}

func hashedURL(key, hash string) string {
	u := url.URL{Path: "/openapi/v3/" + key, RawQuery: "hash=" + hash}
	return u.String()
}

// openAPIV3 serves one document. If the request contains the current hash of the document, the response may be cached forever. If
// it contains another hash, it is redirected to the current one.
func openAPIV3(r *Request, key string, doc *spec) *Answer {
	a := &Answer{Code: wire.StatusOK, Header: wire.Header{"Vary": {"Accept"}}}
	media := acceptable(r.Header.Get("Accept"), "application/json", protoV3, oldProtoV3)
	switch media {
	case "":
		a.Code = wire.StatusNotAcceptable
		return a
	case oldProtoV3:
		media = protoV3
	}
	a.Header.Set("Content-Type", media)
	a.Header.Set("ETag", `"`+doc.hash+`"`)
	if have := r.Query.Get("hash"); have == doc.hash {
		a.Header.Set("Cache-Control", "public, immutable")
		a.Header.Set("Expires", immutableUntil.Format(wire.TimeFormat))
	} else if have != "" {
		a.Code = wire.StatusMovedPermanently
		a.Header.Set("Location", hashedURL(key, doc.hash))
		return a
	}
	a.Modified = doc.made
	if media == protoV3 {
		a.Body = doc.protoV3()
	} else {
		a.Body = unpack(doc.json)
	}
	return a
}

// protoV3 returns a version 3 document in protobuf.
func (doc *spec) protoV3() []byte {
	if doc.proto == nil {
		doc.proto = pack(openapi.ProtoV3(unpack(doc.json)))
	}
	return unpack(doc.proto)
}

// immutableUntil is the expiry time of a document that is requested by its hash. In the real server, such a document expires after
// a year.
var immutableUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// The protobuf media types of OpenAPI: the current ones, and the old ones, which are not valid media types.
const (
	protoV2    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	oldProtoV2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	protoV3    = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	oldProtoV3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// openAPIV2 serves the OpenAPI 2 document.
func (d *Documents) openAPIV2(r *Request) *Answer {
	a := &Answer{Code: wire.StatusOK, Header: wire.Header{"Vary": {"Accept-Encoding", "Accept"}}}
	media := acceptable(r.Header.Get("Accept"), "application/json", protoV2, oldProtoV2)
	if media == "" {
		a.Code = wire.StatusNotAcceptable
		return a
	}
	doc := d.document2(media != "application/json")
	packed := doc.json
	a.Header.Set("Content-Type", media)
	if media != "application/json" {
		packed = doc.proto
		a.Header.Set("Content-Type", protoV2)
	}
	a.Header.Set("ETag", `"`+doc.hash+`"`)
	a.Modified, a.Body = doc.made, unpack(packed)
	if acceptsGzip(r.Header.Get("Accept-Encoding"), false) {
		a.Packed = packed
	}
	return a
}

// document2 returns the OpenAPI 2 document in JSON and, if requested, in protobuf.
func (d *Documents) document2(proto bool) *spec {
	s := &d.spec
	if s.v2 == nil || proto && s.v2.proto == nil {
		model := s.source.V2(s.parts)
		for _, r := range d.remotes() {
			if r.OpenAPI.V2 != nil {
				mergeV2(model, &r)
			}
		}
		if s.v2 == nil {
			s.v2 = s.newSpec(openapi.Print(model))
		}
		if proto {
			s.v2.proto = pack(openapi.ProtoV2(model))
		}
	}
	return s.v2
}

func pack(b []byte) []byte { return codec.Member(codec.TextOf(b)) }

func unpack(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		panic("discovery: " + err.Error()) // pack compressed it
	}
	out, err := io.ReadAll(z)
	if err != nil {
		panic("discovery: " + err.Error())
	}
	return out
}
