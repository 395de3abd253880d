package webhook

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Address returns where the webhook of a clientConfig listens: the host of its url, or that of its service, and the
// cleaned path (no double or trailing slashes, no dots), with the timeout as the only parameter. An address that is no
// URL is returned as it is.
func Address(config object.Object, timeout time.Duration) string {
	to := url.URL{Scheme: "https"}
	at := config.String("service", "path")
	if config.Map("service") != nil {
		to.Host = serviceHost(config)
	} else {
		u, err := url.Parse(config.String("url"))
		if err != nil {
			return config.String("url")
		}
		to.Scheme, to.Host, at = u.Scheme, u.Host, u.Path
	}
	to.Path = path.Join("/", at)
	to.RawQuery = url.Values{"timeout": {timeout.String()}}.Encode()
	return to.String()
}

// serviceHost is the host of a webhook that a service stands for: the name that its certificate has to have.
func serviceHost(config object.Object) string {
	port := config.Int64("service", "port")
	return config.String("service", "name") + "." + config.String("service", "namespace") + ".svc:" +
		strconv.FormatInt(cmp.Or(port, 443), 10)
}

// Bundle returns the CA certificates (PEM) of a clientConfig, or nil for the system's.
func Bundle(config object.Object) []byte {
	bundle, err := base64.StdEncoding.DecodeString(config.String("caBundle"))
	if err != nil {
		return nil
	}
	return bundle
}
