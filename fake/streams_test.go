package fake_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/matryer/is"
	"github.com/moby/spdystream"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

const counting = `"containers":[{"name":"c","image":"busybox","command":["sh","-c","i=0; while true; do echo $i; i=$((i+1)); sleep 1; done"]}]`

// logs returns the log of a pod.
func (c client) logs(pod, query string) string {
	c.t.Helper()
	_, text := c.do("GET", inPods+"/"+pod+"/log?"+query, "")
	return text
}

func TestLogs(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.bound("count", counting)
		is.Equal(message(c.logs("count", "")), `container "c" in pod "count" is waiting to start: ContainerCreating`)
		c.later(4*time.Second, "count")
		is.Equal(c.logs("count", ""), "0\n1\n2\n3\n")
		is.Equal(c.logs("count", "tailLines=2"), "2\n3\n")
		is.Equal(c.logs("count", "sinceSeconds=1"), "2\n3\n")
		is.Equal(c.logs("count", "limitBytes=3"), "0\n1")
		is.Equal(c.logs("count", "tailLines=1&timestamps=true"), "2000-01-01T00:00:04.000000000Z 3\n")
		is.Equal(message(c.logs("count", "previous=true")), `previous terminated container "c" in pod "count" not found`)

		c.bound("crash", `"containers":[{"name":"c","image":"busybox","command":["sh","-c","echo dying; exit 1"]}]`,
			`"kubesim.io/log":"+0s started\nand more"`)
		c.later(2*time.Second, "crash")
		is.Equal(c.logs("crash", ""), "dying\n+0s started\nand more\n") // the log of the last container that ran
		is.Equal(c.logs("crash", "previous=true"), "dying\n+0s started\nand more\n")

		c.must("POST", inPods, `{"metadata":{"name":"unbound"},"spec":{`+oneContainer+`}}`)
		code, text := c.do("GET", inPods+"/unbound/log", "")
		is.Equal(code, http.StatusNoContent)
		is.Equal(text, "")
		code, text = c.do("POST", inPods+"/unbound/exec?command=ls", "")
		is.Equal(code, http.StatusBadRequest)
		is.Equal(message(text), "pod unbound does not have a host assigned")
		_, text = c.do("POST", inPods+"/count/exec?command=ls", "")
		is.Equal(message(text), "Upgrade request required")
	})
}

func message(body string) string {
	_, rest, _ := strings.Cut(body, `"message":"`)
	rest, _, _ = strings.Cut(rest, `","reason"`)
	return strings.ReplaceAll(rest, `\"`, `"`)
}

// TestLogsFollow checks that a followed log continues until its container ends.
func TestLogsFollow(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.bound("count", strings.Replace(counting, "while true", "while [ $i -lt 5 ]", 1))
		c.later(3*time.Second, "count")
		begun := time.Now()
		q, err := http.NewRequest("GET", c.srv.URL()+inPods+"/count/log?follow=true", nil)
		is.NoErr(err)
		res, err := c.srv.Transport().RoundTrip(q)
		is.NoErr(err)
		text, err := io.ReadAll(res.Body)
		is.NoErr(err)
		is.Equal(string(text), "0\n1\n2\n3\n4\n")
		is.Equal(time.Since(begun), 3*time.Second)
		is.NoErr(res.Body.Close())

		c.bound("forever", counting)
		c.later(time.Second, "forever")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		res, err = c.srv.Transport().RoundTrip(q.Clone(ctx))
		is.NoErr(err)
		res.Body.Close()
		synctest.Wait()
	})
}

// dialed returns the address of a server with a listener and running pods of each kind.
func dialed(t *testing.T) (host string) {
	t.Helper()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	c := client{t, srv}
	c.bound("web", `"containers":[{"name":"c","image":"nginx","ports":[{"containerPort":80}]}]`, `"kubesim.io/http":"hello"`, `"kubesim.io/exec":"{\"nginx -v\":\"nginx version: 1\\n\"}"`)
	srv.Clock.Advance(time.Second)
	return strings.TrimPrefix(l.URL(), "http://")
}

