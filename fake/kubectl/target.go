package kubectl

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/object"
)

// Target is the API server of a command line, and the user's credentials.
type Target struct {
	Config *kubectl.Config
	TLS    *tls.Config
	Token  string
}

// Load evaluates flags such as --server, --kubeconfig, --context and --token at any position in a command line, and reads the
// kubeconfig that they, KUBECONFIG or the home directory specify (Kubernetes documentation, "Organizing Cluster Access Using
// kubeconfig Files"). Without a kubeconfig the server is http://localhost:8080, as for the real kubectl. Load returns an error if a
// named file cannot be read or a kubeconfig is invalid.
func Load(args []string, getenv func(string) string) (*Target, error) {
	flags := valuesOf(args)
	t := &Target{TLS: &tls.Config{}, Config: &kubectl.Config{Server: "http://localhost:8080", Save: func() error {
		return errors.New("kubesim kubectl changes no kubeconfig: do that with the real kubectl")
	}}}
	path := cmp.Or(flags["kubeconfig"], filepath.SplitList(getenv("KUBECONFIG") + string(filepath.ListSeparator))[0])
	named := path != ""
	if !named {
		path = filepath.Join(getenv("HOME"), ".kube", "config")
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = t.read(data, flags["context"])
	} else if !named {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if s := cmp.Or(flags["server"], flags["s"]); s != "" {
		if !strings.Contains(s, "://") {
			s = "http://" + s
		}
		t.Config.Server = strings.TrimSuffix(s, "/")
	}
	t.Token = cmp.Or(flags["token"], t.Token)
	if flags["insecure-skip-tls-verify"] == "true" {
		t.TLS.InsecureSkipVerify = true
	}
	if file := flags["certificate-authority"]; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		t.trust(pem)
	}
	return t, nil
}

// valuesOf returns the values of the flags before "--", by flag name.
func valuesOf(args []string) map[string]string {
	out := map[string]string{}
	for i, a := range args {
		if a == "--" {
			break
		}
		if !strings.HasPrefix(a, "-") {
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		if name == "insecure-skip-tls-verify" && !given {
			value = "true"
		}
		out[name] = value
	}
	return out
}

// read reads the contexts of a kubeconfig, and the server and the user of a context. If context is "", the current one applies.
func (t *Target) read(data []byte, context string) error {
	text, err := codec.YAMLToJSON(data)
	if err != nil {
		return err
	}
	config, err := object.Parse(text)
	if err != nil {
		return err
	}
	named := func(list, name string) object.Object {
		for _, x := range config.Objects(list) {
			if x.String("name") == name {
				return x
			}
		}
		return nil
	}
	for _, x := range config.Objects("contexts") {
		in := x.At("context")
		t.Config.Contexts = append(t.Config.Contexts, kubectl.Context{Name: x.String("name"), Cluster: in.String("cluster"),
			User: in.String("user"), Namespace: in.String("namespace")})
	}
	t.Config.Current = cmp.Or(context, config.String("current-context"))
	current := named("contexts", t.Config.Current).At("context")
	if current == nil && context != "" {
		return fmt.Errorf("context %q does not exist", context)
	}
	t.Config.Cluster, t.Config.User = current.String("cluster"), current.String("user")
	return t.access(named("clusters", t.Config.Cluster).At("cluster"), named("users", t.Config.User).At("user"))
}

// access sets the address and credentials from a kubeconfig. It returns an error if a certificate or key cannot be read.
func (t *Target) access(cluster, user object.Object) error {
	t.Config.Server = cmp.Or(strings.TrimSuffix(cluster.String("server"), "/"), t.Config.Server)
	t.TLS.InsecureSkipVerify = cluster.True("insecure-skip-tls-verify")
	ca, err := material(cluster, "certificate-authority")
	if err != nil {
		return err
	}
	if ca != nil {
		t.trust(ca)
	}
	t.Token = user.String("token")
	cert, err := material(user, "client-certificate")
	if err != nil || cert == nil {
		return err
	}
	key, err := material(user, "client-key")
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err == nil {
		t.TLS.Certificates = []tls.Certificate{pair}
	}
	return err
}

// material returns the content of NAME-data, or of the file that NAME refers to, or nil if neither of the two is set.
func material(from object.Object, name string) ([]byte, error) {
	if text := from.String(name + "-data"); text != "" {
		return base64.StdEncoding.DecodeString(text)
	}
	if file := from.String(name); file != "" {
		return os.ReadFile(file)
	}
	return nil, nil
}

// trust sets the only authorities for server certificates, in PEM.
func (t *Target) trust(pem []byte) {
	t.TLS.RootCAs = x509.NewCertPool()
	t.TLS.RootCAs.AppendCertsFromPEM(pem)
}

// Transport returns a transport for requests to the target.
func (t *Target) Transport() http.RoundTripper {
	return &http.Transport{TLSClientConfig: t.TLS, Proxy: http.ProxyFromEnvironment}
}
