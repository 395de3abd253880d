package fake_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

var leavingSeed = flag.Uint64("leaving-seed", 1, "seed of TestClientsLeave")

// leaver is a client that writes to objects that no other client uses, and that often leaves before it gets a response.
// The state at the moment when it leaves is final: nothing is committed afterwards.
type leaver struct {
	client
	name string
	rand *rand.Rand
	stay func(*rand.Rand) time.Duration // how long the client waits for a response
	wait time.Duration                  // how long it then checks that nothing changes
}

// requests sends n requests, one after the other, and returns how many it abandoned.
func (l *leaver) requests(n int) (left int) {
	for range n {
		method, path, contentType, body := l.draw()
		ctx, cancel := context.WithTimeout(context.Background(), l.stay(l.rand))
		found := make(chan string, 1) // the state when the client leaves, read before the request returns
		forget := context.AfterFunc(ctx, func() { found <- l.state() })
		res, err := l.request(ctx, method, path, contentType, "", body)
		if err == nil {
			res.Body.Close()
			if !forget() {
				<-found
			}
			cancel()
			continue
		}
		before := <-found
		cancel()
		left++
		time.Sleep(l.wait)
		if after := l.state(); after != before {
			l.t.Errorf("%s %s was committed after its client had left:\n%s\n%s", method, path, before, after)
		}
	}
	return left
}

// draw returns a random request that calls a webhook or waits for a revision.
func (l *leaver) draw() (method, path, contentType, body string) {
	obj := admittedMaps + "/" + l.name
	frobber := fmt.Sprintf("%s/%s", frobbersV2, l.name)
	timeout := ""
	if l.rand.IntN(3) == 0 {
		timeout = fmt.Sprintf("?timeout=%dms", 1+l.rand.IntN(20000))
	}
	switch l.rand.IntN(9) {
	case 0, 1:
		return "POST", admittedMaps + timeout, "application/json", `{"metadata":{"name":"` + l.name + `"}}`
	case 2:
		return "PATCH", obj + timeout, "application/merge-patch+json", fmt.Sprintf(`{"data":{"k":"%d"}}`, l.rand.IntN(100))
	case 3:
		return "DELETE", obj + timeout, "", ""
	case 4:
		return "DELETE", admittedMaps + "?resourceVersion=99999999&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name=" + l.name, "", ""
	case 5:
		return "GET", admittedMaps + "?resourceVersion=99999999", "", ""
	case 6:
		return "POST", frobbersV2 + timeout, "application/json",
			`{"apiVersion":"example.com/v2","kind":"Frobber","metadata":{"name":"` + l.name + `"},"heightInInches":36}`
	case 7:
		return "PATCH", frobber + timeout, "application/merge-patch+json", fmt.Sprintf(`{"heightInInches":%d}`, 12*l.rand.IntN(9))
	}
	return "DELETE", frobber + timeout, "", ""
}

// state returns the client's own objects as stored. Neither of the two reads calls a webhook.
func (l *leaver) state() string {
	_, one := l.do("GET", admittedMaps+"/"+l.name, "")
	_, two := l.do("GET", frobbersV1+"/"+l.name, "")
	return one + two
}

// leaving starts a server whose webhooks take as long as pause returns. If pause returns a negative duration, they take
// until end is closed.
func leaving(t *testing.T, pause func() time.Duration, end <-chan struct{}) client {
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	c := client{t, srv}
	if err := srv.LoadData([]byte(frobbers)); err != nil {
		t.Fatal(err)
	}
	hang := func() {
		if d := pause(); d >= 0 {
			time.Sleep(d)
			return
		}
		<-end
	}
	c.webhook("Mutating", "first", `"failurePolicy":"Ignore",`)
	c.webhook("Validating", "second", "")
	for _, name := range []string{"first.example.com", "second.example.com"} {
		srv.Admit(name, func(review fake.AdmissionReview) fake.AdmissionReview {
			hang()
			review["response"] = map[string]any{"allowed": true}
			return review
		})
	}
	srv.ConvertThrough(hook{t, func(review object.Object) object.Object {
		hang()
		return converted(t, review)
	}})
	return c
}

// TestClientsLeave checks that nothing is committed after a client has left, the lock is released, and no goroutine
// remains, even if ten thousand clients leave at a random moment while webhooks are slow or hang.
func TestClientsLeave(t *testing.T) {
	n := 10000
	if testing.Short() {
		n = 300
	}
	const clients = 5
	t.Run("in virtual time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // fails if a goroutine remains
			end := make(chan struct{})
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(*leavingSeed, 0))
			c := leaving(t, func() time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(r.IntN(25000)-500) * time.Millisecond
			}, end)
			stay := func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(40000)) * time.Millisecond }
			leaveAll(t, c, clients, n/2, stay, time.Minute)
			close(end)
			time.Sleep(time.Minute) // until the slowest function ends
		})
	})
	t.Run("in real time", func(t *testing.T) {
		end := make(chan struct{})
		before := runtime.NumGoroutine()
		t.Run("requests", func(t *testing.T) {
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(*leavingSeed, 1))
			c := leaving(t, func() time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(r.IntN(300)-5) * time.Microsecond
			}, end)
			stay := func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(1000)) * time.Microsecond }
			leaveAll(t, c, clients, n/2, stay, 100*time.Microsecond)
			close(end)
		})
		for i := 0; runtime.NumGoroutine() > before && i < 100; i++ {
			time.Sleep(10 * time.Millisecond)
		}
		if after := runtime.NumGoroutine(); after > before {
			buf := make([]byte, 1<<20)
			t.Errorf("%d goroutines are left:\n%s", after-before, buf[:runtime.Stack(buf, true)])
		}
	})
}

// leaveAll sends n requests from several clients at the same time.
func leaveAll(t *testing.T, c client, clients, n int, stay func(*rand.Rand) time.Duration, wait time.Duration) {
	t.Helper()
	var group sync.WaitGroup
	left := make([]int, clients)
	for i := range clients {
		l := &leaver{c, fmt.Sprintf("own-%d", i), rand.New(rand.NewPCG(*leavingSeed, uint64(10+i))), stay, wait}
		group.Go(func() { left[i] = l.requests(n / clients) })
	}
	group.Wait()
	total := 0
	for _, k := range left {
		total += k
	}
	if total == 0 || total == n {
		t.Errorf("of %d requests %d were left: the test is about those that are and those that are not (-leaving-seed=%d)", n, total, *leavingSeed)
	}
	if code, _ := c.do("GET", admittedMaps, ""); code != http.StatusOK {
		t.Errorf("the server answers %d afterwards", code)
	}
}
