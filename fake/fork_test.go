package fake_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

// deed is one action on a server: a request, or a change of the simulator's state. It returns what the actor observes.
type deed func(a *actor) string

// actor performs deeds on a server and records the data that later deeds need.
type actor struct {
	t      *testing.T
	srv    *fake.Server
	tokens []string // continue tokens
	revs   []uint64
}

// at returns an actor that continues on another server.
func (a *actor) at(srv *fake.Server) *actor {
	return &actor{a.t, srv, slices.Clone(a.tokens), slices.Clone(a.revs)}
}

func (a *actor) do(deeds []deed) string {
	var all strings.Builder
	for i, d := range deeds {
		fmt.Fprintf(&all, "%d: %s\n", i, d(a))
		a.revs = append(a.revs, a.srv.Revision())
	}
	return all.String()
}

// ask sends a request to a replica and returns the complete response.
func (a *actor) ask(replica int, method, path, contentType, body string) string {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // nothing here has to wait
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, a.srv.ReplicaURL(replica)+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("User-Agent", "actor/v1")
	res, err := a.srv.Transport().RoundTrip(r)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	if strings.Contains(path, "watch=1") {
		a.srv.Clock.Advance(2 * time.Second) // past the timeout of the watch
	}
	data, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	if _, rest, ok := strings.Cut(string(data), `"continue":"`); ok {
		token, _, _ := strings.Cut(rest, `"`)
		a.tokens = append(a.tokens, token)
	}
	return fmt.Sprint(method, " ", path, " ", res.StatusCode, " ", res.Header, "\n", string(data))
}

const widgetDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer","default":3},"parts":{"type":"array","items":{"type":"string"}}}},
"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`

const namespaced = "/api/v1/namespaces/default/"

// deedWrites are the requests with which random deeds write. n is different each time.
var deedWrites = []func(n int) (method, path, contentType, body string){
	func(n int) (string, string, string, string) {
		return "POST", namespaced + "configmaps", "application/json", fmt.Sprintf(`{"metadata":{"generateName":"g-"},"data":{"n":"%d"}}`, n)
	},
	func(n int) (string, string, string, string) {
		return "PATCH", fmt.Sprint(namespaced, "configmaps/c", n%3, "?fieldManager=m", n%2, "&force=true"), "application/apply-patch+yaml",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"k%d":"%d"}}`, n%3, n%2, n)
	},
	func(n int) (string, string, string, string) {
		return "DELETE", fmt.Sprint(namespaced, "configmaps/c", n%3), "application/json", ""
	},
	func(n int) (string, string, string, string) {
		return "POST", namespaced + "services", "application/json", `{"metadata":{"generateName":"s-"},"spec":{"ports":[{"port":80}]}}`
	},
	func(n int) (string, string, string, string) {
		return "POST", namespaced + "events", "application/json", `{"metadata":{"generateName":"e-","namespace":"default"},"involvedObject":{"namespace":"default"}}`
	},
	func(n int) (string, string, string, string) {
		return "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", widgetDefinition
	},
	func(n int) (string, string, string, string) {
		return "PATCH", fmt.Sprint("/apis/example.com/v1/namespaces/default/widgets/w", n%2, "?fieldManager=m", "&force=true"),
			"application/apply-patch+yaml", fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d"},"spec":{"parts":["p%d"]}}`, n%2, n)
	},
	func(n int) (string, string, string, string) {
		if n%4 > 0 {
			return "DELETE", fmt.Sprint("/apis/example.com/v1/namespaces/default/widgets/w", n%2), "application/json", ""
		}
		return "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", "application/json", ""
	},
}

// randomDeeds returns n deeds. None of their requests has to wait: only replica 2 lags, and it is only asked for
// revisions that it has.
func randomDeeds(r *rand.Rand, n int) []deed {
	deeds := make([]deed, n)
	for i := range deeds {
		k, x := r.IntN(20), r.IntN(1000)
		deeds[i] = func(a *actor) string { return a.world(k-10, x) }
		if k < 8 {
			method, path, contentType, body := deedWrites[r.IntN(len(deedWrites))](x)
			deeds[i] = func(a *actor) string { return a.ask(1+x%5/4, method, path, contentType, body) }
		} else if k < 10 {
			deeds[i] = func(a *actor) string { return a.reads(x) }
		}
	}
	return deeds
}

