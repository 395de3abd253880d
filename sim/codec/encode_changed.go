package codec

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Printed is an object and its printed form: what Append made of it, or of one that Reduce made it from. The zero value
// is nothing.
type Printed struct {
	Object object.Object
	Text   []byte
	Parts  []resource.Part // of Text

	// Share lets Changed put the very fields of Object into what it reads, where it would put copies. Nobody may change
	// them there.
	Share bool
}

// part returns the text of the part with the name, or nil.
func (p *Printed) part(name string) []byte {
	for _, x := range p.Parts {
		if x.Name == name {
			return p.Text[x.Start:x.End]
		}
	}
	return nil
}

// AppendChanged prints what Append prints, and says where its parts stand behind the end of dst. Fields that are the very
// maps of an earlier state are copied from its text.
//
//	earlier: {…,"spec":{"containers":[…]},"status":{…}}
//	                   ╰───── copied ───╯
//	obj:     {…,"spec":{"containers":[…]},"status":{…}}
func AppendChanged(dst []byte, obj object.Object, t *schema.Type, earlier Printed) ([]byte, []resource.Part) {
	if t == nil {
		return Append(dst, obj, nil), nil
	}
	p := printing{earlier: earlier, start: len(dst)}
	dst = store.appendFields(dst, obj, t, &p)
	return dst, p.parts
}

// printing is what AppendChanged knows, and what it finds out.
type printing struct {
	earlier  Printed
	start    int // of the object in what it is appended to
	metadata bool
	parts    []resource.Part
}

// append prints a field of the object or, meanwhile, of its metadata.
func (p *printing) append(dst []byte, v any, f *schema.Field) []byte {
	start := len(dst)
	m, isMap := v.(map[string]any)
	switch {
	case p.metadata:
		if dst = store.appendValue(dst, v, f.Type, f.Pointer); f.Name == "managedFields" {
			p.part(resource.ManagedFields, start, len(dst))
		}
		return dst
	case isMap && f.Name == "metadata":
		p.metadata = true
		dst = store.appendFields(dst, m, f.Type, p)
		p.metadata = false
		return dst
	case object.Same(v, p.earlier.Object[f.Name]):
		if text := p.earlier.part(f.Name); text != nil {
			dst = append(dst, text...)
			break
		}
		fallthrough
	default:
		dst = store.appendValue(dst, v, f.Type, f.Pointer)
	}
	if isMap {
		p.part(f.Name, start, len(dst))
	}
	return dst
}

func (p *printing) part(name string, start, end int) {
	if p.parts == nil {
		p.parts = make([]resource.Part, 0, 3)
	}
	p.parts = append(p.parts, resource.Part{Name: name, Start: start - p.start, End: end - p.start})
}

// known returns a field of the object, or metadata.managedFields, as it was before, and goes on behind it, if the text goes
// on as it did there; otherwise nil.
func (d *decoder) known(name string) any {
	v, within := d.from.Object[name], len(d.where) == 1
	switch {
	case within && d.from.Share && name == "managedFields" && d.where[0].name == "metadata":
		name = resource.ManagedFields
		v = d.from.Object.Metadata()["managedFields"]
	case within || name == "metadata":
		return nil
	}
	text := d.from.part(name)
	d.next()
	if end := d.pos + len(text); len(text) == 0 || end > len(d.text) || d.text[d.pos:end] != string(text) {
		return nil
	}
	d.pos += len(text)
	if d.from.Share {
		return v
	}
	return object.Copy(v)
}
