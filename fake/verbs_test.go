package fake_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// TestEventsExpire checks that events are deleted an hour after their last write, and that watches see the deletion.
func TestEventsExpire(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	const events = "/api/v1/namespaces/default/events"
	for _, name := range []string{"a", "b"} {
		code, _ := c.do("POST", events, `{"metadata":{"name":"`+name+`"},"involvedObject":{"namespace":"default"}}`)
		is.Equal(code, http.StatusCreated)
	}
	w := c.open(events + "?watch=1&timeoutSeconds=7200&resourceVersion=" + rev(c.srv.Revision()))
	c.srv.Clock.Advance(59 * time.Minute)
	code, _, _ := c.ask("PATCH", events+"/b", "application/merge-patch+json", "", `{"count":2}`)
	is.Equal(code, http.StatusOK) // b was written again
	w.must("MODIFIED")
	c.srv.Clock.Advance(time.Minute)
	is.Equal(w.must("DELETED").Name(), "a") // an hour after its last write
	code, _ = c.do("GET", events+"/a", "")
	is.Equal(code, http.StatusNotFound)
	code, _ = c.do("GET", events+"/b", "")
	is.Equal(code, http.StatusOK) // the hour of b has begun again
	c.srv.Clock.Advance(59 * time.Minute)
	code, _ = c.do("GET", events+"/b", "")
	is.Equal(code, http.StatusNotFound)
}

// TestEventsExpireAfterReset checks that after a reset, an event is kept for an hour again, even if an event with the
// same name and revision existed before.
func TestEventsExpireAfterReset(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	const events = "/api/v1/namespaces/default/events"
	for _, wait := range []time.Duration{40 * time.Minute, 40 * time.Minute} {
		is.NoErr(c.srv.Reset())
		c.do("POST", events, `{"metadata":{"name":"a"},"involvedObject":{"namespace":"default"}}`)
		c.srv.Clock.Advance(wait)
		code, _ := c.do("GET", events+"/a", "")
		is.Equal(code, http.StatusOK)
	}
}

// TestGenerateNameUnique checks that generated names are unique.
func TestGenerateNameUnique(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	seen := map[string]bool{}
	for range 2000 {
		code, body := c.do("POST", configMaps, `{"metadata":{"generateName":"x-"}}`)
		is.Equal(code, http.StatusCreated)
		name := c.parse(body).Name()
		is.True(!seen[name]) // a new name
		seen[name] = true
	}
}

