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

// origins decides which web pages may send requests to a listener. A browser sends requests to 127.0.0.1 on behalf of every page that its
// user opens, and a listener without --auth rbac treats each of them as cluster-admin. So it accepts programs, whose requests have no
// origin, and its own pages:
//
//	Host             a name that only this machine can have            prevents DNS rebinding, a name made to resolve to 127.0.0.1
//	Sec-Fetch-Site   same-origin, or none: the user typed the URL      (Fetch Metadata; browsers only)
//	Origin           http://HOST of the Host                           (RFC 6454; if there is no Sec-Fetch-Site)
//	Authorization    a bearer token: a program's, even if it has set   (for a page of another site, a browser sends a
//	                 an Origin, as for a WebSocket it must             preflight request first, which is refused)
//
// Any other request is refused unless kube-apiserver would send CORS headers for its origin. The rules are those of
// http.CrossOriginProtection, but for all methods, because a watch or a snapshot is a GET.
type origins struct {
	allowed []*regexp.Regexp  // --cors-allowed-origins
	host    string            // of Options.Address
	local   bool              // the socket is reached from this machine only
	leaf    *x509.Certificate // nil without TLS
}

// newOrigins returns the origins of a listener at an address.
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

// names reports whether the options allow an origin.
func (g *origins) names(origin string) bool {
	return slices.ContainsFunc(g.allowed, func(re *regexp.Regexp) bool { return re.MatchString(origin) })
}

// check returns why a request is refused, nil if it is not.
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

// hasToken reports whether a request carries a bearer token in the header that no page of another site can set.
func hasToken(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != ""
}

// refuse is the answer to a page that may not ask; allow is the origin to allow if it should.
func (g *origins) refuse(format, value, allow string) *status.Status {
	return &status.Status{Code: http.StatusForbidden, Reason: status.ReasonForbidden, Message: "kubesim: " + fmt.Sprintf(format, value) +
		". To let it in, start the server with --cors-allowed-origins='^" + regexp.QuoteMeta(allow) + "$' (fake.ListenOptions.AllowedOrigins)"}
}

// hostOrigin is the origin of pages from the host that a request names.
func hostOrigin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// ownHost reports whether the host of a request cannot be the site of a foreign page: it is this machine, an IP address if the listener is
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

// corsHeader holds the headers that kube-apiserver sends to pages of allowed origins (filters.WithCORS).
var corsHeader = http.Header{
	"Access-Control-Allow-Methods":     {"POST, GET, OPTIONS, PUT, DELETE, PATCH"},
	"Access-Control-Allow-Headers":     {"Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"},
	"Access-Control-Expose-Headers":    {"Date"},
	"Access-Control-Allow-Credentials": {"true"},
}

// share adds the header that lets a page of an allowed origin read the response. It returns true for a preflight request.
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
