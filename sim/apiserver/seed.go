package apiserver

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Seed stores an object, given as JSON, as it is (registry.Registry.Seed). It is read as the body of a create with
// fieldValidation=Strict. manager owns its fields unless it has managedFields. The caller holds the lock.
func (s *Server) Seed(by resource.Author, d *resource.Definition, namespace, manager string, text []byte) *status.Status {
	obj, _, _, failure := s.Decoder.Object(text, codec.JSON.String(), d.GVK, codec.Strict)
	if failure != nil {
		return failure
	}
	s.setDefaults(d, obj)
	return s.Registry.Seed(&registry.Request{By: by, Definition: d, Namespace: namespace, Manager: manager}, obj)
}

// setDefaults fills in the defaults of a kind.
func (s *Server) setDefaults(d *resource.Definition, obj object.Object) {
	if d.Default == nil {
		return
	}
	d.Default(obj)
	if at := d.Hub.Strategy.DefaultsToNow; at != nil {
		obj.SetDefault(object.Time(s.Registry.Backend.Now()), at...)
	}
}
