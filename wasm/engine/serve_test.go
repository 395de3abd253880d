package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// program sends messages to an Engine like a program that sends requests to an API server.
type program struct {
	t         testing.TB
	e         *Engine
	id        int
	responses map[int]*response
}

// response is the part of a response that has arrived.
type response struct {
	code          int
	body          string
	ended, broken bool
}

// send sends a message and returns its ID and the response. It collects the messages about responses to requests.
func (p *program) send(kind string, more fields) (int, map[string]any) {
	p.t.Helper()
	p.id++
	msg := fields{"v": 1, "id": p.id, "kind": kind}
	for name, value := range more {
		msg[name] = value
	}
	b, err := json.Marshal(msg)
	if err != nil {
		p.t.Fatal(err)
	}
	var answer map[string]any
	for i, raw := range p.e.Handle(b) {
		var got struct {
			Kind, Body  string
			ID, Request int
			Code        int
			Headers     [][2]string
			Broken      bool
			Encoding    string
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			p.t.Fatalf("%s: %v", raw, err)
		}
		switch x := p.responses[got.Request]; {
		case i == 0:
			if got.ID != p.id {
				p.t.Fatalf("%s does not answer message %d", raw, p.id)
			}
			_ = json.Unmarshal(raw, &answer) // it was JSON a moment ago
		case got.Kind == "response":
			p.responses[got.Request] = &response{code: got.Code}
		case got.Kind == "data" && got.Encoding == "":
			x.body += got.Body
		case got.Kind == "end":
			x.ended, x.broken = true, got.Broken
		default:
			p.t.Fatalf("unexpected message %s", raw)
		}
	}
	return p.id, answer
}

// must sends a message whose response must be ok.
func (p *program) must(kind string, more fields) map[string]any {
	p.t.Helper()
	_, answer := p.send(kind, more)
	if answer["kind"] != "ok" {
		p.t.Fatalf("%s %v: %v", kind, more, answer["error"])
	}
	return answer
}

// refused sends a message that must fail, and returns the error text.
func (p *program) refused(kind string, more fields) string {
	p.t.Helper()
	_, answer := p.send(kind, more)
	if answer["kind"] != "error" {
		p.t.Fatalf("%s %v was not refused: %v", kind, more, answer)
	}
	return fmt.Sprint(at(answer, "error.text"))
}

// request sends a request to the API server and returns its id.
func (p *program) request(method, target, body string) int {
	p.t.Helper()
	id, answer := p.send("request", fields{"method": method, "target": target, "body": body,
		"headers": [][2]string{{"Content-Type", "application/json"}, {"User-Agent", "test/1"}, {"Accept-Encoding", "gzip"}}})
	if answer["kind"] != "ok" {
		p.t.Fatalf("%s %s: %v", method, target, answer["error"])
	}
	return id
}

func serving(t testing.TB, cluster string) *program {
	t.Helper()
	p := &program{t: t, e: New(), responses: map[int]*response{}}
	p.must("serve", fields{"cluster": json.RawMessage(cluster)})
	return p
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func configMap(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }

// A response is complete when its request has been handled. A watch continues with events of later requests.
func TestServe(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serving(t, `{"seed": 7}`)
	watch := p.request("GET", configMaps+"?watch=true", "")
	is.Equal(*p.responses[watch], response{code: 200})
	created := p.request("POST", configMaps, configMap("a"))
	is.Equal(p.responses[created].code, 201)
	is.True(p.responses[created].ended)
	is.True(strings.Contains(p.responses[watch].body, `"type":"ADDED"`))
	again := p.request("POST", configMaps, configMap("a"))
	is.Equal(p.responses[again].code, 409)
	is.True(strings.Contains(p.responses[again].body, "AlreadyExists"))

	p.must("cancel", fields{"request": watch})
	before := *p.responses[watch]
	p.request("POST", configMaps, configMap("b"))
	is.Equal(*p.responses[watch], before) // it was cancelled
	p.must("cancel", fields{"request": watch})
}

// Only advance moves the clock. A watch ends at its timeout.
func TestServeClock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serving(t, `{}`)
	watch := p.request("GET", configMaps+"?watch=true&timeoutSeconds=60", "")
	now := at(p.must("advance", fields{"by": "59s"}), "time.now").(float64)
	is.True(!p.responses[watch].ended)
	is.Equal(at(p.must("advance", fields{"by": "1s"}), "time.now").(float64)-now, 1000.0)
	is.True(p.responses[watch].ended)
	is.True(strings.Contains(p.refused("advance", fields{"by": "soon"}), `not "soon"`))
}