// TestDeleteCollection checks that a deletion of a collection deletes exactly the objects that a list with the same
// options returns.
func TestDeleteCollection(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	names := func() string {
		_, body := c.do("GET", configMaps, "")
		var all []string
		for _, x := range c.parse(body).List("items") {
			all = append(all, object.Object(x.(map[string]any)).Name())
		}
		return strings.Join(all, " ")
	}
	for i := range 6 {
		c.do("POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"c%d","labels":{"odd":"%d"}}}`, i, i%2))
	}
	for _, tt := range []struct{ query, left string }{
		{"dryRun=All", "c0 c1 c2 c3 c4 c5"},
		{"labelSelector=odd%3D1&limit=1", "c0 c2 c3 c4 c5"},
		{"labelSelector=odd%3D1", "c0 c2 c4"},
		{"fieldSelector=metadata.name%3Dc2", "c0 c4"},
		{"limit=1", "c4"},
		{"uid=&resourceVersion=", ""}, // no preconditions
	} {
		code, body := c.do("DELETE", configMaps+"?"+tt.query, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %s", tt.query, body)
		}
		is.Equal(names(), tt.left) // after a deletion with these options
	}
}

// TestFinalizers checks that an object with finalizers is kept until the last of them is removed, and that its
// dependents are not affected.
func TestFinalizers(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	code, body := c.do("POST", configMaps, `{"metadata":{"name":"owner","finalizers":["example.com/a","example.com/b"]}}`)
	is.Equal(code, http.StatusCreated)
	uid := c.parse(body).UID()
	reference := `{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"` + uid + `","blockOwnerDeletion":true}`
	code, _ = c.do("POST", configMaps, `{"metadata":{"name":"child","ownerReferences":[`+reference+`]}}`)
	is.Equal(code, http.StatusCreated)
	finalizers := func(list string) (int, string) {
		code, _, body := c.ask("PATCH", configMaps+"/owner", "application/merge-patch+json", "", `{"metadata":{"finalizers":`+list+`}}`)
		return code, body
	}

	code, body = c.do("DELETE", configMaps+"/owner?propagationPolicy=Foreground", "")
	is.Equal(code, http.StatusOK)
	deleting := c.parse(body)
	is.Equal(deleting.Finalizers(), []string{"example.com/a", "example.com/b", "foregroundDeletion"}) // the finalizer for the garbage collector is added
	is.True(deleting.DeletionTimestamp() != "")
	code, body = c.do("DELETE", configMaps+"/owner", "")
	is.Equal(code, http.StatusOK)
	is.Equal(c.parse(body).ResourceVersion(), deleting.ResourceVersion()) // a second deletion changes nothing
	code, _ = finalizers(`["example.com/a","example.com/c"]`)
	is.Equal(code, http.StatusUnprocessableEntity) // no finalizer can be added now
	code, body = c.do("POST", configMaps, `{"metadata":{"name":"owner"}}`)
	is.Equal(code, http.StatusConflict)
	is.True(strings.Contains(body, "object is being deleted")) // the name is still in use
	code, _ = finalizers(`["example.com/b"]`)
	is.Equal(code, http.StatusOK)
	code, _ = finalizers(`[]`)
	is.Equal(code, http.StatusOK)
	code, _ = c.do("GET", configMaps+"/owner", "")
	is.Equal(code, http.StatusNotFound) // removing the last finalizer has deleted the object
	_, body = c.do("GET", configMaps+"/child", "")
	is.Equal(len(c.parse(body).List("metadata", "ownerReferences")), 1) // a server without controllers collects no garbage
}

// TestDeleteTooLarge checks that an object of the maximum size cannot be deleted, because the deletion would make it
// larger. The error explains why.
func TestDeleteTooLarge(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	const pods = "/api/v1/namespaces/default/pods"
	create := func(n int) int {
		code, _ := c.do("POST", pods, fmt.Sprintf(`{"metadata":{"name":"p%d","managedFields":[{}]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","args":[%q]}]}}`,
			n, strings.Repeat("x", n)))
		return code
	}
	const limit = 1536 << 10 // of a request to etcd; the rest of the pod takes less than 4 KiB
	stored, refused := limit-4<<10, limit
	is.Equal(create(stored), http.StatusCreated)
	for refused-stored > 1 { // find the largest pod that is stored
		if n := (stored + refused) / 2; create(n) == http.StatusCreated {
			stored = n
		} else {
			refused = n
		}
	}
	code, body := c.do("DELETE", fmt.Sprint(pods, "/p", stored), "")
	is.Equal(code, http.StatusInternalServerError)
	is.True(strings.Contains(body, "request is too large"))
}

// TestHugeNumbers checks that numbers of any size in a query get a response, even if they overflow.
func TestHugeNumbers(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.create("a")
	for _, n := range []string{"9223372036854775807", "-9223372036854775808", "18446744073709551615", "1e400", "-1", "9999999999"} {
		for _, query := range []string{"limit=", "timeoutSeconds=", "watch=1&timeoutSeconds=", "watch=1&allowWatchBookmarks=1&timeoutSeconds=", "gracePeriodSeconds="} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", c.srv.URL()+configMaps+"?"+query+n, nil)
			is.NoErr(err)
			res, err := c.srv.Transport().RoundTrip(r)
			is.NoErr(err)
			is.True(res.StatusCode == http.StatusOK || res.StatusCode == http.StatusBadRequest) // there is a response
			c.srv.Clock.Advance(time.Minute)
			is.NoErr(res.Body.Close())
		}
		code, _ := c.do("DELETE", configMaps+"/nowhere?gracePeriodSeconds="+n, "")
		is.True(code == http.StatusNotFound || code == http.StatusBadRequest)
	}
}

// TestWaitingEnds checks that a request that waits when the server is reset or closed gets a response.
func TestWaitingEnds(t *testing.T) {
	for name, end := range map[string]func(*fake.Server){
		"reset": func(s *fake.Server) { _ = s.Reset() }, "close": func(s *fake.Server) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})}
				w := c.watch("&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&resourceVersion=999999")
				code := 0
				start := time.Now()
				go func() { code, _ = c.do("GET", configMaps+"?resourceVersion=999999", "") }()
				synctest.Wait()
				end(c.srv)
				synctest.Wait()
				is.Equal(code, http.StatusGatewayTimeout) // the read
				w.must("ERROR")                           // the watch that waits for its initial state
				_, ok := w.next()
				is.True(!ok)
				is.Equal(time.Since(start), time.Duration(0)) // at once
			})
		})
	}
}

