package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// RequestHeader configures which proxies may set the user of a request, and in which header fields (Kubernetes documentation,
// "Authenticating Proxy"). Its fields correspond to kube-apiserver's flags.
type RequestHeader struct {
	// ClientCA are the PEM certificates of the authorities that sign proxy certificates (--requestheader-client-ca-file). If it is
	// nil, there are no proxies.
	ClientCA []byte
	// AllowedNames are the allowed common names of proxies (--requestheader-allowed-names). If it is nil, any name is allowed.
	AllowedNames []string
	// The names of the headers that contain the user's name, uid, groups and extra values (--requestheader-username-headers,
	// --requestheader-uid-headers, --requestheader-group-headers, --requestheader-extra-headers-prefix), commonly X-Remote-User,
	// X-Remote-Uid, X-Remote-Group and X-Remote-Extra-. A value is not read if its list of headers is nil.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

// Check returns an error if the options are invalid (k8s.io/apiserver/pkg/server/options.RequestHeaderAuthenticationOptions).
func (r *RequestHeader) Check() error {
	for _, l := range []struct {
		flag  string
		names []string
	}{
		{"requestheader-username-headers", r.UsernameHeaders},
		{"requestheader-group-headers", r.GroupHeaders},
		{"requestheader-extra-headers-prefix", r.ExtraHeaderPrefixes},
		{"requestheader-allowed-names", r.AllowedNames},
		{"requestheader-uid-headers", r.UIDHeaders},
	} {
		for _, name := range l.names {
			if strings.TrimSpace(name) == "" {
				return fmt.Errorf("empty value in %q", l.flag)
			}
		}
	}
	standard := func(name string) bool { return strings.EqualFold(name, "X-Remote-Uid") }
	if len(r.UIDHeaders) > 0 && !slices.ContainsFunc(r.UIDHeaders, standard) {
		return errors.New("--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work")
	}
	return nil
}

// user returns the user that a proxy names. If the header does not name a user, ok is false
// (k8s.io/apiserver/pkg/authentication/request/headerrequest).
func (r *RequestHeader) user(h wire.Header) (u resource.User, ok bool) {
	first := func(names []string) string {
		for _, name := range names {
			if v := h.Get(name); v != "" {
				return v
			}
		}
		return ""
	}
	if u.Name = first(r.UsernameHeaders); u.Name == "" {
		return u, false
	}
	u.UID = first(r.UIDHeaders)
	for _, name := range r.GroupHeaders {
		for _, v := range h.Values(name) {
			if v != "" {
				u.Groups = append(u.Groups, v)
			}
		}
	}
	for _, prefix := range r.ExtraHeaderPrefixes {
		for _, name := range object.SortedKeys(h) {
			if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
				addExtra(&u, name[len(prefix):], h[name])
			}
		}
	}
	return u, true
}

// addExtra adds the values of an extra header to a user. The key is the header's name without the prefix, and may be
// percent-encoded.
func addExtra(u *resource.User, key string, values []string) {
	key = strings.ToLower(key)
	if plain, err := url.PathUnescape(key); err == nil {
		key = plain
	}
	if u.Extra == nil {
		u.Extra = map[string][]string{}
	}
	u.Extra[key] = append(u.Extra[key], values...)
}
