package fieldmanager

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// The operations of entries.
const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// entry is one entry of managedFields.
type entry struct {
	manager, operation, apiVersion, subresource string

	time   string         // time as encoded, or "" if there is none
	fields map[string]any // FieldsV1, see fieldset.go
	text   object.Raw     // for a new object: fields in encoded form
	raw    map[string]any // the entry in the object, or nil if it was changed
}

// id identifies an entry. A manager has one entry for each operation and subresource, and for updates also for each apiVersion.
type id struct{ manager, operation, apiVersion, subresource string }

func (e *entry) id() id {
	k := id{e.manager, e.operation, e.apiVersion, e.subresource}
	if e.operation == opApply {
		k.apiVersion = ""
	}
	return k
}

// text returns the real server's form of the identifier, which determines the order of entries.
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

// managed is the list of entries of one object. Their ids are unique.
type managed []*entry

func (l managed) find(k id) *entry {
	for _, e := range l {
		if e.id() == k {
			return e
		}
	}
	return nil
}

// set replaces the entry that has e's id, or appends e.
func (l managed) set(e *entry) managed {
	for i, old := range l {
		if old.id() == e.id() {
			l[i] = e
			return l
		}
	}
	return append(l, e)
}

// decode decodes the managedFields of a stored object. It fails if any entry is invalid.
func decode(list []any) (managed, error) { return decodeNew(list, nil) }

// decodeNew decodes managedFields that a client sent. It keeps the sets of entries that are also in known, at the same index, and
// normalizes those of all others.
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

// Validate returns the error in the managedFields of an object, if any. Mutating admission must leave them valid.
func Validate(obj object.Object) error {
	_, err := decodeNew(obj.List("metadata", "managedFields"), []any{})
	return err
}

// object returns the entry in the form of managedFields.
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

// less compares entries by operation, time, manager, apiVersion and subresource, which is their order in an object. Times are in
// UTC with seconds, so they can be compared as strings.
func less(a, b *entry) int {
	for _, c := range [...]int{strings.Compare(a.operation, b.operation), strings.Compare(a.time, b.time),
		strings.Compare(a.manager, b.manager), strings.Compare(a.apiVersion, b.apiVersion)} {
		if c != 0 {
			return c
		}
	}
	return strings.Compare(a.subresource, b.subresource)
}

// put sets the managedFields of obj to the entries.
func (l managed) put(obj object.Object) {
	if list := l.list(); list != nil {
		obj.Set(list, "metadata", "managedFields")
		return
	}
	obj.Remove("metadata", "managedFields")
}

// list returns the entries in the form of managedFields, sorted, or nil if there are none.
func (l managed) list() []any {
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, less)
	list := make([]any, len(l))
	for i, e := range l {
		list[i] = e.object()
	}
	return list
}

// maxUpdates is the maximum number of entries of operation Update in an object (DefaultMaxUpdateManagers of kube-apiserver).
const maxUpdates = 10

// ancient is the manager into whose entries the oldest updates are merged.
const ancient = "ancient-changes"

// capped merges the oldest updates, into one bucket for each apiVersion, until at most maxUpdates are left.
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
	first := map[string]*entry{} // the oldest update of each apiVersion, which becomes the bucket
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

// merge adds the set of e to the bucket of its apiVersion. If there is no bucket yet, it creates one from old.
func (l managed) merge(old, e *entry) managed {
	key := id{ancient, opUpdate, e.apiVersion, ""}
	bucket := l.find(key)
	if bucket == nil {
		bucket = &entry{manager: ancient, operation: opUpdate, apiVersion: e.apiVersion, fields: old.fields}
		l = append(l.drop(old), bucket)
	}
	bucket.fields, bucket.time, bucket.raw = plus(e.fields, bucket.fields), e.time, nil
	return l.drop(e) // also drops the bucket itself if it is not the oldest, like kube-apiserver
}

func (l managed) drop(e *entry) managed {
	return slices.DeleteFunc(l, func(x *entry) bool { return x == e })
}
