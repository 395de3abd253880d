package fake

import (
	"errors"
	"net/http"
	"strings"

	"github.com/kubesim/kubesim/fake/outbound"
	"github.com/kubesim/kubesim/sim/object"
)

// Network returns a transport that calls webhooks over the network like the real server. It trusts the caBundle of a
// configuration. It connects to a service at its ServiceAddress if it has one, and otherwise at its cluster IP or
// external name. A server with a Listener uses it unless AdmitThrough and ConvertThrough set another transport.
// Options.AdmissionConfig configures the server's credentials.
//
// Network must not be used in testing/synctest bubbles, in which time does not advance while a goroutine waits for a
// socket.
func (s *Server) Network() http.RoundTripper { return s.outbound.Network }

// ServiceAddress makes the server connect to a service, "NAMESPACE/NAME" or "NAMESPACE/NAME:PORT", at address,
// "HOST:PORT". Use it for webhooks and aggregated API servers that run on this machine, on which cluster IPs are not
// routed. The certificate must still be for NAME.NAMESPACE.svc. The Service need not exist, and its endpoints are
// ignored. If address is empty, the setting is removed. ServiceAddress returns an error if the service or the address
// does not have this form.
//
//	srv.ServiceAddress("shop-system/shop-webhook-service", "127.0.0.1:9443")
//
// Options.ServiceAddresses sets addresses when the server starts.
func (s *Server) ServiceAddress(service, address string) error {
	return s.outbound.SetAddress(service, address)
}

// ServiceCerts writes tls.crt, tls.key and ca.crt to a directory, which it creates if necessary: a certificate for all
// services that have a ServiceAddress. It is signed by an authority of this server, which the server trusts if a
// caBundle is empty. ServiceCerts replaces cert-manager for a webhook server on the developer's machine. A running
// webhook server must reload the files. ServiceCerts returns an error if no service has a ServiceAddress, or if a file
// cannot be written. Options.ServiceCerts does the same when the server starts.
func (s *Server) ServiceCerts(dir string) error { return s.outbound.Services.WriteCerts(dir) }

// ServiceCA returns the PEM certificate of the authority that signs certificates for services, or nil if ServiceCerts
// was not called.
func (s *Server) ServiceCA() []byte { return s.outbound.Services.CA() }

// Aggregate registers a handler as the aggregated API server of an APIService. It creates the APIService,
// VERSION.GROUP, unless it exists. Before Aggregate returns, it sends the handler a discovery request: GET
// /apis/GROUP/VERSION must return an APIResourceList. The handler receives requests like a real aggregated server, with
// the user in X-Remote-User, X-Remote-Group and X-Remote-Extra-…. Output after a Flush is streamed. The handler may
// send requests to the server. A nil handler removes the registration.
//
//	srv.Aggregate("v1beta1.metrics.k8s.io", metrics)
//
// Aggregate is safe in a testing/synctest bubble. A server with a Listener also connects to aggregated servers that
// listen at the address of their service (ServiceAddress).
func (s *Server) Aggregate(apiService string, handler http.Handler) {
	version, group, ok := strings.Cut(apiService, ".")
	if !ok || version == "" || group == "" {
		s.fail("Aggregate: %q is no APIService such as v1beta1.metrics.k8s.io", apiService)
		return
	}
	s.outbound.Aggregator.Handle(apiService, handler)
	s.cluster.Recheck()
	if handler == nil {
		return
	}
	const path = "/apis/apiregistration.k8s.io/v1/apiservices"
	body := object.JSON(map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": apiService},
		"spec": map[string]any{"group": group, "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(15),
			"insecureSkipTLSVerify": true,
			"service":               map[string]any{"namespace": "default", "name": strings.ReplaceAll(apiService, ".", "-")}}})
	code, answer, err := s.loader().send(http.MethodPost, path, "application/json", body)
	if err == nil && code >= 300 && code != http.StatusConflict {
		err = errors.New(answer.String("message"))
	}
	if err != nil {
		s.fail("Aggregate: %s: %v", apiService, err)
	}
}

// serveMetrics registers handlers for the resource usage of nodes and pods, and creates their APIServices unless they exist. It is a
// no-op if the server has no nodes.
func (s *Server) serveMetrics() error {
	versions := s.handleMetrics()
	if versions == nil {
		return nil
	}
	defer s.cluster.Recheck()
	for i, version := range versions {
		if err := s.registerMetrics(version, 100+int64(i)); err != nil {
			return err
		}
	}
	return nil
}

// handleMetrics registers the handlers for metrics.k8s.io and returns its versions. It is a no-op if the server has no nodes.
func (s *Server) handleMetrics() (versions []string) {
	if s.cluster.Nodes() == 0 {
		return nil
	}
	versions = s.cluster.MetricsVersions()
	for _, version := range versions {
		s.outbound.Aggregator.Handle(metricsService(version), outbound.Metrics{Cluster: s.cluster, Version: version})
	}
	return versions
}

