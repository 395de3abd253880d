package fake_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// seedFlag replays one random test: go test ./fake -run TestName -seed N.
var seedFlag = flag.Uint64("seed", 0, "run random tests with this seed only")

// seeds runs a random test with several seeds. A failure prints the command that replays it.
func seeds(t *testing.T, n uint64, run func(t *testing.T, seed uint64)) {
	t.Helper()
	first, last := uint64(1), n
	if testing.Short() {
		last = max(1, n/4)
	}
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					name, _, _ := strings.Cut(t.Name(), "/")
					t.Logf("replay: go test ./fake -run '^%s$' -seed %d", name, seed)
				}
			}()
			run(t, seed)
		})
	}
}

// op is one request of a random list of operations.
type op struct{ method, path, contentType, body string }

func (o op) String() string { return o.method + " " + o.path + " " + o.body }

// randomKinds are the collections to which the random operations write. None of the objects in them delays its
// deletion.
var randomKinds = []string{
	"/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/kube-public/configmaps", "/api/v1/namespaces/default/secrets",
	"/apis/coordination.k8s.io/v1/namespaces/kube-public/leases", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
}

// randomLists are the lists that contain the objects of the random operations.
var randomLists = []string{
	"/api/v1/configmaps", "/api/v1/namespaces/default/configmaps", "/api/v1/secrets", "/apis/coordination.k8s.io/v1/leases",
	"/apis/rbac.authorization.k8s.io/v1/clusterroles",
}

const randomNames = 4 // objects in each collection

// randomOps returns n operations: creates, updates, patches, applies and deletes of only a few objects, so that many
// operations affect the same object. Some operations fail.
func randomOps(random *rand.Rand, n int) []op {
	ops := make([]op, n)
	for i := range ops {
		collection := randomKinds[random.IntN(len(randomKinds))]
		name := fmt.Sprint("o", random.IntN(randomNames))
		label := fmt.Sprint("l", random.IntN(2))
		labelled := fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":%q},"annotations":{"n":"%d"}}}`, name, label, i)
		switch path := collection + "/" + name; random.IntN(8) {
		case 0, 1, 2:
			ops[i] = op{"POST", collection, "application/json", labelled}
		case 3:
			ops[i] = op{"PUT", path, "application/json", labelled}
		case 4:
			ops[i] = op{"PATCH", path, "application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"app":%q,"p":"%d"}}}`, label, i%3)}
		case 5:
			ops[i] = op{"PATCH", path, "application/json-patch+json", fmt.Sprintf(`[{"op":"add","path":"/metadata/annotations","value":{"j":"%d"}}]`, i)}
		case 6:
			ops[i] = op{"PATCH", path, "application/strategic-merge-patch+json", `{"metadata":{"labels":{"app":null}}}`}
		default:
			ops[i] = op{"DELETE", path, "", ""}
		}
	}
	return ops
}

// run sends an operation and returns the code and the body of the response.
func (c client) run(o op) (int, string) {
	c.t.Helper()
	code, _, body := c.ask(o.method, o.path, o.contentType, "application/json", o.body)
	return code, body
}

// model is all writes, in order. Scanning them gives the contents of a list at any revision.
type model struct{ writes []write }

// write is one commit. obj is nil for a deletion.
type write struct {
	rev  uint64
	path string // of the object
	obj  object.Object
}

// note adds the effect of an operation, which it reads from the server's response.
func (m *model) note(c client, o op, code int, body string, before uint64) {
	c.t.Helper()
	now := c.srv.Revision()
	switch {
	case now == before: // the operation failed or changed nothing
		return
	case code >= 300 || now != before+1:
		c.t.Fatalf("%s: %d, and the revision went from %d to %d", o, code, before, now)
	case o.method == "DELETE":
		m.writes = append(m.writes, write{now, o.path, nil})
		return
	}
	obj, path := c.parse(body), o.path
	if o.method == "POST" {
		path += "/" + obj.Name()
	}
	if obj.ResourceVersion() != rev(now) {
		c.t.Fatalf("%s: the answer has revision %s, not %d", o, obj.ResourceVersion(), now)
	}
	m.writes = append(m.writes, write{now, path, obj})
}

// play sends operations and returns their effects.
func (c client) play(ops []op) *model {
	c.t.Helper()
	m := &model{}
	for _, o := range ops {
		before := c.srv.Revision()
		code, body := c.run(o)
		m.note(c, o, code, body, before)
	}
	return m
}

// inList reports whether the list at one path contains the object at another path. The path of the list may have no
// namespace.
func inList(list, path string) bool {
	if strings.HasPrefix(path, list+"/") {
		return true
	}
	at := strings.LastIndex(list, "/")
	rest, ok := strings.CutPrefix(path, list[:at]+"/namespaces/")
	parts := strings.Split(rest, "/")
	return ok && len(parts) == 3 && parts[1] == list[at+1:]
}

// at returns the objects of a list at a revision, each printed as an item, in the order of the list.
func (m *model) at(list string, rev uint64) []string {
	state := map[string]string{}
	for _, w := range m.writes {
		switch {
		case w.rev > rev || !inList(list, w.path):
		case w.obj == nil:
			delete(state, w.path)
		default:
			state[w.path] = item(w.obj)
		}
	}
	var items []string
	for _, path := range slices.Sorted(maps.Keys(state)) {
		items = append(items, state[path])
	}
	return items
}

// item prints an object in the form that lists use, without kind and apiVersion.
func item(obj object.Object) string {
	own := maps.Clone(obj)
	delete(own, "kind")
	delete(own, "apiVersion")
	return string(object.JSON(map[string]any(own)))
}

// list returns the items of a list, its revision and its continue token.
func (c client) list(path string) (items []string, rev, next string) {
	c.t.Helper()
	code, body := c.do("GET", path, "")
	if code != http.StatusOK {
		c.t.Fatalf("GET %s: %d %s", path, code, body)
	}
	list := c.parse(body)
	for _, x := range list.List("items") {
		items = append(items, item(x.(map[string]any)))
	}
	return items, list.ResourceVersion(), list.String("metadata", "continue")
}

// TestListsEqualModel checks that lists at every revision in the store equal those of a naive model.
func TestListsEqualModel(t *testing.T) {
	seeds(t, 5, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		begin := c.srv.Revision()
		m := c.play(randomOps(rand.New(rand.NewPCG(seed, 1)), 150))
		for at := begin; at <= c.srv.Revision(); at++ {
			for _, path := range randomLists {
				items, shown, _ := c.list(path + "?resourceVersionMatch=Exact&resourceVersion=" + rev(at))
				is.Equal(items, m.at(path, at)) // the state at the revision
				is.Equal(shown, rev(at))        // the list has this revision
			}
		}
	})
}

