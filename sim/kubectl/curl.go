package kubectl

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// curlFlags lists the supported flags of curl, as flags.Of parses them.
const curlFlags = "request|X header|H* data|d* data-binary* data-raw* json output|o user-agent|A user|u max-time|m cacert cert key " +
	"silent|s? show-error|S? insecure|k? include|i? head|I? fail|f? verbose|v? location|L? no-buffer|N? write-out|w"

// curl sends a request to the API server, or through kubectl port-forward to a pod. It prints the error of an unreachable host for
// any other host of the URL, because Services and pods are reachable only from inside of a cluster.
func (s *Session) curl(p *shell.Process) int {
	f := flags.NewSet(curlFlags)
	if err := f.Parse(p.Argv); err != nil {
		fmt.Fprintf(p.Err, "curl: option %s\ncurl: try 'curl --help' for more information\n", strings.TrimPrefix(err.Error(), "unknown flag: "))
		return 2
	}
	if len(f.Args) == 0 {
		fmt.Fprintln(p.Err, "curl: (2) no URL specified")
		return 2
	}
	target := f.Args[0]
	if i := strings.Index(target, "://"); i >= 0 {
		target = target[i+3:]
	}
	host, target, _ := strings.Cut(target, "/")
	if name := unreachable(host, s.Config.Server); name != "" {
		fmt.Fprintf(p.Err, "curl: (6) Could not resolve host: %s\n", name)
		return 6
	}
	target = "/" + target
	u, err := url.ParseRequestURI(target)
	if err != nil {
		fmt.Fprintln(p.Err, "curl: (3) URL rejected: Malformed input to a URL function")
		return 3
	}
	r, err := curlRequest(f, p, u)
	if err != nil {
		fmt.Fprintf(p.Err, "curl: (26) %s\n", err)
		return 26
	}
	if u.Query().Get("watch") == "true" || u.Query().Get("watch") == "1" {
		_, err = s.Conn.Follow(r, func(frame []byte) { p.Printf("%s\n", strings.TrimRight(string(frame), "\n")) })
	} else {
		err = s.show(f, p, r, s.forwarded(host))
	}
	if code, ok := err.(exitCode); ok {
		return int(code)
	}
	if err != nil {
		fmt.Fprintf(p.Err, "curl: (7) %s\n", err)
		return 7
	}
	return 0
}

// unreachable returns the name of a host that is neither this machine nor the API server, and otherwise "". server is the server's URL.
func unreachable(host, server string) string {
	of := func(host string) string {
		u := url.URL{Host: host}
		return u.Hostname()
	}
	_, api, _ := strings.Cut(server, "://")
	switch name := of(host); name {
	case "", "localhost", "127.0.0.1", "::1", of(strings.TrimSuffix(api, "/")):
		return ""
	default:
		return name
	}
}

// curlRequest returns the request that curl's flags describe.
func curlRequest(f *flags.Set, p *shell.Process, u *url.URL) (*Request, error) {
	r := &Request{Method: wire.MethodGet, Path: u.Path, Query: u.Query(), Header: wire.Header{"User-Agent": {"curl/8.0"}, "Accept": {"*/*"}}}
	var parts []string
	for _, name := range []string{"data", "data-binary", "data-raw", "json"} {
		for _, text := range f.List(name) {
			if file, ok := strings.CutPrefix(text, "@"); ok && name != "data-raw" {
				data, err := p.ReadFile(file)
				if err != nil {
					return nil, fmt.Errorf("Failed to open %s", file)
				}
				text = string(data)
				if name == "data" {
					text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
				}
			}
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		r.Method, r.Body = wire.MethodPost, []byte(strings.Join(parts, "&"))
		r.Header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	}
	if f.Given("json") {
		r.Header["Content-Type"], r.Header["Accept"] = []string{"application/json"}, []string{"application/json"}
	}
	for _, h := range f.List("header") {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if f.On("head") {
		r.Method = wire.MethodHead
	}
	if m := f.Text("request"); m != "" {
		r.Method = m
	}
	return r, nil
}

// show sends the request, to a forwarded port unless to is nil, and prints the response.
func (s *Session) show(f *flags.Set, p *shell.Process, r *Request, to *forward) error {
	ask := s.Conn.Do
	if to != nil {
		ask = func(r *Request) (*Answer, error) { return s.askPod(to, r) }
	}
	a, err := ask(r)
	if err != nil {
		return err
	}
	if f.On("include") || f.On("head") {
		p.Printf("HTTP/1.1 %d\n", a.Code)
		for _, name := range object.SortedKeys(a.Header) {
			for _, v := range a.Header[name] {
				p.Printf("%s: %s\n", name, v)
			}
		}
		p.Printf("\n")
	}
	if f.On("fail") && a.Code >= 400 {
		p.Complain("curl: (22) The requested URL returned error: %d", a.Code)
		return exitCode(22)
	}
	switch out := f.Text("output"); {
	case out == "/dev/null":
	case out != "":
		err = p.Save(out, a.Body, false)
	case r.Method != wire.MethodHead:
		p.Printf("%s", a.Body)
	}
	if w := f.Text("write-out"); w != "" {
		p.Printf("%s", strings.NewReplacer("%{http_code}", fmt.Sprint(a.Code), `\n`, "\n").Replace(w))
	}
	return err
}
