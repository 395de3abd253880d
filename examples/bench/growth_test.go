package bench

import (
	"context"
	encoding "encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var growth = flag.Bool("growth", false, "measure among up to 100,000 objects, and print how operations grow")

// TestGrowth compares the cost of operations with 1×, 10× and 100× objects. The exponent of growth is 0 if the cost does not depend
// on the number of objects, and 1 if it is proportional to it. Allocated bytes, which are exact, must not grow. Times are printed
// with -growth, which takes a few minutes.
//
// Objects that are created later are more scattered in memory, and a page of them takes up to a quarter longer, whatever the size
// of the world. Therefore times are measured in two worlds of each size, and the second ones are created in the opposite order.
func TestGrowth(t *testing.T) {
	scale, rounds := 100, 1
	if *growth {
		scale, rounds = 1000, 20
	}
	sizes := []*size{{objects: scale}, {objects: 10 * scale}, {objects: 100 * scale}}
	for _, s := range sizes {
		s.worlds = append(s.worlds, newWorld(t, s.objects, scale))
	}
	if *growth {
		for _, s := range slices.Backward(sizes) {
			s.worlds = append(s.worlds, newWorld(t, s.objects, scale))
		}
	}
	row := func(columns ...any) {
		if *growth {
			fmt.Printf("%-34v%14v%14v%14v%10v%10v %v\n", columns...)
		}
	}
	row("µs among this many objects", sizes[0].objects, sizes[1].objects, sizes[2].objects, "exponent", "of bytes", "")
	for _, o := range operations {
		times, bytes := []float64{math.Inf(1), math.Inf(1), math.Inf(1)}, make([]float64, 3)
		for range rounds {
			for i, s := range sizes {
				for _, w := range s.worlds {
					took, allocated := w.measure(o)
					times[i], bytes[i] = min(times[i], took), allocated
				}
			}
		}
		e, of, note := exponent(sizes, times), exponent(sizes, bytes), ""
		if e > exponentMax {
			note = "grows"
		}
		row(o.name, short(times[0]), short(times[1]), short(times[2]), fmt.Sprintf("%.2f", e), fmt.Sprintf("%.2f", of), note)
		if of > exponentMax {
			t.Errorf("%s: what is allocated grows with the number of objects: %.0f", o.name, bytes)
		}
	}
}

// size is a number of objects, and worlds with that many objects.
type size struct {
	objects int
	worlds  []*world
}

// exponentMax is the maximum of an exponent that should be 0.
const exponentMax = 0.1

func short(x float64) string { return fmt.Sprintf("%.1f", x) }

// exponent returns the slope of costs over numbers of objects on logarithmic scales.
func exponent(sizes []*size, costs []float64) float64 {
	var x, y, xx, xy float64
	for i, s := range sizes {
		a, b := math.Log(float64(s.objects)), math.Log(costs[i])
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	k := float64(len(sizes))
	return (k*xy - x*y) / (k*xx - x*x)
}

// operation is a measured operation.
type operation struct {
	name  string
	times int // number of calls in a round
	run   func(*world)
}

var operations = []operation{
	{"get", 200, func(w *world) { w.do("GET", configMaps+one, "", 200) }},
	{"list limit=1", 200, func(w *world) { w.do("GET", configMaps+"?limit=1", "", 200) }},
	{"list limit=1, all namespaces", 200, func(w *world) { w.do("GET", "/api/v1/configmaps?limit=1", "", 200) }},
	{"page (of 500 with -growth)", 5, func(w *world) { w.page(configMaps, "") }},
	{"page, all namespaces", 5, func(w *world) { w.page("/api/v1/configmaps", "") }},
	{"page, by a token", 5, func(w *world) { w.page(configMaps, "&continue="+w.token) }},
	{"page, with client-go", 5, func(w *world) { w.list(w.client) }},
	{"page, with client-go in protobuf", 5, func(w *world) { w.list(w.protobuf) }},
	{"last page", 5, func(w *world) { w.page(configMaps, "&continue="+w.last) }},
	{"page, of an old revision", 5, func(w *world) {
		w.page(configMaps, "&resourceVersionMatch=Exact&resourceVersion="+w.old)
	}},
	{"page custom resources", 5, func(w *world) { w.page(tasks, "") }},
	{"create", 50, func(w *world) { w.create(configMaps, "d") }},
	{"update", 50, func(w *world) { w.update(configMaps + one) }},
	{"create a custom resource", 50, func(w *world) { w.create(tasks, "d") }},
	{"delete", 50, func(w *world) {
		w.create(configMaps, "e")
		w.do("DELETE", fmt.Sprintf("%s/e%07d", configMaps, w.n), "", 200)
	}},
	{"watch, from the newest revision", 50, func(w *world) { w.send("GET", configMaps+"?watch=1&resourceVersion="+w.newest(), "").Body.Close() }},
	{"update, until 100 watches have it", 5, func(w *world) { w.fanOut() }},
}

// updates is the number of updates of a single object. They are measured last: with -growth the largest world has more events than
// the watch cache holds for one resource, at most 102,400, even if they are recent.
const updates = 3000

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	one        = "/c0000050"
	tasks      = "/apis/example.com/v1/namespaces/default/tasks"
	definition = `{"metadata":{"name":"tasks.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"kind":"Task","plural":"tasks"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"data":{"type":"object","additionalProperties":{"type":"string"}}}}}}]}}`
)

// world is a server with many objects.
type world struct {
	t                *testing.T
	server           http.RoundTripper
	client, protobuf kubernetes.Interface
	limit            int // page size
	n                int // number of the next object
	old              string
	token            string // of a page in the middle
	last             string // of the last page
	watches          []io.ReadCloser
}

// newWorld returns a server with some ConfigMaps and the same number of custom resources.
func newWorld(t *testing.T, objects, least int) *world {
	server := kubesim(t)
	w := &world{t: t, server: server, client: clientOf(server, json), protobuf: clientOf(server, protobuf), limit: least / 2}
	w.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition, 201)
	w.do("POST", "/api/v1/namespaces/kube-public/configmaps", `{"metadata":{"name":"elsewhere"}}`, 201)
	for range objects {
		w.create(configMaps, "c")
		w.n--
		w.create(tasks, "c")
	}
	w.old = w.read("").revision
	for range updates {
		w.update(configMaps + one)
	}
	for i := 0; ; i++ {
		p := w.read(w.last)
		if p.token == "" {
			break
		}
		if w.last = p.token; i == objects/least {
			w.token = p.token
		}
	}
	return w
}