// TestCacheEqualsStore checks that a watch cache and the store have the same history.
func TestCacheEqualsStore(t *testing.T) {
	seeds(t, 3, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		random := rand.New(rand.NewPCG(seed, 2))
		begin := c.srv.Revision()
		m := c.play(randomOps(random, 60))
		cached := map[string]string{}
		end := c.srv.Revision()
		read := func(path string, at uint64) string {
			_, body := c.do("GET", path+"?resourceVersionMatch=Exact&resourceVersion="+rev(at), "")
			return body
		}
		for at := begin; at <= end; at++ {
			for _, path := range randomLists {
				cached[fmt.Sprint(path, at)] = read(path, at)
			}
		}
		for _, w := range m.writes {
			path := w.path + "?resourceVersion="
			_, fromCache := c.do("GET", path+"0", "")
			_, fromStore := c.do("GET", path, "")
			is.Equal(fromCache, fromStore) // a get of the newest state
		}
		c.srv.Clock.Advance(2 * time.Minute) // the events are then too old for the caches to grow for them
		c.play(randomOps(random, 1000))
		for at := begin; at <= end; at++ {
			for _, path := range randomLists {
				is.Equal(read(path, at), cached[fmt.Sprint(path, at)]) // the cache no longer has the revision, but the store does
			}
		}
	})
}

// TestPagesEqualList checks that pages of one object each, read during writes, together equal the list at the revision
// of the first page.
func TestPagesEqualList(t *testing.T) {
	seeds(t, 5, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		random := rand.New(rand.NewPCG(seed, 3))
		c.play(randomOps(random, 100))
		for _, path := range randomLists {
			whole, at, _ := c.list(path)
			var paged []string
			for token := ""; ; {
				items, shown, next := c.list(path + "?limit=1&continue=" + token)
				is.Equal(shown, at)      // every page has the same revision
				is.True(len(items) <= 1) // no longer than requested
				paged = append(paged, items...)
				if token = next; token == "" {
					break
				}
				c.play(randomOps(random, 5))
			}
			is.Equal(paged, whole)
		}
	})
}

