package fake_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/codec"
)

// carriers returns the ways to connect to a server: over a socket, and in process, where the response's body is the
// connection.
func carriers(t *testing.T, srv *fake.Server) map[string]func() net.Conn {
	t.Helper()
	l, err := srv.Listen(fake.ListenOptions{})
	is.New(t).NoErr(err)
	return map[string]func() net.Conn{
		"socket": func() net.Conn {
			conn, err := net.Dial("tcp", strings.TrimPrefix(l.URL(), "http://"))
			is.New(t).NoErr(err)
			return conn
		},
		"in process": func() net.Conn {
			client, server := net.Pipe()
			go relayInProcess(srv, server)
			return client
		},
	}
}

// relayInProcess reads a request from conn, sends it through the server's Transport and copies data between conn and
// the connection in the response.
func relayInProcess(srv *fake.Server, conn net.Conn) {
	defer conn.Close()
	from := bufio.NewReader(conn)
	q, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	q.URL.Scheme, q.URL.Host, q.RequestURI = "http", q.Host, ""
	res, err := srv.Transport().RoundTrip(q)
	if err != nil {
		return
	}
	defer res.Body.Close()
	connection, upgraded := res.Body.(io.ReadWriteCloser)
	if !upgraded {
		_ = res.Write(conn)
		return
	}
	head := *res
	head.Body = nil
	if head.Write(conn) != nil {
		return
	}
	go func() {
		_, _ = io.Copy(connection, from)
		connection.Close()
	}()
	_, _ = io.Copy(conn, connection)
}

// upgrade opens a WebSocket at a path. res is the response to the handshake.
func upgrade(t *testing.T, dial func() net.Conn, path string, header http.Header, protocols ...string) (*websocket.Conn, *http.Response) {
	t.Helper()
	d := websocket.Dialer{Subprotocols: protocols, NetDial: func(string, string) (net.Conn, error) { return dial(), nil }}
	conn, res, _ := d.Dial("ws://127.0.0.1"+path, header)
	if conn != nil {
		t.Cleanup(func() { conn.Close() })
	}
	return conn, res
}

const watchPods = inPods + "?watch=1&timeoutSeconds=1&resourceVersion=0"

var origin = http.Header{"Origin": {"http://127.0.0.1"}}

func TestWatchOverWebSocket(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch())})
	c := client{t, srv}
	c.must("POST", inPods, `{"metadata":{"name":"web"},"spec":{`+oneContainer+`}}`)
	for name, dial := range carriers(t, srv) {
		for _, test := range []struct {
			accept, protocol string
			kind             int
			begins           string
		}{
			{"application/json", "", websocket.TextMessage, `{"type":"ADDED","object":{"kind":"Pod"`},
			{"application/json", "base64.binary.k8s.io", websocket.TextMessage, `{"type":"ADDED","object":{"kind":"Pod"`},
			{"application/vnd.kubernetes.protobuf", "anything", websocket.BinaryMessage, "\n\x05ADDED\x12"},
		} {
			t.Run(name+" "+test.accept+" "+test.protocol, func(t *testing.T) {
				is := is.New(t)
				header := origin.Clone()
				header.Set("Accept", test.accept)
				var protocols []string
				if test.protocol != "" {
					protocols = []string{test.protocol}
				}
				conn, res := upgrade(t, dial, watchPods, header, protocols...)
				is.Equal(res.StatusCode, http.StatusSwitchingProtocols)
				is.Equal(conn.Subprotocol(), test.protocol)
				kind, data, err := conn.ReadMessage()
				is.NoErr(err)
				is.Equal(kind, test.kind)
				is.True(strings.HasPrefix(string(data), test.begins)) // each event is a separate message
				srv.Clock.Advance(2 * time.Second)
				_, _, err = conn.ReadMessage()
				is.True(websocket.IsCloseError(err, websocket.CloseNormalClosure)) // the watch timed out
			})
		}
	}
}

