package listen

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// FuzzOrigins sends arbitrary hosts, origins and sites to the gate of a listener on loopback. It checks that every accepted request
// is addressed to this machine and does not come from a page of another site.
func FuzzOrigins(f *testing.F) {
	for _, seed := range [][3]string{{"127.0.0.1:1", "", ""}, {"localhost:1", "http://localhost:1", "same-origin"}, {"evil.example", "http://evil.example", "same-origin"},
		{"127.0.0.1:1", "https://evil.example", "cross-site"}, {"[::1%25lo]:1", "null", ""}, {"localhost.:1", "http://localhost.:1", ""}, {"127.0.0.1.evil", "//", "none"},
		{"evil@127.0.0.1:1", "http://evil@127.0.0.1:1", ""}, {"[::ffff:127.0.0.1]", "", ""}, {"x:1", "http://dev.example", ""}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	g, err := newOrigins(&Options{Address: "127.0.0.1:1", AllowedOrigins: []string{`^http://dev\.example$`}}, at)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := &http.Request{Host: host, Header: http.Header{}}
		if r.Header.Set("Origin", origin); site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		refused := g.check(r)
		if refused != nil {
			if refused.Code != http.StatusForbidden || !strings.Contains(refused.Message, "--cors-allowed-origins") {
				t.Fatalf("%q %q %q: %+v", host, origin, site, refused)
			}
			return
		}
		if site != "" && site != "same-origin" && site != "none" && origin != "http://dev.example" {
			t.Fatalf("%q %q: the site %q is let in", host, origin, site)
		}
		name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: host}).Hostname(), "."))
		ip, err := netip.ParseAddr(name)
		if name != "" && name != "localhost" && !strings.HasSuffix(name, ".localhost") && (err != nil || !ip.IsLoopback()) && host != "dev.example" {
			t.Fatalf("%q: another host is let in", host)
		}
	})
}
