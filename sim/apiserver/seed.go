package apiserver

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Seed stores an object, given as JSON, with all its fields (registry.Registry.Seed). It decodes it like the body of a create with
// fieldValidation=Strict. manager owns its fields unless it has managedFields. The caller holds the lock.
func (s *Server) Seed(by resource.Author, d *resource.Definition, namespace, manager string, text []byte) *status.Status {
	obj, _, _, failure := s.Decoder.Object(text, codec.JSON.String(), d.GVK, codec.Strict)
	if failure != nil {
		return failure
	}
	s.setDefaults(d, obj)
	return s.Registry.Seed(&registry.Request{By: by, Definition: d, Namespace: namespace, Manager: manager}, obj)
}

// Import returns an object of another cluster, given as JSON, as it would be stored (registry.Registry.Import), and its definition.
// It decodes it like the body of a create with fieldValidation=Strict. The caller holds the lock.
func (s *Server) Import(data []byte) (*resource.Definition, object.Object, error) {
	kind, err := codec.KindOf(data)
	if err != nil {
		return nil, nil, err
	}
	d := s.Table.OfKind(kind)
	if d == nil {
		return nil, nil, fmt.Errorf("no API server serves %s in version %s", kind.Kind, kind.GV())
	}
	obj, _, _, failure := s.Decoder.Object(data, codec.JSON.String(), kind, codec.Strict)
	if failure != nil {
		return nil, nil, failure
	}
	s.setDefaults(d, obj)
	if obj, failure = s.Registry.Import(&registry.Request{Definition: d}, obj); failure != nil {
		return nil, nil, failure
	}
	return d, obj, nil
}

// setDefaults sets the defaults of a kind, including a time field that defaults to now.
func (s *Server) setDefaults(d *resource.Definition, obj object.Object) {
	if d.Default == nil {
		return
	}
	d.Default(obj)
	if at := d.Hub.Strategy.DefaultsToNow; at != nil {
		obj.SetDefault(object.Time(s.Registry.Backend.Now()), at...)
	}
}
