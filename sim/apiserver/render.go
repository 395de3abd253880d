package apiserver

import (
	"bytes"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// versioned returns the canonical JSON of an item in the version of d. If that is the stored version, it returns the item's own
// bytes, which must not be changed.
func versioned(d *resource.Definition, it *resource.Item) []byte {
	if d.Hub == d {
		return it.Bytes()
	}
	return codec.Append(nil, registry.Convert(d, it.Object()), d.Layout())
}

// piece returns the result of versioned as a piece of a response. Stored bytes stay packed until they are sent.
func piece(d *resource.Definition, it *resource.Item) codec.Piece {
	if d.Hub == d {
		return codec.Stored(it.Text())
	}
	return codec.PieceOf(versioned(d, it))
}

// bare is like versioned, for representations that include only metadata. For a built-in kind, it returns the metadata of the
// internal version: without annotations that hold fields of other versions, and without Strategy.InnerAnnotation.
func bare(d *resource.Definition, it *resource.Item) []byte {
	switch {
	case d.Custom:
		return versioned(d, it)
	case d.Hub.Strategy.InnerAnnotation == "":
		return it.Bytes()
	}
	return codec.Append(nil, withoutInner(d, it.Object().Copy()), d.Hub.Layout())
}

// withoutInner removes Strategy.InnerAnnotation from obj.
func withoutInner(d *resource.Definition, obj object.Object) object.Object {
	if name := d.Hub.Strategy.InnerAnnotation; name != "" {
		obj.Remove("metadata", "annotations", name)
		if len(obj.Annotations()) == 0 {
			obj.Remove("metadata", "annotations")
		}
	}
	return obj
}

// object responds with the item in the negotiated format.
func (e *Exchange) object(code int, it *resource.Item) {
	d := e.route.def
	e.AnswerRev = it.Rev
	e.auditResponse(func(x *Exchange) { x.object(code, it) })
	switch f := e.format; {
	case f.As == "Table":
		e.write(code, e.table([]*resource.Item{it}, codec.ListMeta{ResourceVersion: it.Object().ResourceVersion()}))
	case f.As == "PartialObjectMetadataList" && d.Custom: // in the real server, this Go type also represents lists
		e.fail(status.Plain("content is not a list"))
	case f.As == "PartialObjectMetadataList":
		e.fail(status.NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + goType(d, "") + ")"))
	case f.Media == codec.Protobuf:
		e.write(code, codec.Envelope(answerKind(f, d.GVK), codec.TextOf(e.s.message(d, it, f))))
	case f.As == "PartialObjectMetadata":
		e.write(code, codec.TextOf(codec.AppendPartial(nil, bare(d, it), f.AsVersion)))
	default:
		e.write(code, codec.Text{piece(d, it)})
	}
}

// replyUnstored responds with an object of a subresource's kind that is not stored.
func (e *Exchange) replyUnstored(code int, kind schema.GVK, obj object.Object) {
	e.auditResponse(func(x *Exchange) { x.replyUnstored(code, kind, obj) })
	t := e.s.Schema.Kind(kind)
	obj["kind"], obj["apiVersion"] = kind.Kind, kind.GV()
	switch f := e.format; {
	case f.As == "Table" && e.route.sub != nil && e.route.sub.Row != nil:
		e.write(code, e.subTable(obj, codec.Append(nil, obj, t)))
	case f.As == "PartialObjectMetadata" && f.Media == codec.Protobuf:
		t = e.s.Schema.Kind(partialKind("v1", f.As))
		e.write(code, codec.Envelope(partialKind(f.AsVersion, f.As), codec.TextOf(codec.AppendProto(nil, codec.Partial(obj, f.AsVersion), t))))
	case f.As == "PartialObjectMetadata":
		e.write(code, codec.TextOf(codec.AppendPartial(nil, codec.Append(nil, obj, t), f.AsVersion)))
	case f.As == "PartialObjectMetadataList":
		name := goType(&resource.Definition{GVK: kind}, "")
		if e.route.def.Custom { // the Scale of a custom resource is not converted
			name = "*" + kind.Version + "." + kind.Kind
		}
		e.fail(status.NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + name + ")"))
	case f.As != "":
		e.fail(status.NotAcceptable("the resource " + e.route.def.GroupResource().String() + " does not support being converted to a " + f.As))
	case f.Media == codec.Protobuf:
		e.write(code, codec.Envelope(kind, codec.TextOf(codec.AppendProto(nil, obj, t))))
	default:
		e.write(code, codec.TextOf(codec.Append(nil, obj, t)))
	}
}

// subTable encodes obj, the body of a subresource, as a Table with one row. text is the JSON of obj.
func (e *Exchange) subTable(obj object.Object, text []byte) codec.Text {
	d := &resource.Definition{Columns: e.route.sub.Columns, Row: e.route.sub.Row}
	d.Hub = d
	rows := []codec.TableRow{{Object: obj, JSON: text}}
	return codec.Table(d, rows, e.tableOptions(codec.ListMeta{ResourceVersion: obj.ResourceVersion()}))
}

// revision formats a resourceVersion. It returns "" for 0, the revision of an object that is not stored.
func revision(rev uint64) string {
	if rev == 0 {
		return ""
	}
	return registry.FormatRev(rev)
}

