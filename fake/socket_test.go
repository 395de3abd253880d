package fake

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/listen"
)

// listening serves a server on connections in memory until the end of the test. The returned function connects to it
// and sends a text.
func listening(t *testing.T) func(text string) net.Conn {
	s := RunT(t, Options{Clock: clock.System{}})
	socket := listen.NewMemory()
	if _, err := s.Listen(ListenOptions{Socket: socket}); err != nil {
		t.Fatal(err)
	}
	return func(text string) net.Conn {
		here, err := socket.DialContext(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { here.Close() })
		if _, err := io.WriteString(here, text); err != nil {
			t.Fatal(err)
		}
		return here
	}
}

// TestTimeouts checks that the server does not wait for a client that sends half a header, half a body or nothing more.
// A watch may stay open.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	const half = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
	for _, c := range []struct {
		what, sent string
		after      time.Duration
		said       string
	}{
		{"nothing", "", listen.HeaderTimeout, ""},
		{"half a header", "GET /version HTTP/1.1\r\nHost: local", listen.HeaderTimeout, ""},
		{"half a body", half, listen.BodyTimeout, "504 Gateway Timeout"},
		{"half a body that nobody reads", "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{", listen.BodyTimeout, "200 OK"},
		{"one request and no more", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", listen.IdleTimeout, "200 OK"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				began := time.Now()
				conn := listening(t)(c.sent)
				text, err := io.ReadAll(conn)
				is.NoErr(err)
				is.Equal(time.Since(began), c.after)
				is.True(strings.Contains(string(text), c.said))
			})
		})
	}
	t.Run("a watch", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			connect := listening(t)
			conn := connect("GET /api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=7200 HTTP/1.1\r\nHost: localhost\r\n\r\n")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			is.NoErr(err)
			time.Sleep(time.Hour) // in the bubble's time
			const body = `{"metadata":{"name":"a"}}`
			_, err = http.ReadResponse(bufio.NewReader(connect("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\n"+
				"Content-Type: application/json\r\nContent-Length: 25\r\n\r\n"+body)), nil)
			is.NoErr(err)
			line, err := bufio.NewReader(res.Body).ReadString('\n')
			is.NoErr(err)
			is.True(strings.HasPrefix(line, `{"type":"ADDED"`))
		})
	})
}
