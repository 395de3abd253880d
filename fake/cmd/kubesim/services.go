package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// outwardUsage describes the flags of kubesim serve about the server's own requests to webhooks and aggregated API servers.
const outwardUsage = `Webhooks of stored configurations and definitions, and aggregated API servers, are asked over the network. A service is
reached at its cluster IP or where its externalName says, which leads nowhere on a developer's machine, unless:

  --service-address NAMESPACE/NAME[:PORT]=HOST:PORT
                        the service is really reached there, whether or not it is stored; may be repeated. Its certificate
                        must still be for NAME.NAMESPACE.svc
  --service-certs DIR   write tls.crt, tls.key and ca.crt for all these services into DIR: a certificate that this server
                        trusts where a caBundle is empty, as in manifests that leave it to cert-manager. "default" is
                        where controller-runtime looks for it: $TMPDIR/k8s-webhook-server/serving-certs
  --admission-control-config-file FILE
                        an AdmissionConfiguration: the defaults and exemptions of PodSecurity, the limitedResources of
                        ResourceQuota, and the kubeConfigFile of MutatingAdmissionWebhook and ValidatingAdmissionWebhook,
                        which says which certificate or token webhooks are shown. Those of other plugins are refused
  --proxy-client-cert-file FILE
                        the certificate that aggregated API servers are shown
  --proxy-client-key-file FILE
                        its key

An operator made with kubebuilder, run by "make run" against its own manifests:

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
			return errors.New("say NAMESPACE/NAME=HOST:PORT")
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
		return "--service-certs: say with --service-address which services they are for"
	case f.shared.given("proxy-client-cert-file") != f.shared.given("proxy-client-key-file"):
		return "--proxy-client-cert-file and --proxy-client-key-file: say both or neither"
	}
	return ""
}