// socket opens a WebSocket.
func socket(t *testing.T, host, path, protocol string) *websocket.Conn {
	t.Helper()
	conn, _, err := (&websocket.Dialer{Subprotocols: []string{protocol}}).Dial("ws://"+host+inPods+path, nil)
	is.New(t).NoErr(err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestExecOverWebSocket(t *testing.T) {
	host := dialed(t)
	for _, test := range []struct{ command, input, out, err, result string }{
		{command: "command=echo&command=hi", out: "hi\n", result: `"status":"Success"`},
		{command: "command=nginx&command=-v", out: "nginx version: 1\n", result: `"status":"Success"`},
		{command: "command=sh&command=-c&command=echo+no+%3E%262%3Bexit+3", err: "no\n", result: `"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}`},
		{command: "command=cat&stdin=true", input: "text", out: "text", result: `"status":"Success"`},
		{command: "command=sh&stdin=true", input: "hostname\nexit 4\n", out: "web\n", result: `"message":"4"`},
		{command: "command=curl", result: `exec: \"curl\": executable file not found in $PATH`},
	} {
		t.Run(test.command, func(t *testing.T) {
			is := is.New(t)
			conn := socket(t, host, "/web/exec?stdout=true&stderr=true&"+test.command, "v5.channel.k8s.io")
			if test.input != "" {
				is.NoErr(conn.WriteMessage(websocket.BinaryMessage, append([]byte{0}, test.input...)))
				is.NoErr(conn.WriteMessage(websocket.BinaryMessage, []byte{255, 0}))
			}
			channels := map[byte]string{}
			for {
				_, data, err := conn.ReadMessage()
				if err != nil {
					break
				}
				channels[data[0]] += string(data[1:])
			}
			is.Equal(channels[1], test.out)
			is.Equal(channels[2], test.err)
			is.True(strings.Contains(channels[3], test.result))
		})
	}
}

// over upgrades a connection to SPDY with a request for a pod's path, and checks the response. If path is "", the
// connection is already upgraded.
func over(t *testing.T, conn net.Conn, host, path, protocol string) *spdystream.Connection {
	t.Helper()
	is := is.New(t)
	if path != "" {
		q, err := http.NewRequest("POST", "http://"+host+inPods+path, nil)
		is.NoErr(err)
		q.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}, "X-Stream-Protocol-Version": {protocol}}
		is.NoErr(q.Write(conn))
		res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), q)
		is.NoErr(err)
		is.Equal(res.StatusCode, http.StatusSwitchingProtocols)
		is.Equal(res.Header.Get("X-Stream-Protocol-Version"), protocol)
	}
	c, err := spdystream.NewConnection(conn, false)
	is.NoErr(err)
	go c.Serve(spdystream.NoOpStreamHandler)
	t.Cleanup(func() { c.Close() })
	return c
}