// metricsService returns the name of the APIService of a version of metrics.k8s.io.
func metricsService(version string) string { return version + ".metrics.k8s.io" }

// registerMetrics creates the APIService of a version of metrics.k8s.io unless it exists.
func (s *Server) registerMetrics(version string, priority int64) error {
	const path = "/apis/apiregistration.k8s.io/v1/apiservices"
	name := metricsService(version)
	code, _, err := s.loader().send(http.MethodGet, path+"/"+name, "", nil)
	if err != nil || code == http.StatusOK {
		return err
	}
	code, answer, err := s.loader().send(http.MethodPost, path, "application/json", object.JSON(map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"k8s-app": "metrics-server"}},
		"spec": map[string]any{"group": "metrics.k8s.io", "version": version, "groupPriorityMinimum": int64(100), "versionPriority": priority,
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "kube-system", "name": "metrics-server"}}}))
	if err == nil && code >= 300 {
		err = errors.New("kubesim: the APIService of metrics: " + answer.String("message"))
	}
	return err
}

// prepared applies the options for services and webhooks, and starts serving the nodes' metrics.
func (s *Server) prepared() (*Server, error) {
	err := s.options.admission.Manifests.Load(s.cluster)
	if err == nil {
		err = s.prepareServices()
	}
	if err == nil {
		err = s.serveMetrics()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) prepareServices() (err error) {
	for service, address := range s.options.ServiceAddresses { // the order does not matter
		if err := s.ServiceAddress(service, address); err != nil {
			return err
		}
	}
	if s.options.ServiceCerts == "" {
		return nil
	}
	return s.ServiceCerts(s.options.ServiceCerts)
}

// AdmissionReview is an AdmissionReview of the API group admission.k8s.io as JSON: kind, apiVersion, and request or
// response. Integers are int64.
type AdmissionReview = map[string]any

// Admit registers a Go function for an admission webhook, which replaces the webhook server. webhook is the name in a
// stored configuration (webhooks[].name), which determines when the webhook is called. f returns the review that it
// received, or a new one, with a response; uid, kind and apiVersion are filled in. A nil f removes the registration. f
// may send requests to the server. It is called in a separate goroutine. If it takes longer than the webhook's
// timeoutSeconds on the server's clock, or if the request ends first (with the client's context, or at its deadline),
// the call fails as a timeout: failurePolicy decides the outcome, and the later result of f is ignored.
//
//	srv.Admit("check.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
//		review["response"] = map[string]any{"allowed": false, "status": map[string]any{"message": "not today"}}
//		return review
//	})
func (s *Server) Admit(webhook string, f func(AdmissionReview) AdmissionReview) {
	s.cluster.Admit(webhook, f)
}

// AdmitThrough sets the transport to admission webhooks for which no function is registered: Network, or one that calls
// an http.Handler. A webhook's timeoutSeconds, and the delay after which it requests a retry (Retry-After), are on the
// server's clock. Validating webhooks are called in parallel, each in a separate goroutine, mutating ones one after the
// other. Without AdmitThrough, a server with a Listener uses Network, and any other server calls no webhooks.
func (s *Server) AdmitThrough(transport http.RoundTripper) { s.outbound.AdmitThrough(transport) }

// Convert registers the function that converts the objects of a CustomResourceDefinition between its versions. It
// replaces a conversion webhook, regardless of the definition's conversion strategy:
//
//	srv.Convert("frobbers.example.com", func(obj map[string]any, apiVersion string) (map[string]any, error) {
//		obj["apiVersion"] = apiVersion
//		…
//		return obj, nil
//	})
//
// The function may modify and return its argument. Metadata other than labels and annotations is kept. If the function
// returns an error, all requests that need the conversion fail with it. The function must not send requests to the
// server. If f is nil, the registration is removed.
func (s *Server) Convert(definition string, f func(obj map[string]any, apiVersion string) (map[string]any, error)) {
	s.cluster.Convert(definition, f)
}

// ConvertThrough sets the transport for ConversionReviews to the webhooks of CustomResourceDefinitions. A webhook in
// the test itself needs no socket if the transport calls its handler. A webhook may send requests to the server, and a
// slow webhook delays only the requests that need it, for at most 30 seconds of the server's clock. (Two rare
// operations call it while all other requests wait: an exact read of a past revision, and the deletion of a definition
// with objects in an older storage version.) The conversion of an object is cached until the object, the definition or
// the transport changes. Without ConvertThrough, a server with a Listener uses Network, and any other server calls no
// webhooks.
func (s *Server) ConvertThrough(transport http.RoundTripper) { s.outbound.ConvertThrough(transport) }
