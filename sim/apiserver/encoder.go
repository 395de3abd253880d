package apiserver

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// initialEventsEnd is the annotation of the bookmark that marks the end of the initial events (KEP-3157).
const initialEventsEnd = "k8s.io/initial-events-end"

// encoder returns the encoder of a watch's events. Watches with the same encoding share frames, except for Tables, because only the
// first frame of a stream has columns.
func (e *Exchange) encoder() watchcache.Encoder {
	d, f := e.route.def, e.format
	key := f.Media.String() + " " + d.GV() + " " + f.As + " " + f.AsVersion
	if f.As == "Table" {
		key = ""
	}
	stream := &streamEncoder{x: e, d: d, f: f}
	return watchcache.Encoder{Key: key, Encode: stream.encode}
}

// streamEncoder encodes the events of one watch.
type streamEncoder struct {
	x       *Exchange
	d       *resource.Definition
	f       codec.Format
	columns bool           // the columns have been sent
	empty   *resource.Item // an empty object for bookmarks, without the annotation
}

// encode returns the frame of an event, or nil if the stream must end.
func (e *streamEncoder) encode(n watchcache.Notice) codec.Text {
	frame := e.frame(n)
	if e.f.Media == codec.CBOR && frame != nil {
		frame, _ = frame.In(e.f) // only YAML fails
	}
	return frame
}

// frame is encode, with JSON in place of CBOR.
func (e *streamEncoder) frame(n watchcache.Notice) codec.Text {
	if n.Type == watchcache.Error {
		if e.f.Media == codec.Protobuf {
			return codec.ProtoFrame(n.Type, codec.TextOf(e.x.s.statusProto(n.Status)))
		}
		return codec.Frame(n.Type, codec.PieceOf(n.Status.JSON()))
	}
	it := n.Item
	if it != nil && it.Err() != nil {
		return e.frame(watchcache.Notice{Type: watchcache.Error, Status: status.Plain("%s", it.Err().Error())})
	}
	if e.f.As == "PartialObjectMetadataList" { // a list type cannot be encoded in a stream, so the watch ends
		return nil
	}
	if n.Type == watchcache.Bookmark {
		it = e.bookmark(n)
	}
	if e.f.Media == codec.Protobuf {
		return codec.ProtoFrame(n.Type, codec.Envelope(answerKind(e.f, e.d.GVK), codec.TextOf(e.x.s.message(e.d, it, e.f))))
	}
	switch e.f.As {
	case "Table":
		return codec.Frame(n.Type, codec.PieceOf(e.table(n, it)))
	case "PartialObjectMetadata":
		return codec.Frame(n.Type, codec.PieceOf(codec.AppendPartial(nil, bare(e.d, it), e.f.AsVersion)))
	}
	return codec.Frame(n.Type, piece(e.d, it))
}

// bookmark returns the object of a bookmark, which has only a resourceVersion and, at the end of the initial events, an annotation.
// The object without the annotation is encoded only once for each stream.
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
		it := resource.NewItem(hub, obj, n.Rev, codec.Append(nil, obj, hub.Layout()))
		if n.Ended {
			return it
		}
		e.empty = it
	}
	return e.empty.At(n.Rev)
}

// table encodes an event's object as a Table with one row. The bookmark at the end of the initial events includes its annotation
// even if the client requests no objects.
func (e *streamEncoder) table(n watchcache.Notice, it *resource.Item) []byte {
	o := e.x.tableOptions(codec.ListMeta{ResourceVersion: registry.FormatRev(it.Rev)})
	if n.Ended && o.Include == "None" {
		o.Include = "Metadata"
	}
	o.NoHeaders, e.columns = e.columns, true
	return codec.Table(e.d, e.x.rows([]*resource.Item{it}), o).Bytes()
}