// open opens a stream of a kind such as "stdout". headers are more of its headers: names, each with a value.
func open(t *testing.T, c *spdystream.Connection, kind string, headers ...string) *spdystream.Stream {
	t.Helper()
	h := http.Header{"Streamtype": {kind}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	s, err := c.CreateStream(h, nil, false)
	is.New(t).NoErr(err)
	return s
}

func TestExecOverSPDY(t *testing.T) {
	is := is.New(t)
	host := dialed(t)
	conn, err := net.Dial("tcp", host)
	is.NoErr(err)
	c := over(t, conn, host, "/web/exec?stdout=true&stderr=true&command=sh&command=-c&command=echo+hi%3Bexit+2", "v4.channel.k8s.io")
	failed, out, _ := open(t, c, "error"), open(t, c, "stdout"), open(t, c, "stderr")
	text, err := io.ReadAll(out)
	is.NoErr(err)
	is.Equal(string(text), "hi\n")
	text, err = io.ReadAll(failed)
	is.NoErr(err)
	is.True(strings.Contains(string(text), `"NonZeroExitCode"`))
}

// forwarded sends a request to a port of the pod through a connection. It returns the response and the text of the
// error stream.
func forwarded(t *testing.T, c *spdystream.Connection, port, id string) (answer, failure string) {
	t.Helper()
	is := is.New(t)
	failed := open(t, c, "error", "Port", port, "Requestid", id)
	is.NoErr(failed.Close())
	data := open(t, c, "data", "Port", port, "Requestid", id)
	_, err := io.WriteString(data, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
	is.NoErr(err)
	is.NoErr(data.Close())
	text, _ := io.ReadAll(data) // fails if no container listens
	why, err := io.ReadAll(failed)
	is.NoErr(err)
	return string(text), string(why)
}

func TestPortForward(t *testing.T) {
	host := dialed(t)
	for name, c := range map[string]func(t *testing.T) *spdystream.Connection{
		"SPDY": func(t *testing.T) *spdystream.Connection {
			conn, err := net.Dial("tcp", host)
			is.New(t).NoErr(err)
			return over(t, conn, host, "/web/portforward", "portforward.k8s.io")
		},
		"SPDY in a WebSocket": func(t *testing.T) *spdystream.Connection {
			return over(t, &inMessages{Conn: socket(t, host, "/web/portforward", "SPDY/3.1+portforward.k8s.io")}, "", "", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c := c(t)
			answer, failure := forwarded(t, c, "80", "0")
			is.True(strings.HasSuffix(answer, "\r\n\r\nhello"))
			is.Equal(failure, "")
			_, failure = forwarded(t, c, "81", "1")
			is.True(strings.Contains(failure, "dial tcp4 127.0.0.1:81: connect: connection refused"))
		})
	}
}

// inMessages is the client side of a connection whose data is sent in messages of a WebSocket.
type inMessages struct {
	*websocket.Conn
	left []byte
}

func (m *inMessages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		_, data, err := m.ReadMessage()
		if err != nil {
			return 0, io.EOF
		}
		m.left = data
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

func (m *inMessages) Write(p []byte) (int, error) {
	return len(p), m.WriteMessage(websocket.BinaryMessage, p)
}

func (m *inMessages) SetDeadline(time.Time) error { return nil }

// TestMetrics checks that the API metrics.k8s.io returns the usage of nodes and pods, as kubectl top requests it.
func TestMetrics(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		const metrics = "/apis/metrics.k8s.io/v1beta1"
		c.bound("web", oneContainer, `"kubesim.io/cpu":"250m"`, `"kubesim.io/memory":"1Gi"`)
		is.Equal(len(c.must("GET", metrics+"/pods", "").List("items")), 0) // the pod is not running yet
		c.later(time.Second, "web")
		pod := c.must("GET", metrics+"/namespaces/default/pods/web", "")
		is.Equal(pod.Objects("containers")[0].Map("usage"), map[string]any{"cpu": "250m", "memory": "1Gi"})
		is.Equal(c.must("GET", metrics+"/nodes/node-1", "").Map("usage"), map[string]any{"cpu": "350m", "memory": "1536Mi"})
		code, _ := c.do("GET", metrics+"/nodes/node-2", "")
		is.Equal(code, http.StatusNotFound)
		fork := client{t, c.srv.Fork()}
		fork.must("DELETE", inPods+"/web?gracePeriodSeconds=0", "")
		is.Equal(fork.must("GET", metrics+"/nodes/node-1", "").Map("usage"), map[string]any{"cpu": "100m", "memory": "512Mi"})
		is.Equal(len(c.must("GET", metrics+"/pods", "").List("items")), 1)
	})
}

// TestMetricsVersions checks the versions of metrics.k8s.io, of which a cluster of 1.37 has two.
func TestMetricsVersions(t *testing.T) {
	for minor, want := range map[string]string{"1.36": "v1beta1", "1.37": "v1 v1beta1"} {
		onNodes(t, fake.Options{Replicas: []fake.ReplicaOptions{{Version: minor}}}, func(t *testing.T, is *is.I, c client) {
			c.bound("web", oneContainer)
			c.later(time.Second, "web")
			var versions []string
			for _, v := range c.must("GET", "/apis/metrics.k8s.io", "").Objects("versions") {
				versions = append(versions, v.String("version"))
				pods := c.must("GET", "/apis/metrics.k8s.io/"+v.String("version")+"/namespaces/default/pods", "")
				is.Equal(pods.APIVersion(), v.String("groupVersion"))
				is.Equal(pods.Objects("items")[0].APIVersion(), v.String("groupVersion"))
				is.Equal(c.must("GET", "/apis/metrics.k8s.io/"+v.String("version"), "").String("groupVersion"), v.String("groupVersion"))
			}
			is.Equal(strings.Join(versions, " "), want)
		})
	}
}
