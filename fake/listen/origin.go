package listen

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/status"
)

// origins decides which web pages may send requests to a listener. A browser sends requests to 127.0.0.1 on behalf of every page
// that its user opens, and a listener without --auth rbac gives each of them the rights of cluster-admin. So it accepts only
// programs, whose requests have no origin, and its own pages:
//
//	Host             a name that only this machine can have            prevents DNS rebinding, a name made to resolve to 127.0.0.1
//	Sec-Fetch-Site   same-origin, or none: the user typed the URL      (Fetch Metadata; browsers only)
//	Origin           http://HOST of the Host                           (RFC 6454; if there is no Sec-Fetch-Site)
//	Authorization    a bearer token: a program's, even if it has set   (for a page of another site, a browser sends a
//	                 an Origin, as for a WebSocket it must             preflight request first, which is rejected)
//
// Any other request is rejected unless kube-apiserver would send CORS headers for its origin. The rules are those of
// http.CrossOriginProtection, but for all methods, because a watch or a snapshot is a GET.
type origins struct {
	allowed []*regexp.Regexp  // --cors-allowed-origins
	host    string            // host of Options.Address
	local   bool              // the socket is reachable only from this machine
	leaf    *x509.Certificate // nil without TLS
}

// newOrigins returns the rules for the origins of requests to a listener at an address.
func newOrigins(o *Options, at net.Addr) (*origins, error) {
	g := &origins{}
	for _, pattern := range o.AllowedOrigins {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("kubesim: AllowedOrigins (--cors-allowed-origins): %w", err)
		}
		g.allowed = append(g.allowed, re)
	}
	g.host, _, _ = net.SplitHostPort(o.Address)
	if ip, err := netip.ParseAddrPort(at.String()); err == nil {
		g.local = ip.Addr().IsLoopback()
	}
	return g, nil
}

// names reports whether the options allow an origin explicitly.
func (g *origins) names(origin string) bool {
	return slices.ContainsFunc(g.allowed, func(re *regexp.Regexp) bool { return re.MatchString(origin) })
}

// check returns the error for a rejected request, or nil if the request is allowed.
func (g *origins) check(r *http.Request) *status.Status {
	if !g.ownHost(r) {
		return g.refuse("the name %q is not this server's: a page may have made it lead here (DNS rebinding)", r.Host, hostOrigin(r))
	}
	origin := r.Header.Get("Origin")
	if origin != "" && g.names(origin) {
		return nil
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "same-origin", "none":
		return nil
	case "":
		if u, err := url.Parse(origin); origin == "" || hasToken(r) || err == nil && u.Host == r.Host && u.Host != "" {
			return nil
		}
		return g.refuse("the request is from a page of another site (Origin: %s)", origin, origin)
	default:
		if origin != "" {
			return g.refuse("the request is from a page of another site (Origin: %s)", origin, origin)
		}
		return g.refuse("the request is from a page of another site (Sec-Fetch-Site: %s)", site, "https://HOST")
	}
}

// hasToken reports whether a request has a bearer token in its Authorization header, which a page of another site cannot set.
func hasToken(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != ""
}

// refuse returns the error response to a request from a page. allow is the origin that an administrator would have to allow.
func (g *origins) refuse(format, value, allow string) *status.Status {
	return &status.Status{Code: http.StatusForbidden, Reason: status.ReasonForbidden, Message: "kubesim: " + fmt.Sprintf(format, value) +
		". To let it in, start the server with --cors-allowed-origins='^" + regexp.QuoteMeta(allow) + "$' (fake.ListenOptions.AllowedOrigins)"}
}

// hostOrigin returns the origin of pages from the request's host.
func hostOrigin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// ownHost reports whether a request's host cannot belong to another site: it is this machine, an IP address if the listener is
// reachable from the network, or a name in the certificate.
func (g *origins) ownHost(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.EqualFold(host, g.host) {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return !g.local || ip.IsLoopback()
	}
	return g.leaf != nil && g.leaf.VerifyHostname(host) == nil || len(g.allowed) > 0 && g.names(hostOrigin(r))
}

// corsHeader contains the headers that kube-apiserver sends to pages of allowed origins (filters.WithCORS).
var corsHeader = http.Header{
	"Access-Control-Allow-Methods":     {"POST, GET, OPTIONS, PUT, DELETE, PATCH"},
	"Access-Control-Allow-Headers":     {"Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"},
	"Access-Control-Expose-Headers":    {"Date"},
	"Access-Control-Allow-Credentials": {"true"},
}

// share adds the headers that allow a page of an allowed origin to read the response. It returns true for a preflight request.
func (g *origins) share(h http.Header, r *http.Request) (preflight bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || len(g.allowed) == 0 || !g.names(origin) {
		return false
	}
	h["Access-Control-Allow-Origin"] = []string{origin}
	for name, values := range corsHeader { // order does not matter
		h[name] = values
	}
	return r.Method == http.MethodOptions
}
