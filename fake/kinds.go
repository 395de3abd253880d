package fake

import "github.com/kubesim/kubesim/sim/resource"

// Kind is a kind that the server serves.
type Kind struct {
	Group, Version, Kind string
	Resource, Singular   string // deployments, deployment
	Namespaced           bool
}

// Kinds returns the kinds that are served now, including those of custom resources: the data for a RESTMapper, without discovery.
func (s *Server) Kinds() (all []Kind) {
	s.cluster.EachServed(func(d *resource.Definition) bool {
		all = append(all, Kind{Group: d.Group, Version: d.Version, Kind: d.Kind, Resource: d.Resource, Singular: d.Singular, Namespaced: d.Namespaced})
		return true
	})
	return all
}
