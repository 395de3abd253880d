package fake

import "net/http"

// Convert registers the function that converts the objects of a CustomResourceDefinition between its versions, in the
// place of a conversion webhook, whatever the definition says about conversion:
//
//	srv.Convert("frobbers.example.com", func(obj map[string]any, apiVersion string) (map[string]any, error) {
//		obj["apiVersion"] = apiVersion
//		…
//		return obj, nil
//	})
//
// It may change and return its argument; metadata other than labels and annotations stays as it was. An error is the
// answer of every request that needs the conversion. The function must not ask the server. nil takes it back.
func (s *Server) Convert(definition string, f func(obj map[string]any, apiVersion string) (map[string]any, error)) {
	s.cluster.Convert(definition, f)
}

// ConvertThrough sets what carries ConversionReviews to the webhooks that definitions name: the handler of a webhook in
// the test itself needs no socket. A webhook may ask the server, and a slow one holds up only the requests that need it:
// for at most 30 seconds of the server's clock. (Two rare reads ask it while everybody waits: an exact read of the past,
// and the end of a definition with objects in an older storage version.) Its answer about an object is remembered until
// the object, the definition or the transport changes. Without it a server with a Listener uses Network, and another one
// asks nobody.
func (s *Server) ConvertThrough(transport http.RoundTripper) {
	s.mu.Lock()
	s.converts = true
	s.mu.Unlock()
	s.cluster.ConvertThrough(s.through(transport))
}

// reachOut makes a server with a listener ask webhooks over the network, unless it was told otherwise, and aggregated API
// servers.
func (s *Server) reachOut() {
	s.mu.Lock()
	admits, converts := s.admits, s.converts
	s.mu.Unlock()
	if !admits {
		s.AdmitThrough(s.Network())
	}
	if !converts {
		s.ConvertThrough(s.Network())
	}
	s.aggregator.listen()
}
