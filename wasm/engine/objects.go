package engine

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario"
)

// resourceView is a resource that can be requested.
type resourceView struct {
	Group        string   `json:"group"`
	Version      string   `json:"version"`
	Resource     string   `json:"resource"`
	Kind         string   `json:"kind"`
	Short        []string `json:"short,omitempty"`
	Namespaced   bool     `json:"namespaced"`
	Verbs        []string `json:"verbs"`
	Subresources []string `json:"subresources,omitempty"`
	Custom       bool     `json:"custom,omitempty"`
}

// resources returns the view of the resources that the first API server serves.
func (e *Engine) resources(*request) (any, error) {
	list := []resourceView{}
	for _, d := range e.server(1).Table.All() {
		v := resourceView{Group: d.Group, Version: d.Version, Resource: d.Resource, Kind: d.Kind, Short: d.ShortNames,
			Namespaced: d.Namespaced, Verbs: d.Verbs, Custom: d.Custom}
		for _, s := range d.Subresources {
			v.Subresources = append(v.Subresources, s.Name)
		}
		list = append(list, v)
	}
	return fields{"resources": list, "namespaces": e.namespaces()}, nil
}

func (e *Engine) namespaces() []string {
	found, _ := e.run.world.Objects("namespaces", "", "", 0)
	return each(found, object.Object.Name)
}

// rowView is the row of an object in a table.
type rowView struct {
	Name     string            `json:"name"`
	NS       string            `json:"ns,omitempty"`
	Rev      string            `json:"rv"`
	UID      string            `json:"uid"`
	Cells    []json.RawMessage `json:"cells"`
	Deleting bool              `json:"deleting,omitempty"`
}

// table returns the view of a resource's objects in the columns of kubectl get.
func (e *Engine) table(q *request) (any, error) {
	d, err := e.definition(q.Resource)
	if err != nil {
		return nil, err
	}
	rev, err := e.revision(q.At)
	if err != nil {
		return nil, err
	}
	most := q.Limit
	if most <= 0 {
		most = math.MaxInt
	}
	found, all, err := e.run.world.FirstObjects(d.GroupResource().String(), q.Namespace, "", most, rev)
	if err != nil {
		return nil, err
	}
	rows := each(found, func(obj object.Object) codec.TableRow {
		return codec.TableRow{Object: obj, JSON: codec.Append(nil, obj, nil)}
	})
	var t struct {
		ColumnDefinitions []struct {
			Name     string `json:"name"`
			Type     string `json:"type"`
			Priority int    `json:"priority"`
		} `json:"columnDefinitions"`
		Rows []struct {
			Cells []json.RawMessage `json:"cells"`
		} `json:"rows"`
	}
	text := codec.Table(d.Hub, rows, codec.TableOptions{Version: "v1", Include: "None", Now: e.run.world.Now()}).Bytes()
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	out := make([]rowView, len(found))
	for i, obj := range found {
		out[i] = rowView{obj.Name(), obj.Namespace(), obj.ResourceVersion(), obj.UID(), t.Rows[i].Cells,
			obj.DeletionTimestamp() != ""}
	}
	rev = cmp.Or(rev, e.run.world.Cluster().Revision())
	return fields{"columns": t.ColumnDefinitions, "rows": out, "all": all, "rv": formatRev(rev), "resource": d.GroupResource().String(),
		"kind": d.Kind}, nil
}

// object returns the view of an object as text or, field by field, as protobuf.
func (e *Engine) object(q *request) (any, error) {
	obj, err := e.one(q, q.At)
	if err != nil {
		return nil, err
	}
	switch q.Format {
	case "", "yaml":
		return fields{"text": yamlText(map[string]any(obj)), "rv": obj.ResourceVersion()}, nil
	case "json":
		text := codec.Body(object.JSON(map[string]any(obj)), codec.Format{Pretty: true})
		return fields{"text": string(text), "rv": obj.ResourceVersion()}, nil
	case "protobuf":
		return e.protobuf(obj, q.Resource)
	}
	return nil, failed("an object is shown as yaml, json or protobuf, not as %q", q.Format)
}

func (e *Engine) protobuf(obj object.Object, name string) (any, error) {
	d, err := e.definition(name)
	if err != nil {
		return nil, err
	}
	if d.Custom {
		return nil, failed("custom resources have no protobuf: a client that accepts nothing else gets 406")
	}
	t := d.Hub.Type()
	body := codec.AppendEnvelope(nil, d.Hub.GVK, codec.AppendProto(nil, obj, t))
	opened, _ := openWire(body, e.server(1).Schema.Kind)
	return fields{"bytes": base64.StdEncoding.EncodeToString(body), "size": len(body), "fields": opened,
		"rv": obj.ResourceVersion()}, nil
}

// owners returns the view of the managers that own each field.
func (e *Engine) owners(q *request) (any, error) {
	obj, err := e.one(q, q.At)
	if err != nil {
		return nil, err
	}
	return owners(obj, obj.ResourceVersion()), nil
}

// diff returns the view of the changes to an object between two revisions.
func (e *Engine) diff(q *request) (any, error) {
	old, err := e.one(q, q.From)
	if err != nil {
		return nil, err
	}
	current, err := e.one(q, q.To)
	if err != nil {
		return nil, err
	}
	return fields{"from": old.ResourceVersion(), "to": current.ResourceVersion(),
		"lines": diff(yamlText(map[string]any(old)), yamlText(map[string]any(current)))}, nil
}

// revisionView is a write of an object.
type revisionView struct {
	Rev   string `json:"rv"`
	Type  string `json:"type"`
	VT    int64  `json:"vt"`
	Frame uint64 `json:"frame"`
	Gone  bool   `json:"gone,omitempty"` // the revision was compacted
}

// history returns the view of all writes of an object, including compacted ones.
func (e *Engine) history(q *request) (any, error) {
	d, err := e.definition(q.Resource)
	if err != nil {
		return nil, err
	}
	key := q.Name
	if d.Namespaced {
		key = q.Namespace + "/" + q.Name
	}
	list := []revisionView{}
	for _, f := range e.run.world.Frames(0) {
		if f.Kind == scenario.StoreCommit && f.Ref == d.GroupResource().String()+" "+key {
			gone := f.RV < e.run.world.Cluster().Compacted()
			list = append(list, revisionView{formatRev(f.RV), f.Verb, f.VT, f.N, gone})
		}
	}
	return fields{"revisions": list}, nil
}