// reads lists a page of a past state, or opens a watch that begins there. x selects the collection, the revision and
// the kind of request.
func (a *actor) reads(x int) string {
	rev := a.revs[x%len(a.revs)]
	collection := []string{namespaced + "configmaps", "/api/v1/services", "/apis/example.com/v1/widgets", "/api/v1/events"}[x%4]
	switch x / 4 % 4 {
	case 0:
		return a.ask(1, "GET", fmt.Sprint(collection, "?limit=1"), "", "")
	case 1:
		return a.ask(1, "GET", fmt.Sprint(collection, "?resourceVersionMatch=Exact&resourceVersion=", rev), "", "")
	case 2:
		if len(a.tokens) > 0 {
			return a.ask(1, "GET", fmt.Sprint(collection, "?limit=1&continue=", a.tokens[x%len(a.tokens)]), "", "")
		}
	}
	return a.ask(1+x%2, "GET", fmt.Sprint(collection, "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=", rev), "", "")
}

// world performs action k: it advances the clock, changes the state of a replica, compacts the store, or reads
// discovery or a list. It returns what the action observes.
func (a *actor) world(k, x int) string {
	two := a.srv.Replica(2)
	switch k {
	case 0:
		a.srv.Clock.Advance(time.Duration(x%100) * time.Second)
	case 1:
		a.srv.Clock.Advance(time.Duration(x%4) * 10 * time.Minute)
	case 2:
		two.Lag([][]string{nil, {"configmaps"}, {"services", "events"}}[x%3]...)
	case 3:
		two.Cut()
	case 4, 5:
		two.Resume()
	case 6:
		two.Restart()
	case 7:
		a.srv.Compact()
	case 8:
		return a.ask(1+x%2, "GET", []string{"/apis", "/api/v1", "/apis/example.com/v1"}[x%3], "", "")
	default:
		return a.ask(1+x%2, "GET", namespaced+"configmaps?resourceVersion=0", "", "")
	}
	return fmt.Sprint(two.State())
}

// begins returns an actor on a new server with two replicas and a few faults.
func begins(t *testing.T, seed uint64) *actor {
	t.Helper()
	replicas := make([]fake.ReplicaOptions, 2)
	if seed%2 == 0 {
		replicas[1].Version = "1.35"
	}
	srv := fake.RunT(t, fake.Options{Seed: seed, Replicas: replicas, Trace: 500})
	srv.Faults.Add(fault.On("patch", "*").Probability(0.2).Conflict(), fault.On("create", "events").Every(3).Internal())
	return &actor{t: t, srv: srv, revs: []uint64{srv.Revision()}}
}

// everything resumes replica 2 and returns the complete observable state of the server: its trace, its faults and the
// objects that both replicas return.
func everything(a *actor) string {
	a.srv.Replica(2).Resume()
	all := string(a.srv.Trace().JSONL()) + a.srv.Faults.String()
	for _, path := range []string{"/api/v1/namespaces", "/api/v1/configmaps", "/api/v1/services", "/apis/networking.k8s.io/v1/ipaddresses",
		"/api/v1/events", "/apis/example.com/v1/widgets",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis"} {
		all += a.ask(1, "GET", path, "", "") + a.ask(2, "GET", path, "", "")
	}
	return all
}

// TestFork checks that a fork responds to the same requests with the same bytes as the original server, and that
// requests to one do not affect the other. A server that is forked halfway reaches the same state as a server that is
// not forked.
func TestFork(t *testing.T) {
	t.Parallel()
	seeds(t, 4, func(t *testing.T, seed uint64) {
		is := is.New(t)
		r := rand.New(rand.NewPCG(seed, 1))
		before, after, other := randomDeeds(r, 80), randomDeeds(r, 60), randomDeeds(r, 40)
		plain := begins(t, seed)
		plain.do(before)
		var want string
		for from := 0; from < len(after); from += 20 {
			want += plain.do(after[from:][:20])
		}
		want += everything(plain)

		a := begins(t, seed)
		a.do(before)
		fork, stray := a.at(a.srv.Fork()), a.at(a.srv.Fork())
		var original, copied string
		for from := 0; from < len(after); from += 20 {
			stray.do(other)
			copied += fork.do(after[from:][:20])
			original += a.do(after[from:][:20])
		}
		stray.srv.Close()
		is.Equal(original+everything(a), want)
		a.srv.Close()
		is.Equal(copied+everything(fork), want)
	})
}

