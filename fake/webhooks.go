package fake

import "net/http"

// AdmissionReview is a review of the API group admission.k8s.io as JSON: kind, apiVersion, and request or response.
// Integers are int64.
type AdmissionReview = map[string]any

// Admit registers a Go function for the admission webhook with a name (webhooks[].name of a stored configuration), in place of a
// server. The configuration decides when it is called. f returns the review that it got, or another one, with a response; uid, kind and
// apiVersion are filled in. A nil f removes the registration. f may use the server. It is called in a goroutine of its own. If it takes
// longer than timeoutSeconds of the webhook, counted on the server's clock, or if the request ends before (with the client's context,
// or at its deadline), the call fails as a timeout: failurePolicy decides the outcome, and the later result of f is ignored.
//
//	srv.Admit("check.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
//		review["response"] = map[string]any{"allowed": false, "status": map[string]any{"message": "not today"}}
//		return review
//	})
func (s *Server) Admit(webhook string, f func(AdmissionReview) AdmissionReview) {
	s.cluster.Admit(webhook, f)
}

// AdmitThrough sets the transport to admission webhooks for which no function is registered: Network, or one that calls an
// http.Handler. timeoutSeconds of a webhook, and the delay with which it asks for a retry (Retry-After), are in time of the server's
// clock. Validating webhooks are called in parallel, each in a goroutine of its own, mutating ones one after the other. Without
// AdmitThrough a server with a Listener uses Network, and another server calls no webhooks.
func (s *Server) AdmitThrough(transport http.RoundTripper) { s.outbound.AdmitThrough(transport) }

// Convert registers the function that converts the objects of a CustomResourceDefinition between its versions, in place of a conversion
// webhook and regardless of the definition's conversion strategy:
//
//	srv.Convert("frobbers.example.com", func(obj map[string]any, apiVersion string) (map[string]any, error) {
//		obj["apiVersion"] = apiVersion
//		…
//		return obj, nil
//	})
//
// The function may change and return its argument. Metadata other than labels and annotations is kept. An error is the answer to every
// request that needs the conversion. The function must not send requests to the server. If f is nil, the registration is removed.
func (s *Server) Convert(definition string, f func(obj map[string]any, apiVersion string) (map[string]any, error)) {
	s.cluster.Convert(definition, f)
}

// ConvertThrough sets the transport for ConversionReviews to the webhooks that definitions name. A webhook in the test itself needs no
// socket if the transport calls its handler. A webhook may send requests to the server, and a slow one delays only the requests that
// need it, for at most 30 seconds of the server's clock. (Two rare operations call it while all other requests wait: an exact read of
// the past, and the deletion of a definition with objects in an older storage version.) Its answer about an object is cached until the
// object, the definition or the transport changes. Without ConvertThrough a server with a Listener uses Network, and another server
// calls no webhooks.
func (s *Server) ConvertThrough(transport http.RoundTripper) { s.outbound.ConvertThrough(transport) }
