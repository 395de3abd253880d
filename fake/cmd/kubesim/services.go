package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// outward adds the flags for the server's own requests that kube-apiserver does not have.
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

// checkOutward returns an error message if the flags for the server's own requests are invalid, and "" otherwise.
func (f *serveFlags) checkOutward() string {
	switch {
	case f.options.ServiceCerts != "" && len(f.options.ServiceAddresses) == 0:
		return "--service-certs: name the services with --service-address"
	case f.shared.given("proxy-client-cert-file") != f.shared.given("proxy-client-key-file"):
		return "--proxy-client-cert-file and --proxy-client-key-file: give both or neither"
	}
	return ""
}
