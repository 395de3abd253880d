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

// specs are the OpenAPI documents, each created at its first request. Their hashes are part of the index, so the index creates them
// all.
type specs struct {
	source  openapi.Source
	stale   bool // parts are those of an older Table
	parts   []openapi.Part
	v3      map[string]*spec // by key
	v2      *spec
	host    Host
	indexed time.Time // when the index of version 3 changed
}

// spec is one document with its hash, which is that of the JSON form. Documents are kept compressed: together they are
// some megabytes, of which a client reads one or two.
type spec struct {
	made  time.Time
	hash  string
	json  []byte // gzip
	proto []byte // gzip; nil before the first request for it
}

// begin sets the sources of the documents.
func (s *specs) begin(o *Options) {
	s.host = o.Host
	s.source = openapi.Source{Schema: o.Schema, Version: o.Version.Major + "." + o.Version.Minor, Custom: o.Host.CustomSchema}
}

// changed records that the definitions of the Table have changed.
func (s *specs) changed() { s.stale = true }

// refresh brings the parts up to date and discards the documents of changed parts.
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
				continue // it has documents of its own, or none
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

// part returns the document with the key, or nil.
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

// openAPI answers /openapi/v2 and the paths below /openapi/v3, with any method.
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

// openAPIV3Index answers with the paths of the documents. The aggregator does not set the content type, so package net/http
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

// openAPIV3 answers with one document. A client that names the document's hash may keep it for ever; one that names
// another is sent to the right one.
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

// protoV3 returns a document of version 3 in protobuf.
func (doc *spec) protoV3() []byte {
	if doc.proto == nil {
		doc.proto = pack(openapi.ProtoV3(unpack(doc.json)))
	}
	return unpack(doc.proto)
}

// immutableUntil is the expiry time of a document with a hash. The real server uses a year from now; documents have no clock.
var immutableUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// The names of OpenAPI in protobuf: as it is answered, and an older one that is no valid media type.
const (
	protoV2    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	oldProtoV2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	protoV3    = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	oldProtoV3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// openAPIV2 answers with the document of everything.
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

// document2 creates the OpenAPI 2 document in JSON and, if requested, in protobuf.
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

func pack(b []byte) []byte { return codec.Member(codec.Text{b}) }

func unpack(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		panic("discovery: " + err.Error()) // what pack wrote can be read
	}
	out, err := io.ReadAll(z)
	if err != nil {
		panic("discovery: " + err.Error())
	}
	return out
}
