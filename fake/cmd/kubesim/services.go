package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubesim/kubesim/fake"
)

// outward are the flags of kubesim serve about whom the server asks: webhooks and aggregated API servers.
type outward struct {
	addresses map[string]string // of services
	certs     string
	admission string // --admission-control-config-file
	cert, key string // --proxy-client-…-file
}

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

// flags adds the flags to a set.
func (o *outward) flags(set *flag.FlagSet) {
	set.Func("service-address", "", func(text string) error {
		service, address, ok := strings.Cut(text, "=")
		if !ok || service == "" || address == "" {
			return errors.New("say NAMESPACE/NAME=HOST:PORT")
		}
		if o.addresses == nil {
			o.addresses = map[string]string{}
		}
		o.addresses[service] = address
		return nil
	})
	set.StringVar(&o.certs, "service-certs", "", "")
	set.StringVar(&o.admission, "admission-control-config-file", "", "")
	set.StringVar(&o.cert, "proxy-client-cert-file", "", "")
	set.StringVar(&o.key, "proxy-client-key-file", "", "")
}

// check returns what is wrong with the flags, "" for nothing.
func (o *outward) check() string {
	switch {
	case o.certs != "" && len(o.addresses) == 0:
		return "--service-certs: say with --service-address which services they are for"
	case (o.cert == "") != (o.key == ""):
		return "--proxy-client-cert-file and --proxy-client-key-file: say both or neither"
	}
	return ""
}

// fill sets what the flags say in the options.
func (o *outward) fill(options *fake.Options) error {
	options.ServiceAddresses, options.ServiceCerts, options.AdmissionConfig = o.addresses, o.certs, o.admission
	if o.certs == "default" {
		options.ServiceCerts = filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs")
	}
	return readFiles(fileFlag{"proxy-client-cert-file", o.cert, &options.ProxyClientCert},
		fileFlag{"proxy-client-key-file", o.key, &options.ProxyClientKey})
}