// TestWatchOverWebSocketCloses checks that a client that closes the WebSocket ends the watch.
func TestWatchOverWebSocketCloses(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch())})
	for name, dial := range carriers(t, srv) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			conn, _ := upgrade(t, dial, watchPods, origin)
			is.NoErr(conn.WriteMessage(websocket.TextMessage, []byte("what a client says is ignored")))
			pong := make(chan string, 1)
			conn.SetPongHandler(func(text string) error { pong <- text; return nil })
			is.NoErr(conn.WriteControl(websocket.PingMessage, []byte("hey"), time.Time{}))
			is.NoErr(conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""), time.Time{}))
			_, _, err := conn.ReadMessage()
			is.True(websocket.IsCloseError(err, websocket.CloseNormalClosure)) // not the close code of the client
			is.Equal(<-pong, "hey")
		})
	}
}

func TestWebSocketHandshake(t *testing.T) {
	srv := fake.RunT(t, fake.Options{})
	for name, dial := range carriers(t, srv) {
		for _, test := range []struct {
			what, headers, status, body string
		}{
			{"no origin", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "403 Forbidden", ""},
			{"two protocols", "Origin: http://127.0.0.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: a, b\r\n",
				"400 Bad Request", ""},
			{"no key", "Origin: http://127.0.0.1\r\nSec-WebSocket-Version: 13\r\n", "400 Bad Request", "mismatch challenge/response"},
			{"another version", "Origin: http://127.0.0.1\r\nSec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
				"400 Bad Request", "missing or bad WebSocket Version"},
		} {
			t.Run(name+" "+test.what, func(t *testing.T) {
				is := is.New(t)
				conn := dial()
				defer conn.Close()
				_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n%s\r\n", watchPods, test.headers)
				is.NoErr(err)
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				is.NoErr(err)
				is.Equal(res.Status, test.status)
				body, err := io.ReadAll(res.Body)
				is.NoErr(err)
				is.Equal(string(body), test.body)
			})
		}
	}
}

func TestLogOverWebSocket(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1})
	c := client{t, srv}
	c.bound("count", strings.Replace(counting, "while true", "while [ $i -lt 3 ]", 1))
	srv.Clock.Advance(time.Second)
	for name, dial := range carriers(t, srv) {
		for _, follow := range []string{"", "?follow=true"} {
			for _, protocol := range []string{"", "binary.k8s.io", "base64.binary.k8s.io"} {
				t.Run(name+follow+" "+protocol, func(t *testing.T) {
					is := is.New(t)
					conn, res := upgrade(t, dial, inPods+"/count/log"+follow, nil, protocol)
					is.Equal(res.StatusCode, http.StatusSwitchingProtocols)
					is.Equal(conn.Subprotocol(), protocol)
					kind, data, err := conn.ReadMessage()
					is.NoErr(err)
					is.Equal(len(data), 0) // an empty message at the beginning of the connection
					text, encoded := "", protocol == "base64.binary.k8s.io"
					is.Equal(kind == websocket.TextMessage, encoded)
					srv.Clock.Advance(10 * time.Second)
					for {
						kind, data, err = conn.ReadMessage()
						if err != nil {
							break
						}
						is.Equal(kind == websocket.TextMessage, encoded)
						if encoded {
							data, err = base64.StdEncoding.DecodeString(string(data))
							is.NoErr(err)
						}
						text += string(data)
					}
					is.True(websocket.IsCloseError(err, websocket.CloseNormalClosure))
					is.True(strings.HasPrefix(text, "0\n"))
				})
			}
		}
		_, res := upgrade(t, dial, inPods+"/count/log", nil, "v4.channel.k8s.io")
		is.New(t).Equal(res.StatusCode, http.StatusForbidden) // a log has other subprotocols
	}
}

// TestExecInProcess checks that a session that is upgraded in process is the body of the response.
func TestExecInProcess(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1})
	c := client{t, srv}
	c.bound("web", `"containers":[{"name":"c","image":"nginx"}]`)
	srv.Clock.Advance(time.Second)
	conn, _ := upgrade(t, carriers(t, srv)["in process"], inPods+"/web/exec?stdout=true&command=echo&command=hi", nil, "v5.channel.k8s.io")
	out := codec.Text{}
	for {
		_, data, err := conn.ReadMessage()
		if err != nil {
			break
		}
		out = append(out, codec.PieceOf(data))
	}
	is.New(t).True(strings.Contains(string(out.Bytes()), "hi\n"))
}
