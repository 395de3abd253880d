package outbound

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/kubesim/kubesim/fake/kubeconfig"
)

// credentials contains the users of a kubeconfig file by name (the host of a webhook), and the name of the default user.
type credentials struct {
	users    map[string]*kubeconfig.User
	fallback string
}

// Plugins contains the credentials that admission plugins use for webhooks, by plugin name.
type Plugins map[string]*credentials

// readUsers reads the users of a kubeconfig file, whose path must be absolute. The user of the current context applies where no
// other does.
func readUsers(file string) (*credentials, error) {
	if !filepath.IsAbs(file) {
		return nil, fmt.Errorf("kubeConfigFile: Invalid value: %q: must be an absolute file path", file)
	}
	users, current, err := kubeconfig.Users(file)
	if err != nil {
		return nil, err
	}
	return &credentials{users, current}, nil
}

// user returns the user as which the server identifies itself to a webhook's URL on behalf of a plugin. It is the first of these
// users that exists in the plugin's kubeconfig: HOST:PORT, *.REST:PORT, the same without :443, "*", and the user of the current
// context. If there is none, it returns nil (k8s.io/apiserver, webhook.defaultAuthenticationInfoResolver).
func (p Plugins) user(plugin string, at *url.URL) *kubeconfig.User {
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