// TestListEqualsWatch checks that a list equals the state of a client that has followed a watch.
func TestListEqualsWatch(t *testing.T) {
	seeds(t, 5, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		random := rand.New(rand.NewPCG(seed, 4))
		c.play(randomOps(random, 50))
		watches := map[string]*stream{}
		for _, path := range randomLists {
			watches[path] = c.open(path + "?watch=1")
		}
		c.play(randomOps(random, 200))
		c.srv.Close() // this ends the watches after all their events
		for _, path := range randomLists {
			state := map[string]string{}
			for _, e := range watches[path].rest() {
				obj := object.Object(e.Object)
				key := obj.Namespace() + "/" + obj.Name()
				if state[key] = item(obj); e.Type == "DELETED" {
					delete(state, key)
				}
			}
			var rebuilt []string
			for _, key := range slices.Sorted(maps.Keys(state)) {
				rebuilt = append(rebuilt, state[key])
			}
			items, _, _ := c.list(path)
			is.Equal(rebuilt, items)
		}
	})
}

// TestProtobufEqualsJSON checks that an object that is read in protobuf equals the object that is read in JSON: writing
// it back changes nothing.
func TestProtobufEqualsJSON(t *testing.T) {
	seeds(t, 2, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		m := c.play(randomOps(rand.New(rand.NewPCG(seed, 5)), 100))
		const proto = "application/vnd.kubernetes.protobuf"
		for _, w := range m.writes {
			code, before := c.do("GET", w.path, "")
			if code != http.StatusOK {
				continue
			}
			_, _, message := c.ask("GET", w.path, "", proto, "")
			code, _, after := c.ask("PUT", w.path, proto, "application/json", message)
			is.Equal(code, http.StatusOK)
			is.Equal(after, before) // the same object, at the same revision
		}
	})
}

// TestHTTPEqualsInProcess checks that the same operations produce the same bytes on two servers with the same seed, one
// in process and the other over a socket.
func TestHTTPEqualsInProcess(t *testing.T) {
	seeds(t, 2, func(t *testing.T, seed uint64) {
		is := is.New(t)
		inside, outside := fake.RunT(t, fake.Options{Seed: seed, Bare: true}), fake.RunT(t, fake.Options{Seed: seed, Bare: true})
		l, err := outside.Listen(fake.ListenOptions{})
		is.NoErr(err)
		n := 100
		if testing.Short() {
			n = 25
		}
		ops := randomOps(rand.New(rand.NewPCG(seed, 6)), n)
		for _, path := range slices.Concat(randomLists, []string{"/api", "/apis", "/api/v1", "/version", "/openapi/v3", "/healthz",
			"/nowhere", "/api/v1/nowhere", "/api/v1/pods/x", "/api/v1/namespaces//pods", "/apis//v1/pods", "//api/v1/pods", "/api/v1/pods?limit=x"}) {
			ops = append(ops, op{"GET", path, "", ""}, op{"HEAD", path, "", ""}, op{"OPTIONS", path, "", ""}, op{"DELETE", path, "", ""})
		}
		for i, o := range ops {
			direct := wire(t, inside.Transport(), inside.URL(), o)
			socket := wire(t, &http.Transport{DisableCompression: true, DisableKeepAlives: true}, l.URL(), o)
			if direct != socket {
				t.Fatalf("operation %d, %s:\n%s\nover HTTP:\n%s", i, o, direct, socket)
			}
		}
	})
}

// wire sends an operation and returns the response, without the parts that a connection adds.
func wire(t *testing.T, transport http.RoundTripper, url string, o op) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), o.method, url+o.path, strings.NewReader(o.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "metamorphic/1")
	if o.contentType != "" {
		r.Header.Set("Content-Type", o.contentType)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Date", "Content-Length", "Transfer-Encoding", "Connection"} {
		res.Header.Del(name)
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, res.Status)
	_ = res.Header.Write(&b) // writes into memory, sorted
	b.Write(body)
	return b.String()
}
