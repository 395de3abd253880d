package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// outwardUsage describes the flags of kubesim serve about the server's own requests to webhooks and aggregated API servers.
const outwardUsage = `The server calls webhooks of stored configurations and definitions, and aggregated API servers, over the network. It reaches
a service at its cluster IP or its externalName, which usually do not exist on a developer's machine:

  --service-address NAMESPACE/NAME[:PORT]=HOST:PORT
                        the real address of a service, even if it is not stored; may be repeated. Its certificate must
                        still be for NAME.NAMESPACE.svc
  --service-certs DIR   writes tls.crt, tls.key and ca.crt for all these services into DIR: a certificate that this server
                        trusts if a caBundle is empty, as in manifests for cert-manager. "default" is the folder of
                        controller-runtime, $TMPDIR/k8s-webhook-server/serving-certs
  --admission-control-config-file FILE
                        an AdmissionConfiguration: the defaults and exemptions of PodSecurity, the limitedResources of
                        ResourceQuota, and the kubeConfigFile of MutatingAdmissionWebhook and ValidatingAdmissionWebhook
                        with the certificate or token for webhooks. Configurations of other plugins are refused
  --proxy-client-cert-file FILE
                        the client certificate for aggregated API servers
  --proxy-client-key-file FILE
                        its key

A kubebuilder operator that runs by "make run" with its own manifests:

  kubesim serve --kubeconfig kubeconfig --service-certs default \
      --service-address shop-system/shop-webhook-service=127.0.0.1:9443
  kubectl --kubeconfig kubeconfig apply --server-side -k config/default
  KUBECONFIG=kubeconfig make run

`

// outward adds the flags about the server's own requests that kube-apiserver does not have.
func (f *serveFlags) outward(set *flag.FlagSet) {
	o := &f.options
	set.Func("service-address", "", func(text string) error {
		service, address, ok := strings.Cut(text, "=")
		if !ok || service == "" || address == "" {
			return errors.New("it must be NAMESPACE/NAME=HOST:PORT")
		}
		if o.ServiceAddresses == nil {
			o.ServiceAddresses = map[string]string{}
		}
		o.ServiceAddresses[service] = address
		return nil
	})
	set.Func("service-certs", "", func(dir string) error {
		if o.ServiceCerts = dir; dir == "default" {
			o.ServiceCerts = filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs")
		}
		return nil
	})
}

// checkOutward returns an error text if the flags about the server's own requests are invalid, and otherwise "".
func (f *serveFlags) checkOutward() string {
	switch {
	case f.options.ServiceCerts != "" && len(f.options.ServiceAddresses) == 0:
		return "--service-certs: name the services with --service-address"
	case f.shared.given("proxy-client-cert-file") != f.shared.given("proxy-client-key-file"):
		return "--proxy-client-cert-file and --proxy-client-key-file: give both or neither"
	}
	return ""
}