// listed contains the fields of a page that the test needs.
type listed struct{ revision, token string }

// page requests a page.
func (w *world) page(path, more string) string {
	return w.do("GET", fmt.Sprintf("%s?limit=%d%s", path, w.limit, more), "", 200)
}

// list requests a page with a client.
func (w *world) list(c kubernetes.Interface) {
	l, err := c.CoreV1().ConfigMaps("default").List(w.t.Context(), metav1.ListOptions{Limit: int64(w.limit)})
	if err != nil || len(l.Items) != w.limit {
		w.t.Fatal(len(l.Items), err)
	}
}

// read requests the page with a token.
func (w *world) read(token string) listed { return w.metadata(w.page(configMaps, "&continue="+token)) }

// newest returns the newest revision.
func (w *world) newest() string {
	return w.metadata(w.do("GET", configMaps+"?limit=1", "", 200)).revision
}

func (w *world) metadata(text string) listed {
	var list struct {
		Metadata struct{ ResourceVersion, Continue string }
	}
	if err := encoding.Unmarshal([]byte(text), &list); err != nil {
		w.t.Fatal(err)
	}
	return listed{list.Metadata.ResourceVersion, list.Metadata.Continue}
}

func (w *world) create(path, prefix string) {
	w.n++
	body := fmt.Sprintf(`{"metadata":{"name":"%s%07d","labels":{"app":"web"}},"data":{"text":%q}}`, prefix, w.n, strings.Repeat("x", 300))
	if path == tasks {
		body = `{"apiVersion":"example.com/v1","kind":"Task",` + body[1:]
	}
	w.do("POST", path, body, 201)
}

func (w *world) update(path string) {
	w.n++
	w.do("PUT", path, fmt.Sprintf(`{"metadata":{"name":"c0000050"},"data":{"n":"%d"}}`, w.n), 200)
}

// fanOut updates an object that 100 watches include, and reads the resulting events.
func (w *world) fanOut() {
	if w.watches == nil {
		for range 100 {
			w.watches = append(w.watches, w.send("GET", configMaps+"?watch=1&resourceVersion="+w.newest(), "").Body)
		}
		w.t.Cleanup(func() {
			for _, body := range w.watches {
				body.Close()
			}
		})
	}
	w.update(configMaps + one)
	buffer := make([]byte, 1<<14)
	for _, body := range w.watches {
		if n, err := body.Read(buffer); err != nil || buffer[n-1] != '\n' {
			w.t.Fatal(n, err)
		}
	}
}

func (w *world) send(method, path, body string) *http.Response {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://kubesim.invalid"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := w.server.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return response
}

func (w *world) do(method, path, body string, code int) string {
	response := w.send(method, path, body)
	defer response.Body.Close()
	text := make([]byte, max(response.ContentLength, 0))
	if _, err := io.ReadFull(response.Body, text); err != nil || response.StatusCode != code {
		w.t.Fatalf("%s %s: %d %.300s %v", method, path, response.StatusCode, text, err)
	}
	return string(text)
}

// measure returns the time of an operation in microseconds, and the number of bytes that it allocates.
func (w *world) measure(o operation) (took, allocated float64) {
	o.run(w) // warm up
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range o.times {
		o.run(w)
	}
	took = float64(time.Since(begin).Nanoseconds()) / 1e3
	runtime.ReadMemStats(&after)
	return took / float64(o.times), float64(after.TotalAlloc-before.TotalAlloc) / float64(o.times)
}