// TestWatchEndsBeforeItBegins checks that a watch that has ended while it waited for its initial state never starts.
func TestWatchEndsBeforeItBegins(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	w := c.watch("&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=1&resourceVersion=" + rev(c.srv.Revision()+1))
	c.srv.Clock.Advance(time.Second)
	c.create("a") // the revision that the watch has waited for
	_, ok := w.next()
	is.True(!ok) // it has ended
}

// TestWatchOverNetwork checks that watches are streamed over HTTP/1.1 and HTTP/2, event by event.
func TestWatchOverNetwork(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("tls ", secure), func(t *testing.T) {
			is := is.New(t)
			c := client{t, fake.RunT(t)}
			l, err := c.srv.Listen(fake.ListenOptions{TLS: secure})
			is.NoErr(err)
			network := &http.Transport{ForceAttemptHTTP2: true}
			defer network.CloseIdleConnections()
			if secure {
				pool := x509.NewCertPool()
				is.True(pool.AppendCertsFromPEM(l.CA())) // the server's own certificate
				network.TLSClientConfig = &tls.Config{RootCAs: pool}
			}
			r, err := http.NewRequestWithContext(t.Context(), "GET", l.URL()+configMaps+"?watch=1", nil)
			is.NoErr(err)
			res, err := network.RoundTrip(r)
			is.NoErr(err)
			defer res.Body.Close()
			is.Equal(res.ProtoMajor == 2, secure) // HTTP/2 with TLS
			scan := bufio.NewScanner(res.Body)
			for i := range 20 {
				c.create(fmt.Sprint("c", i))
				is.True(scan.Scan()) // arrives before the next object is created
				var e event
				is.NoErr(json.Unmarshal(scan.Bytes(), &e))
				is.Equal(e.meta().Name(), fmt.Sprint("c", i))
			}
			c.srv.Close()
			is.True(!scan.Scan())
			is.NoErr(scan.Err()) // the stream ends without an error
		})
	}
}

// TestGzipOverNetwork checks that large responses are compressed for clients that accept gzip.
func TestGzipOverNetwork(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	l, err := c.srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	for i := range 3 {
		c.do("POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":%q}}`, i, strings.Repeat("x", 100<<10)))
	}
	_, plain := c.do("GET", configMaps, "")
	network := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	r, err := http.NewRequestWithContext(t.Context(), "GET", l.URL()+configMaps, nil)
	is.NoErr(err)
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := network.RoundTrip(r)
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.Header.Get("Content-Encoding"), "gzip")
	unzip, err := gzip.NewReader(res.Body)
	is.NoErr(err)
	body, err := io.ReadAll(unzip)
	is.NoErr(err)
	is.True(string(body) == plain) // the same list
}

// TestHeadAndOptions checks that HEAD is served only for documents, without a body. A resource supports neither HEAD
// nor OPTIONS.
func TestHeadAndOptions(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	code, header, body := c.exchange("HEAD", "/api/v1", "")
	is.Equal(code, http.StatusMethodNotAllowed)
	is.Equal(body, "")
	is.True(header.Get("Content-Type") != "")
	for _, method := range []string{"HEAD", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"} {
		for _, path := range []string{configMaps, configMaps + "/a", "/api/v1/namespaces/default/pods/p/exec", "/apis/apps/v1/deployments"} {
			code, _ := c.do(method, path, "")
			is.True(code == http.StatusMethodNotAllowed || code == http.StatusNotFound) // a response, but not a success
		}
	}
}

// TestGarbageOverNetwork checks that a connection that sends garbage after valid requests gets the responses to them
// and then 400. Headers without an end get 431.
func TestGarbageOverNetwork(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	l, err := c.srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	const get = "GET /api/v1/namespaces/default HTTP/1.1\r\nHost: localhost\r\n\r\n"
	is.Equal(c.raw(l, get+get+"\x00\x01 garbage\r\n\r\n"), []int{200, 200, 400})
	is.Equal(c.raw(l, "GET /version HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 2<<20)+"\r\n\r\n"), []int{431})
	is.Equal(c.raw(l, "POST "+configMaps+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Type: application/json\r\n\r\n{{{{{"+get), []int{400, 200})
	code, _ := c.do("GET", "/version", "")
	is.Equal(code, http.StatusOK) // other clients are not affected
}

// raw sends bytes over a separate connection and returns the codes of the responses.
func (c client) raw(l *fake.Listener, text string) []int {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(l.URL(), "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, bytes.NewReader([]byte(text))) // the server may close the connection before it has read everything
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	var codes []int
	for in := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return codes
		}
		_, _ = io.Copy(io.Discard, res.Body) // an incomplete body causes an error in the next response
		codes = append(codes, res.StatusCode)
	}
}
