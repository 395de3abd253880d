package outbound

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// credentials authenticate the server to a webhook. If they are nil, the server sends no credentials.
type credentials struct {
	certificate    *tls.Certificate
	token          string
	user, password string
}

// kubeconfig contains the users of a kubeconfig file by name (the host of a webhook), and the name of the default user.
type kubeconfig struct {
	users    map[string]*credentials
	fallback string
}

// Plugins contains the credentials that admission plugins use for webhooks, by plugin name.
type Plugins map[string]*kubeconfig

// from returns the path of a file relative to dir, unless it is absolute.
func from(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

func readObject(file string) (object.Object, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text, err := codec.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	obj, err := object.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return obj, nil
}

// readUsers reads the users of a kubeconfig file, whose path must be absolute. The user of the current context applies where no
// other does.
func readUsers(file string) (*kubeconfig, error) {
	if !filepath.IsAbs(file) {
		return nil, fmt.Errorf("kubeConfigFile: Invalid value: %q: must be an absolute file path", file)
	}
	config, err := readObject(file)
	if err != nil {
		return nil, err
	}
	k := &kubeconfig{users: map[string]*credentials{}}
	for _, entry := range config.Objects("users") {
		user, err := readUser(object.Object(entry.Map("user")), filepath.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("%s: user %q: %w", file, entry.String("name"), err)
		}
		k.users[entry.String("name")] = user
	}
	for _, entry := range config.Objects("contexts") {
		if entry.String("name") == config.String("current-context") {
			k.fallback = entry.String("context", "user")
		}
	}
	return k, nil
}

// readUser parses a user. File names are relative to dir. It returns an error for methods of authentication other than
// certificates, tokens and passwords.
func readUser(user object.Object, dir string) (*credentials, error) {
	for _, name := range []string{"exec", "auth-provider"} {
		if user.Map(name) != nil {
			return nil, fmt.Errorf("kubesim does not carry out %s: use a certificate, a token or a password", name)
		}
	}
	c := &credentials{token: user.String("token"), user: user.String("username"), password: user.String("password")}
	read := func(name string) ([]byte, error) {
		if data := user.String(name + "-data"); data != "" {
			return base64.StdEncoding.DecodeString(data)
		}
		if file := user.String(name); file != "" {
			return os.ReadFile(from(dir, file))
		}
		return nil, nil
	}
	if file := user.String("tokenFile"); c.token == "" && file != "" {
		data, err := os.ReadFile(from(dir, file))
		if err != nil {
			return nil, err
		}
		c.token = strings.TrimSpace(string(data))
	}
	certificate, err := read("client-certificate")
	key, keyErr := read("client-key")
	if err = errors.Join(err, keyErr); err != nil || certificate == nil {
		return c, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	c.certificate = &pair
	return c, nil
}

// credentials returns the credentials that the server sends to a webhook's URL on behalf of a plugin. It uses the first of these
// users that exists in the plugin's kubeconfig: HOST:PORT, *.REST:PORT, the same without :443, "*", and the user of the current
// context. If there is none, it returns nil (k8s.io/apiserver, webhook.defaultAuthenticationInfoResolver).
func (p Plugins) credentials(plugin string, at *url.URL) *credentials {
	k := p[plugin]
	if k == nil {
		return nil
	}
	host, port := at.Hostname(), cmp.Or(at.Port(), "443")
	names := patterns(net.JoinHostPort(host, port))
	if port == "443" {
		names = append(names, patterns(host)...)
	}
	for _, name := range append(names, "*", k.fallback) {
		if user := k.users[name]; user != nil {
			return user
		}
	}
	return nil
}

// patterns returns the host patterns that match a host: for a.b.c, these are a.b.c, *.b.c and *.c.
func patterns(host string) []string {
	names := []string{host}
	steps := strings.Split(host, ".")
	for i := 1; i < len(steps); i++ {
		names = append(names, "*."+strings.Join(steps[i:], "."))
	}
	return names
}

// authenticate returns q with the Authorization header for c.
func (c *credentials) authenticate(q *http.Request) *http.Request {
	if c == nil || c.token == "" && c.user == "" && c.password == "" {
		return q
	}
	q = q.Clone(q.Context())
	if c.token != "" {
		q.Header.Set("Authorization", "Bearer "+c.token)
	} else {
		q.SetBasicAuth(c.user, c.password)
	}
	return q
}
