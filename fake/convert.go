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
// the test itself needs no socket. What it leads to must not ask the server.
func (s *Server) ConvertThrough(transport http.RoundTripper) { s.cluster.ConvertThrough(transport) }
