// Package kubeconfig reads the kubeconfig files that describe how an API server reaches a webhook (Kubernetes documentation, "Organizing
// Cluster Access Using kubeconfig Files").
//
//	FILE ─┬─ users ────────── Users ──────▶ User of a webhook's host, for admission (package outbound)
//	      └─ current-context ─ Connect ───▶ Connection: the URL and the http.RoundTripper of its cluster and user
package kubeconfig

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// User has the credentials of a user. If it is nil, it has none.
type User struct {
	Certificate *tls.Certificate
	Token       string

	name, password string
}

// Authenticate returns q with the Authorization header for u.
func (u *User) Authenticate(q *http.Request) *http.Request {
	if u == nil || u.Token == "" && u.name == "" && u.password == "" {
		return q
	}
	q = q.Clone(q.Context())
	if u.Token != "" {
		q.Header.Set("Authorization", "Bearer "+u.Token)
	} else {
		q.SetBasicAuth(u.name, u.password)
	}
	return q
}

// Path returns the path of a file relative to dir, unless it is absolute.
func Path(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// ReadObject reads a file in YAML or JSON. An empty file is an empty object.
func ReadObject(file string) (object.Object, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text, err := codec.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if string(text) == "null" {
		return object.Object{}, nil
	}
	obj, err := object.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return obj, nil
}

// Users returns the users of a file by name, and the name of the user of the current context.
func Users(file string) (users map[string]*User, current string, err error) {
	config, err := ReadObject(file)
	if err != nil {
		return nil, "", err
	}
	users = map[string]*User{}
	for _, entry := range config.Objects("users") {
		user, err := readUser(object.Object(entry.Map("user")), filepath.Dir(file))
		if err != nil {
			return nil, "", fmt.Errorf("%s: user %q: %w", file, entry.String("name"), err)
		}
		users[entry.String("name")] = user
	}
	return users, context(config).String("user"), nil
}

// context returns the current context of a file.
func context(config object.Object) object.Object {
	return named(config, "context", config.String("current-context"))
}

// named returns the entry of a list (contexts, clusters) with the given name, or nil if there is none.
func named(config object.Object, kind, name string) object.Object {
	for _, entry := range config.Objects(kind + "s") {
		if entry.String("name") == name {
			return entry.At(kind)
		}
	}
	return nil
}

// readUser parses a user. File names are relative to dir. It returns an error for methods of authentication other than
// certificates, tokens and passwords.
func readUser(user object.Object, dir string) (*User, error) {
	for _, name := range []string{"exec", "auth-provider"} {
		if user.Map(name) != nil {
			return nil, fmt.Errorf("kubesim does not carry out %s: use a certificate, a token or a password", name)
		}
	}
	u := &User{Token: user.String("token"), name: user.String("username"), password: user.String("password")}
	if file := user.String("tokenFile"); u.Token == "" && file != "" {
		data, err := os.ReadFile(Path(dir, file))
		if err != nil {
			return nil, err
		}
		u.Token = strings.TrimSpace(string(data))
	}
	certificate, err := readData(user, "client-certificate", dir)
	key, keyErr := readData(user, "client-key", dir)
	if err = errors.Join(err, keyErr); err != nil || certificate == nil {
		return u, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	u.Certificate = &pair
	return u, nil
}

// readData returns the value of a field NAME-data in base64, or the contents of the file in the field NAME.
func readData(from object.Object, name, dir string) ([]byte, error) {
	if data := from.String(name + "-data"); data != "" {
		return base64.StdEncoding.DecodeString(data)
	}
	if file := from.String(name); file != "" {
		return os.ReadFile(Path(dir, file))
	}
	return nil, nil
}

// Connection sends requests to the server of the current context.
type Connection struct {
	Server string // its URL
	user   *User
	over   *http.Transport
}

// Connect reads a file and returns the connection to the cluster of its current context, with the credentials of its user. It returns an
// error if the file cannot be read or names no server (k8s.io/apiserver/pkg/util/webhook.LoadKubeconfig).
func Connect(file string) (*Connection, error) {
	config, err := ReadObject(file)
	if err != nil {
		return nil, err
	}
	users, user, err := Users(file)
	if err != nil {
		return nil, err
	}
	cluster := named(config, "cluster", context(config).String("cluster"))
	c := &Connection{Server: cluster.String("server"), user: users[user]}
	switch {
	case c.Server == "":
		return nil, errors.New("invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable")
	case cluster.String("proxy-url") != "":
		return nil, fmt.Errorf("%s: kubesim does not support proxy-url", file)
	}
	if !strings.Contains(c.Server, "://") {
		c.Server = "http://" + c.Server
	}
	insecure, _ := cluster.Bool("insecure-skip-tls-verify")
	trust := &tls.Config{InsecureSkipVerify: insecure, ServerName: cluster.String("tls-server-name")} //nolint:gosec // the file decides
	ca, err := readData(cluster, "certificate-authority", filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	if ca != nil {
		if trust.RootCAs = x509.NewCertPool(); !trust.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	if c.user != nil && c.user.Certificate != nil {
		trust.Certificates = []tls.Certificate{*c.user.Certificate}
	}
	c.over = &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true, Proxy: http.ProxyFromEnvironment,
		IdleConnTimeout: 90 * time.Second}
	return c, nil
}

// RoundTrip implements http.RoundTripper.
func (c *Connection) RoundTrip(q *http.Request) (*http.Response, error) {
	return c.over.RoundTrip(c.user.Authenticate(q))
}
