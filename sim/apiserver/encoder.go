package apiserver

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// initialEventsEnd is the annotation of the bookmark that ends the state (KEP-3157).
const initialEventsEnd = "k8s.io/initial-events-end"

// encoder returns how the notices of a watch become frames. Frames are shared between watches of the same encoding,
// except Tables: only the first of a stream has columns.
func (e *Exchange) encoder() watchcache.Encoder {
	d, f := e.route.def, e.format
	key := f.Media.String() + " " + d.GV() + " " + f.As + " " + f.AsVersion
	if f.As == "Table" {
		key = ""
	}
	stream := &streamEncoder{x: e, d: d, f: f}
	return watchcache.Encoder{Key: key, Encode: stream.encode}
}

// streamEncoder prints the notices of one watch.
type streamEncoder struct {
	x       *Exchange
	d       *resource.Definition
	f       codec.Format
	columns bool           // have been sent
	empty   *resource.Item // an unmarked bookmark
}

func (e *streamEncoder) encode(n watchcache.Notice) []byte {
	if n.Type == watchcache.Error {
		if e.f.Media == codec.Protobuf {
			return codec.AppendProtoFrame(nil, n.Type, e.x.s.statusProto(n.Status))
		}
		return codec.AppendFrame(nil, n.Type, n.Status.JSON())
	}
	it := n.Item
	if it != nil && it.Err != nil {
		return e.encode(watchcache.Notice{Type: watchcache.Error, Status: status.Plain("%s", it.Err.Error())})
	}
	if e.f.As == "PartialObjectMetadataList" { // a stream has no lists: it ends
		return nil
	}
	if n.Type == watchcache.Bookmark {
		it = e.bookmark(n)
	}
	if e.f.Media == codec.Protobuf {
		return codec.AppendProtoFrame(nil, n.Type, e.proto(it))
	}
	switch e.f.As {
	case "Table":
		return codec.AppendFrame(nil, n.Type, e.table(n, it))
	case "PartialObjectMetadata":
		return codec.AppendFrame(nil, n.Type, codec.AppendPartial(nil, bare(e.d, it), e.f.AsVersion))
	}
	data := versioned(e.d, it)
	return codec.AppendFrame(make([]byte, 0, len(data)+40), n.Type, data)
}

// bookmark returns an empty object of the kind that carries nothing but a revision. It is printed once per stream.
func (e *streamEncoder) bookmark(n watchcache.Notice) *resource.Item {
	if e.empty == nil || n.Ended {
		hub := e.d.Hub
		meta := map[string]any{"resourceVersion": registry.FormatRev(n.Rev)}
		if n.Ended {
			meta["annotations"] = map[string]any{initialEventsEnd: "true"}
		}
		obj := object.Object{"kind": hub.Kind, "apiVersion": hub.GV(), "metadata": meta}
		if blank := hub.Strategy.Blank; blank != nil {
			blank(obj)
		}
		it := &resource.Item{Rev: n.Rev, Bytes: codec.Append(nil, obj, hub.Layout())}
		if n.Ended {
			return it
		}
		e.empty = it
	}
	return e.empty.At(n.Rev)
}

func (e *streamEncoder) proto(it *resource.Item) []byte {
	return codec.AppendEnvelope(nil, answerKind(e.f, e.d.GVK), e.x.s.message(e.d, it, e.f))
}

// table prints one row. The bookmark that ends the state shows its annotation even to clients that want no objects.
func (e *streamEncoder) table(n watchcache.Notice, it *resource.Item) []byte {
	o := e.x.tableOptions(codec.ListMeta{ResourceVersion: registry.FormatRev(it.Rev)})
	if n.Ended && o.Include == "None" {
		o.Include = "Metadata"
	}
	o.NoHeaders, e.columns = e.columns, true
	return codec.Table(e.d, e.x.rows([]*resource.Item{it}), o).Bytes()
}