// page responds with a list in the negotiated format, or with an error.
func (e *Exchange) page(p *registry.Page, s *status.Status) {
	if s == nil {
		s = e.checkTable()
	}
	if s != nil {
		e.fail(s)
		return
	}
	e.auditResponse(func(x *Exchange) { x.page(p, nil) })
	d, f := e.route.def, e.format
	e.AnswerRev = p.Rev
	meta := codec.ListMeta{ResourceVersion: revision(p.Rev), Continue: p.Continue, Remaining: p.Remaining}
	if f.As == "" { // a Table and a PartialObjectMetadataList do not have it
		meta.Shards = p.Shards
	}
	items := func(yield func(codec.Piece) bool) {
		for _, it := range p.Items {
			if !yield(piece(d, it)) {
				return
			}
		}
	}
	switch {
	case f.As == "Table":
		e.write(200, e.table(p.Items, meta))
	case f.As == "PartialObjectMetadata":
		e.fail(status.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + goType(d, "List") + ")"))
	case f.Media == codec.Protobuf:
		e.write(200, e.protoList(p, meta))
	case f.As == "PartialObjectMetadataList":
		e.write(200, e.partialList(p, meta))
	case d.Custom:
		e.write(200, codec.CustomList(d.ListKind(), d.GV(), meta, items))
	default:
		e.write(200, codec.List(d.ListKind(), d.GV(), meta, items))
	}
}

// partialList encodes the metadata of the listed objects as a PartialObjectMetadataList.
func (e *Exchange) partialList(p *registry.Page, meta codec.ListMeta) codec.Text {
	return codec.PartialList(e.format.AsVersion, meta, func(yield func([]byte) bool) {
		for _, it := range p.Items {
			if !yield(bare(e.route.def, it)) {
				return
			}
		}
	})
}

func (e *Exchange) table(items []*resource.Item, meta codec.ListMeta) codec.Text {
	return codec.Table(e.route.def, e.rows(items), e.tableOptions(meta))
}

func (e *Exchange) tableOptions(meta codec.ListMeta) codec.TableOptions {
	return codec.TableOptions{Version: e.format.AsVersion, Include: e.Query.Get("includeObject"), Meta: meta, Now: e.Now()}
}

func (e *Exchange) rows(items []*resource.Item) []codec.TableRow {
	rows, show := make([]codec.TableRow, len(items)), bare
	if e.Query.Get("includeObject") == "Object" {
		show = versioned
	}
	for i, it := range items {
		rows[i] = codec.TableRow{Object: it.Object(), JSON: show(e.route.def, it)}
	}
	if order := e.route.def.Hub.RowOrder; order != nil {
		slices.SortStableFunc(rows, func(a, b codec.TableRow) int { return order(a.Object, b.Object) })
	}
	return rows
}

// protoList encodes a list, or a list of partial metadata, as protobuf.
func (e *Exchange) protoList(p *registry.Page, meta codec.ListMeta) codec.Text {
	d, f := e.route.def, e.format
	kind := answerKind(f, schema.GVK{Group: d.Group, Version: d.Version, Kind: d.ListKind()})
	items := func(yield func([]byte) bool) {
		for _, it := range p.Items {
			if !yield(e.s.message(d, it, f)) {
				return
			}
		}
	}
	return codec.Envelope(kind, codec.ProtoList(meta, items))
}

// message encodes an item, or its partial metadata, as a protobuf message without an envelope, in the version of d.
func (s *Server) message(d *resource.Definition, it *resource.Item, f codec.Format) []byte {
	switch {
	case f.As != "":
		return codec.Proto(nil, object.Text(codec.AppendPartial(nil, bare(d, it), f.AsVersion)), s.Schema.Kind(partialKind("v1", "PartialObjectMetadata")))
	case d.Hub != d:
		return codec.AppendProto(nil, registry.Convert(d, it.Object()), d.Type())
	}
	return it.Proto(func(it *resource.Item) []byte {
		if text := it.Written(); text != nil {
			s.scratch = codec.Proto(s.scratch[:0], object.Text(text), d.Type())
			return bytes.Clone(s.scratch)
		}
		return codec.AppendProto(nil, it.Object(), d.Type())
	})
}

// answerKind returns the kind of the response if its objects are of the given kind.
func answerKind(f codec.Format, kind schema.GVK) schema.GVK {
	if f.As != "" {
		return partialKind(f.AsVersion, f.As)
	}
	return kind
}

func partialKind(version, kind string) schema.GVK {
	return schema.GVK{Group: "meta.k8s.io", Version: version, Kind: kind}
}

// statusProto encodes a Status as protobuf.
func (s *Server) statusProto(st *status.Status) []byte {
	kind := schema.GVK{Version: "v1", Kind: "Status"}
	return codec.AppendEnvelope(nil, kind, codec.Proto(nil, object.Text(st.JSON()), s.Schema.Kind(kind)))
}

// goType returns the name of an object's or list's Go type in an error of the real server.
func goType(d *resource.Definition, suffix string) string {
	if d.Custom {
		return "*unstructured.Unstructured" + suffix
	}
	return "*" + codec.InternalType(d.GVK) + suffix
}
