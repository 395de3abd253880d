package scenario

import (
	"fmt"
	"net/url"
	"strings"
)

// rawCommands send arbitrary HTTP requests.
var rawCommands = []Command{
	{Name: "request", Usage: "METHOD PATH", Help: "send any HTTP request", Example: "request GET /apis -H 'Accept: application/yaml'",
		Group: Requests, Flags: []string{"as", "via", "header", "filename", "data", "output", "name"},
		Args: []Arg{Method, Path}, needs: 2, check: checkRequest, run: (*World).request, build: (*builder).raw},
}

func checkRequest(op *Op, at int) error {
	if !strings.HasPrefix(op.Args[1], "/") {
		return wrong(at, "a path begins with a slash: /api/v1/namespaces")
	}
	for _, r := range op.Args[0] {
		if r < 'A' || r > 'Z' {
			return wrong(at, "a method is written in capitals, such as GET, not %q", op.Args[0])
		}
	}
	for _, h := range op.all("header") {
		if name, _, ok := strings.Cut(h, ":"); !ok || strings.TrimSpace(name) == "" {
			return wrong(at, "a header is -H 'Name: value'; %q has no colon or no name", h)
		}
	}
	return nil
}

// raw adds a request with the method and the path from the arguments. The content type is JSON if the body begins with {, and YAML
// otherwise.
func (b *builder) raw() error {
	u, err := url.ParseRequestURI(b.op.Args[1])
	if err != nil {
		return fmt.Errorf("the path %q cannot be sent: %w", b.op.Args[1], err)
	}
	body := b.op.value("data")
	if file := b.op.value("filename"); file != "" {
		if body, err = b.w.file(file); err != nil {
			return err
		}
	}
	var data []byte
	contentType := ""
	if body != "" {
		data, contentType = []byte(body), "application/yaml"
		if strings.HasPrefix(strings.TrimSpace(body), "{") {
			contentType = "application/json"
		}
	}
	c := b.add(b.op.Args[0], u.Path, u.Query(), contentType, data)
	c.exchange.Path = b.op.Args[1]
	for _, h := range b.op.all("header") {
		name, value, _ := strings.Cut(h, ":")
		c.exchange.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if c.exchange.Header.Get("User-Agent") != b.w.agent(b.client.name) {
		name, _, _ := strings.Cut(c.exchange.Header.Get("User-Agent"), "/")
		c.client = b.w.client(name)
		c.exchange.Client = name
	}
	c.watchName = b.op.value("name")
	return nil
}