// The controllers and nodes of a cluster have completed their work when it has settled.
func TestServeControllers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serving(t, `{"nodes": 3, "controllers": ["*"]}`)
	id := p.request("POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	is.Equal(p.responses[id].code, 201)
	p.must("settle", nil)
	id = p.request("GET", "/api/v1/namespaces/default/pods?fieldSelector=status.phase=Running", "")
	is.Equal(strings.Count(p.responses[id].body, `"podIP":`), 2)
}

// Faults apply to requests, and can truncate a response.
func TestServeFaults(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serving(t, `{}`)
	is.True(strings.Contains(fmt.Sprint(p.must("faults", fields{"faults": "on create configmaps times=1 do fail Conflict"})["faults"]), "Conflict"))
	is.Equal(p.responses[p.request("POST", configMaps, configMap("a"))].code, 409)
	is.Equal(p.responses[p.request("POST", configMaps, configMap("a"))].code, 201)
	is.Equal(p.must("faults", fields{"faults": "clear"})["faults"], "")
	is.True(p.refused("faults", fields{"faults": "on monday do nothing"}) != "")

	p.must("treat", fields{"line": "expire"})
	gone := p.request("GET", configMaps+"?watch=true&resourceVersion=1", "")
	is.True(strings.Contains(p.responses[gone].body, `"code":410`))
	watch := p.request("GET", configMaps+"?watch=true", "")
	p.must("treat", fields{"line": "restart 1"})
	is.True(p.responses[watch].ended)
	is.True(strings.Contains(p.refused("treat", fields{"line": "lag 2"}), "there is no API server 2"))
	is.True(strings.Contains(p.refused("treat", fields{"line": "explode"}), "there are compact, expire"))
}

// A waiting request is completed when time passes, unless it was cancelled.
func TestServeWaits(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serving(t, `{}`)
	p.must("treat", fields{"line": "lag 1 configmaps"})
	p.request("POST", configMaps, configMap("a"))
	waits, cancelled := p.request("GET", configMaps, ""), p.request("GET", configMaps, "")
	is.Equal(p.responses[waits], nil)
	p.must("cancel", fields{"request": cancelled})
	p.must("advance", fields{"by": "1m"})
	is.Equal(p.responses[waits].code, 200) // of the store, when the cache has not caught up in time
	is.Equal(p.responses[cancelled], nil)
}

// The error of a rejected message names the invalid field and its valid values.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := &program{t: t, e: New()}
	is.Equal(p.refused("request", fields{"method": "GET", "target": "/api"}), "there is no server: send serve first")
	is.True(strings.Contains(p.refused("serve", fields{"cluster": map[string]any{"nodez": 3}}), `unknown field "nodez"`))
	is.True(strings.Contains(p.refused("serve", fields{"cluster": map[string]any{"nodes": -1}}), "from 0 to 5000"))
	is.True(strings.Contains(p.refused("serve", fields{"cluster": map[string]any{"controllers": []string{"nobody"}}}), "nobody"))
	p.must("serve", nil)
	is.True(strings.Contains(p.refused("request", fields{"method": "GET", "target": "api"}), "such as /api/v1/namespaces"))
	is.True(strings.Contains(p.refused("request", fields{"method": "POST", "target": "/api", "body": "%", "encoding": "base64"}), "not base64"))
}

// A followed log continues while time passes, and ends with its container.
func TestServeLog(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serving(t, `{"nodes": 1, "controllers": ["*"], "images": {"i": {"exit": {"after": 60000000000}, "log": [{"after": 30000000000, "text": "half"}]}}}`)
	p.request("POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`)
	p.must("advance", fields{"by": "5s"})
	log := p.responses[p.request("GET", "/api/v1/namespaces/default/pods/p/log?follow=true", "")]
	is.Equal(*log, response{code: 200})
	p.must("advance", fields{"by": "40s"})
	is.True(strings.Contains(log.body, "half"))
	is.True(!log.ended)
	p.must("advance", fields{"by": "40s"})
	is.True(log.ended)
}