// TestForkAt checks that a fork at an older revision has the server's state at that time: its objects, its time and its
// random numbers.
func TestForkAt(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Bare: true})
	c := client{t, srv}
	create := func(c client) string {
		_, header, body := c.exchange("POST", mapsPath, `{"metadata":{"generateName":"x-"}}`)
		return fmt.Sprint(header, body)
	}
	create(c)
	rev := srv.Revision()
	at := srv.Clock.Now()
	srv.Clock.Advance(0)
	want := create(c) // not a second later: the creationTimestamp is the same
	srv.Clock.Advance(time.Minute)
	create(c)
	srv.Faults.Add(fault.On("*", "*").Unavailable())

	f, err := srv.ForkAt(rev)
	is.NoErr(err)
	is.Equal(f.Revision(), rev)
	is.Equal(f.Clock.Now(), at)
	is.Equal(create(client{t, f}), want) // the same name, uid and Audit-Id
	is.Equal(f.Revision(), rev+1)
	for _, rev := range []uint64{0, srv.Revision() + 1, 3999} {
		_, err = srv.ForkAt(rev)
		is.True(err != nil && strings.Contains(err.Error(), "the store has those from 4000 to 4007")) // the error lists the revisions of the store
	}
}

// TestForkTimers checks that a fork continues timed work: events expire, and deleted definitions are finalized.
func TestForkTimers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	c := client{t, srv}
	c.do("POST", namespaced+"events", `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"namespace":"default"}}`)
	c.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgetDefinition)
	widgets := "/apis/example.com/v1/namespaces/default/widgets"
	c.do("POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","finalizers":["a.b/c"]}}`)
	c.do("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", "")
	srv.Clock.Advance(2 * time.Second)
	past, err := srv.ForkAt(srv.Revision() - 1)
	is.NoErr(err)
	for _, f := range []*fake.Server{srv.Fork(), srv, past} {
		c := client{t, f}
		code, _ := c.do("GET", namespaced+"events/e", "")
		is.Equal(code, http.StatusOK)
		code, _, _ = c.ask("PATCH", widgets+"/w", "application/merge-patch+json", "", `{"metadata":{"finalizers":null}}`)
		is.Equal(code, http.StatusOK)
		f.Clock.Advance(7 * time.Second)
		code, _ = c.do("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", "")
		is.Equal(code, http.StatusNotFound)
		f.Clock.Advance(time.Hour)
		code, _ = c.do("GET", namespaced+"events/e", "")
		is.Equal(code, http.StatusNotFound)
	}
}

// TestForkSystemClock checks that a fork shares a clock that cannot be copied.
func TestForkSystemClock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	f := srv.Fork()
	client{t, f}.create("a")
	code, _ := client{t, srv}.do("GET", mapsPath+"/a", "")
	is.Equal(code, http.StatusNotFound)
	f.Close()
	client{t, srv}.create("a") // closing a fork does not affect the original server
}

// TestForkConcurrently checks that a server and its forks can be used concurrently, because they share only immutable
// data.
func TestForkConcurrently(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	n := 60
	if testing.Short() {
		n = 20
	}
	a := begins(t, 7)
	a.do(randomDeeds(r, n))
	done := make(chan string)
	actors := []*actor{a, a.at(a.srv.Fork()), a.at(a.srv.Fork())}
	deeds := randomDeeds(r, n)
	for _, x := range actors {
		go func() { done <- x.do(deeds) }()
	}
	first := <-done
	for range actors[1:] {
		if got := <-done; got != first {
			t.Error("a fork that is used beside others answers differently")
		}
	}
}
