package fieldmanager

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// The operations of an entry.
const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// entry is one entry of managedFields.
type entry struct {
	manager, operation, apiVersion, subresource string

	time   string         // as printed; "" for none
	fields map[string]any // FieldsV1, see fieldset.go
	text   object.Raw     // or as it is printed, of a new object
	raw    map[string]any // the entry as it stands in the object, nil once it changed
}

// id identifies an entry: one manager has one entry per operation and subresource, and per apiVersion when it updates.
type id struct{ manager, operation, apiVersion, subresource string }

func (e *entry) id() id {
	k := id{e.manager, e.operation, e.apiVersion, e.subresource}
	if e.operation == opApply {
		k.apiVersion = ""
	}
	return k
}

// text is the identifier as the real server keeps it, which decides orders.
func (k id) text() string {
	m := append(make([]byte, 0, 128), '{')
	for _, f := range [...][2]string{
		{"manager", k.manager}, {"operation", k.operation}, {"apiVersion", k.apiVersion}, {"subresource", k.subresource},
	} {
		if f[1] == "" {
			continue
		}
		if len(m) > 1 {
			m = append(m, ',')
		}
		m = append(object.AppendString(m, f[0]), ':')
		m = object.AppendString(m, f[1])
	}
	return string(append(m, '}'))
}

// managed is the entries of one object; no two have the same id.
type managed []*entry

func (l managed) find(k id) *entry {
	for _, e := range l {
		if e.id() == k {
			return e
		}
	}
	return nil
}

// set puts e in the place of the entry with its id, or at the end.
func (l managed) set(e *entry) managed {
	for i, old := range l {
		if old.id() == e.id() {
			l[i] = e
			return l
		}
	}
	return append(l, e)
}

// decode reads the managedFields of an object that was stored. A wrong entry makes all of them unreadable.
func decode(list []any) (managed, error) { return decodeNew(list, nil) }

// decodeNew reads managedFields that a client sent. Entries that stand in known too are taken as they are; the sets of
// others are brought into the form in which sets are kept.
func decodeNew(list, known []any) (managed, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make(managed, 0, len(list)+1)
	for i, v := range list {
		raw, _ := v.(map[string]any)
		e, err := decodeEntry(raw, i)
		if err != nil {
			return nil, err
		}
		if known != nil && !(i < len(known) && object.Equal(known[i], raw)) {
			if e.fields, err = canonical(e.fields); err != nil {
				return nil, fmt.Errorf("error decoding set: %w", err)
			}
			e.raw = nil
		}
		out = out.set(e)
	}
	return out, nil
}

func decodeEntry(raw map[string]any, i int) (*entry, error) {
	o := object.Object(raw)
	e := &entry{manager: o.String("manager"), operation: o.String("operation"), apiVersion: o.String("apiVersion"),
		subresource: o.String("subresource"), time: o.String("time"), raw: raw}
	switch fieldsType := o.String("fieldsType"); {
	case e.operation != opApply && e.operation != opUpdate:
		return nil, fmt.Errorf("operation must be `Apply` or `Update`")
	case e.apiVersion == "":
		return nil, fmt.Errorf("apiVersion must not be empty")
	case fieldsType == "":
		return nil, fmt.Errorf("missing fieldsType in managed fields entry %d", i)
	case fieldsType != "FieldsV1":
		return nil, fmt.Errorf("invalid fieldsType %q in managed fields entry %d", fieldsType, i)
	}
	fields, ok := o.Get("fieldsV1")
	if text, isText := fields.(object.Raw); isText {
		fields = text.Value()
	}
	if e.fields, _ = fields.(map[string]any); ok && fields != nil && e.fields == nil {
		return nil, fmt.Errorf("error decoding set: not a JSON object")
	}
	return e, nil
}

// Validate returns the errors in the managedFields of an object: mutating admission must leave them readable.
func Validate(obj object.Object) error {
	_, err := decodeNew(obj.List("metadata", "managedFields"), []any{})
	return err
}

// object returns the entry as it stands in managedFields.
func (e *entry) object() map[string]any {
	if e.raw != nil {
		return e.raw
	}
	m := map[string]any{"manager": e.manager, "operation": e.operation, "apiVersion": e.apiVersion,
		"fieldsType": "FieldsV1", "fieldsV1": e.fields}
	switch {
	case e.text != "":
		m["fieldsV1"] = e.text
	case e.fields == nil:
		m["fieldsV1"] = leaf
	}
	if e.manager == "" {
		delete(m, "manager")
	}
	if e.time != "" {
		m["time"] = e.time
	}
	if e.subresource != "" {
		m["subresource"] = e.subresource
	}
	return m
}

// less is the order of entries in an object: operation, time, manager, apiVersion, subresource. Times are printed in
// UTC with seconds, so their text sorts as they do.
func less(a, b *entry) int {
	for _, c := range [...]int{strings.Compare(a.operation, b.operation), strings.Compare(a.time, b.time),
		strings.Compare(a.manager, b.manager), strings.Compare(a.apiVersion, b.apiVersion)} {
		if c != 0 {
			return c
		}
	}
	return strings.Compare(a.subresource, b.subresource)
}

// put writes the entries into obj.
func (l managed) put(obj object.Object) {
	if list := l.list(); list != nil {
		obj.Set(list, "metadata", "managedFields")
		return
	}
	obj.Remove("metadata", "managedFields")
}

// list returns the entries as managedFields, sorted; nil for none.
func (l managed) list() []any {
	if len(l) == 0 {
		return nil
	}
	slices.SortFunc(l, less)
	list := make([]any, len(l))
	for i, e := range l {
		list[i] = e.object()
	}
	return list
}

// maxUpdates is how many entries of operation Update an object keeps (DefaultMaxUpdateManagers of kube-apiserver).
const maxUpdates = 10

// ancient is the manager that the oldest updates are merged into.
const ancient = "ancient-changes"

// capped merges the oldest updates, a bucket for each apiVersion, until no more than maxUpdates are left.
func (l managed) capped() managed {
	var updates managed
	for _, e := range l {
		if e.operation == opUpdate {
			updates = append(updates, e)
		}
	}
	if len(updates) <= maxUpdates {
		return l
	}
	sort.SliceStable(updates, func(i, j int) bool {
		a, b := updates[i], updates[j]
		if a.time != b.time {
			return a.time < b.time
		}
		return a.id().text() < b.id().text()
	})
	first := map[string]*entry{} // by apiVersion: the oldest update, which becomes the bucket
	left := len(updates)
	for _, e := range updates {
		if left <= maxUpdates {
			break
		}
		old := first[e.apiVersion]
		if old == nil {
			first[e.apiVersion] = e
			continue
		}
		l = l.merge(old, e)
		left--
	}
	return l
}

// merge adds the set of e to the bucket of its apiVersion. If there is no bucket yet, old becomes it.
func (l managed) merge(old, e *entry) managed {
	key := id{ancient, opUpdate, e.apiVersion, ""}
	bucket := l.find(key)
	if bucket == nil {
		bucket = &entry{manager: ancient, operation: opUpdate, apiVersion: e.apiVersion, fields: old.fields}
		l = append(l.drop(old), bucket)
	}
	bucket.fields, bucket.time, bucket.raw = plus(e.fields, bucket.fields), e.time, nil
	return l.drop(e) // the bucket itself too, when it is not the oldest: kube-apiserver loses it as well
}

func (l managed) drop(e *entry) managed {
	return slices.DeleteFunc(l, func(x *entry) bool { return x == e })
}
