package replica

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// readingSkew returns copies of the definitions. The copies can also read objects that servers with other profiles have stored.
func (o options) readingSkew(set *schema.Set, defs []*resource.Definition) ([]*resource.Definition, error) {
	l := &skewCodec{decoder: decoder(set), versions: map[schema.GVK]*resource.Definition{},
		stored: map[string]*resource.Definition{}}
	shared := &resource.SkewCodec{Read: l.read}
	copies := map[*resource.Definition]*resource.Definition{}
	out := make([]*resource.Definition, len(defs))
	for i, d := range defs {
		own := *d
		own.SkewCodec = shared
		out[i], copies[d] = &own, &own
		l.versions[own.GVK] = &own
	}
	for _, d := range out {
		d.Hub = copies[d.Hub]
	}
	for _, storage := range object.SortedKeys(o.StorageVersions) {
		version := o.StorageVersions[storage]
		i := slices.IndexFunc(out, func(d *resource.Definition) bool { return d.Storage == storage && d.GV() == version })
		if i < 0 {
			return nil, fmt.Errorf("storage version: %s is not served in %q", storage, version)
		}
		l.stored[storage], shared.Write = out[i], l.write
		for _, d := range out {
			if d.Storage == storage {
				d.StoredAs = out[i].GVK
			}
		}
	}
	return out, nil
}

// decoder returns a decoder for the built-in kinds of a minor version.
func decoder(set *schema.Set) *codec.Decoder {
	return &codec.Decoder{Schema: set}
}

// skewCodec reads and writes stored objects for servers that share a profile.
type skewCodec struct {
	decoder  *codec.Decoder
	versions map[schema.GVK]*resource.Definition
	stored   map[string]*resource.Definition // resources whose storage version is not the hub version, by storage name
}

// read implements resource.SkewCodec.Read.
func (l *skewCodec) read(d *resource.Definition, stored []byte) (object.Object, []byte, error) {
	raw, err := object.Parse(stored)
	if err != nil {
		return nil, nil, err
	}
	as := d
	if other := l.versions[schema.ParseGVK(raw.APIVersion(), raw.Kind())]; other != nil {
		as = other
	}
	obj, _, err := l.decoder.Decode(stored, as.GVK, as.Layout())
	if err != nil {
		return raw, stored, err
	}
	if as.Default != nil {
		as.Default(obj)
	}
	if as != d && as.Hub == d {
		if as.ToHub == nil {
			obj["apiVersion"] = d.GV()
		} else if obj, err = as.ToHub(obj); err != nil {
			return raw, stored, err
		}
		if d.Default != nil {
			d.Default(obj)
		}
	}
	return obj, codec.Append(nil, obj, d.Layout()), nil
}

// write implements resource.SkewCodec.Write.
func (l *skewCodec) write(d *resource.Definition, printed []byte) []byte {
	as := l.stored[d.Storage]
	if as == nil || as == d {
		return printed
	}
	obj, err := object.ParseRaw(printed, d.Places())
	if err != nil {
		panic("sim: a printed object cannot be read: " + err.Error())
	}
	return codec.AppendStored(nil, as.FromStored(obj), as.Layout())
}
