package fake

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// upgradeRequests are requests that upgrade their connection to the protocol of a session, so it is no longer an HTTP
// connection.
var upgradeRequests = []string{
	"exec?command=cat&stdin=1&stdout=1 HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n",
	"portforward HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n",
	"exec?command=cat&stdin=1&stdout=1 HTTP/1.1\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n",
	"portforward HTTP/1.1\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n",
}

// FuzzUpgrade sends arbitrary bytes on the connection of a session, over WebSocket and over SPDY. The server must
// survive them.
func FuzzUpgrade(f *testing.F) {
	for i := range upgradeRequests {
		f.Add(byte(i), []byte("\x81\x85\x00\x00\x00\x00\x00echo"))
		f.Add(byte(i), []byte("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff"))
		f.Add(byte(i), []byte("\x80\x03\x00\x01\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"))
		f.Add(byte(i), []byte("\x00\x00\x00\x01\x00\xff\xff\xffx"))
	}
	srv, err := New(Options{Nodes: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(srv.Close)
	l, err := srv.Listen(ListenOptions{})
	if err != nil {
		f.Fatal(err)
	}
	address := strings.TrimPrefix(l.URL(), "http://")
	const pods = "/api/v1/namespaces/default/pods"
	send(f, srv, "POST", pods, `{"metadata":{"name":"p"},"spec":{"nodeName":"node-1","containers":[{"name":"c","image":"i"}]}}`)
	srv.Clock.Advance(time.Minute)
	if !strings.Contains(send(f, srv, "GET", pods+"/p", ""), `"Running"`) {
		f.Fatal("the pod does not run after a minute")
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // enough for a busy machine
		head := "GET " + pods + "/p/" + upgradeRequests[int(which)%len(upgradeRequests)] + "Host: localhost\r\n\r\n"
		_, err = io.WriteString(conn, head)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(res, err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(data) // the server may close the connection
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
		send(t, srv, "GET", "/livez", "")
	})
}

// send sends a request in process and returns the body of the response.
func send(t testing.TB, srv *Server, method, path, body string) string {
	q, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := srv.Transport().RoundTrip(q)
	if err != nil || res.StatusCode > 299 {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
