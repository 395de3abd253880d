package fake_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

func rev(n uint64) string { return fmt.Sprint(n) }

func ExampleNew() {
	srv, err := fake.New()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	client := http.Client{Transport: srv.Transport()}
	res, err := client.Get(srv.URL() + "/api/v1/namespaces/default?pretty=true")
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	var lines [4]string
	data, _ := io.ReadAll(res.Body)
	copy(lines[:], strings.Split(string(data), "\n"))
	fmt.Println(strings.Join(lines[:], "\n"))
	// Output:
	// {
	//   "kind": "Namespace",
	//   "apiVersion": "v1",
	//   "metadata": {
}

// TestDeterminism checks that the same seed and the same requests give the same bytes, while another seed gives other
// names.
func TestDeterminism(t *testing.T) {
	is := is.New(t)
	play := func(seed uint64) string {
		c := client{t, fake.RunT(t, fake.Options{Seed: seed})}
		var all strings.Builder
		for _, r := range []struct{ method, path, body string }{
			{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"x-"},"data":{"b":"1","a":"2"}}`},
			{"POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`},
			{"DELETE", "/api/v1/namespaces/default/pods/p", ""},
			{"GET", "/api/v1/namespaces/default/configmaps", ""},
			{"GET", "/apis", ""},
		} {
			code, header, body := c.exchange(r.method, r.path, r.body)
			fmt.Fprintln(&all, code, header, body)
		}
		return all.String()
	}
	is.Equal(play(7), play(7))  // twice the same
	is.True(play(7) != play(8)) // another seed, other uids
}

// TestClose checks that Close ends watches and may be called twice, and that the server still responds afterwards.
func TestClose(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	w := c.watch("")
	c.srv.Close()
	c.srv.Close()
	_, ok := w.next()
	is.True(!ok) // the watch is over
	code, _ := c.do("GET", "/api/v1/namespaces/default", "")
	is.Equal(code, http.StatusOK)
}

// TestReset checks that Reset restores the initial state: the same writes get the same revisions again.
func TestReset(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	first := c.create("a")
	w := c.watch("")
	w.must("ADDED")
	is.NoErr(c.srv.Reset())
	_, ok := w.next()
	is.True(!ok) // open watches end
	again := c.create("a")
	is.Equal(again.ResourceVersion(), first.ResourceVersion())
	is.Equal(again.UID(), first.UID())
}

// TestExpire checks that after Expire, each request that continues from an earlier revision gets 410, wherever it is
// served.
func TestExpire(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	before := c.create("a").ResourceVersion()
	c.create("b")
	c.srv.Expire()
	status := c.watch("&resourceVersion=" + before).must("ERROR")
	is.Equal(status.String("reason"), "Expired") // to a watch
	code, _ := c.do("GET", "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion="+before, "")
	is.Equal(code, http.StatusGone) // to an exact read
}

// TestSlowReader checks that a watch whose client does not read is closed without an error event: it ends before the
// last event.
func TestSlowReader(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	slow := c.watch("")
	data := strings.Repeat("x", 4<<10)
	const writes = 2000
	for i := range writes {
		code, _ := c.do("POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":%q}}`, i, data))
		is.Equal(code, http.StatusCreated) // a slow reader delays no other client
	}
	n := 0
	for {
		e, ok := slow.next()
		if !ok {
			break
		}
		is.Equal(e.Type, "ADDED") // no error event
		n++
	}
	is.True(n > 100 && n < writes) // some events, but not all
}

// TestBadBodies checks that truncated and oversized bodies get the real server's errors.
func TestBadBodies(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	code, body := c.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"`)
	is.Equal(code, http.StatusBadRequest)
	is.True(strings.Contains(body, "unexpected end of JSON input"))
	code, body = c.do("POST", "/api/v1/namespaces/default/configmaps", strings.Repeat(" ", 4<<20))
	is.Equal(code, http.StatusRequestEntityTooLarge)
	is.True(strings.Contains(body, "limit is 3145728"))

	r, err := http.NewRequestWithContext(context.Background(), "POST", c.srv.URL()+"/api/v1/namespaces/default/configmaps",
		io.MultiReader(strings.NewReader(`{"metadata"`), broken{}))
	is.NoErr(err)
	res, err := c.srv.Transport().RoundTrip(r)
	is.NoErr(err)
	is.Equal(res.StatusCode, http.StatusInternalServerError) // an incomplete body causes no panic
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
