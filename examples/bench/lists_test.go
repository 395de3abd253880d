package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// TestLists measures lists of up to 4,500 pods, with -growth of up to 150,000. A list of all pods must grow with their number and no faster,
// in pages of 500 and in one stream, and the server must not hold a second copy of the pods while a client reads them. A list that selects 1
// in 1,000 pods must cost less than a list of all.
func TestLists(t *testing.T) {
	sizes := []int{500, 1500, 4500}
	if *growth {
		sizes = []int{1500, 15_000, 150_000}
	}
	var worlds []*podWorld
	for _, n := range sizes {
		worlds = append(worlds, newPodWorld(t, n))
	}
	row := func(columns ...any) {
		if *growth {
			fmt.Printf("%-34v%12v%12v%12v%10v%10v\n", columns...)
		}
	}
	row("ms for this many pods", sizes[0], sizes[1], sizes[2], "exponent", "of bytes")
	took := map[string]float64{} // with the most pods
	for _, l := range readings {
		times, bytes := make([]float64, len(sizes)), make([]float64, len(sizes))
		for i, w := range worlds {
			times[i], bytes[i] = w.measure(l)
		}
		took[l.name] = times[2]
		e, of := slope(sizes, times), slope(sizes, bytes)
		row(l.name, short(times[0]), short(times[1]), short(times[2]), fmt.Sprintf("%.2f", e), fmt.Sprintf("%.2f", of))
		if of > 1.05 {
			t.Errorf("%s: what is allocated grows faster than the number of pods: %.0f", l.name, bytes)
		}
	}
	for _, name := range []string{ofNode, ofLabel} {
		if all := took[inPages]; took[name] > all/4 {
			t.Errorf("%s takes %.2f ms, a list of all %.2f ms", name, took[name], all)
		}
	}
	stored := worlds[2].stored()
	for name, query := range map[string]string{"a list": "", "a stream": "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"} {
		held := worlds[2].held("/api/v1/pods" + query)
		row("MB held for "+name+", unread", "", "", short(held/1e6), "", "")
		if held > stored/5 {
			t.Errorf("while %s is not read, the server holds %.0f bytes for pods of %.0f bytes", name, held, stored)
		}
	}
	row("MB of all pods", "", "", short(stored/1e6), "", "")
}

// podWorld is a server with pods, of which 1 in 1,000 is on one node and has one label.
type podWorld struct {
	t      *testing.T
	server http.RoundTripper
	client kubernetes.Interface
	pods   int
}

func newPodWorld(t *testing.T, pods int) *podWorld {
	server := kubesim(t)
	w := &podWorld{t, server, clientOf(server, json), pods}
	for n := range pods {
		p := pod(n)
		p.Spec.NodeName = fmt.Sprint("node-", n%1000)
		p.Labels["app"] = fmt.Sprint("app-", n%1000)
		if _, err := w.client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// reading is a measured way to read pods.
type reading struct {
	name string
	read func(*podWorld) int // returns the number of pods
	want func(*podWorld) int
}

const (
	inPages = "pages of 500, with client-go"
	ofNode  = "of one node, with client-go"
	ofLabel = "with one label, with client-go"
)

var readings = []reading{
	{inPages, func(w *podWorld) int { return w.pages(metav1.ListOptions{Limit: 500}) }, (*podWorld).all},
	{"a stream, with client-go", (*podWorld).stream, (*podWorld).all},
	{ofNode, func(w *podWorld) int { return w.pages(metav1.ListOptions{FieldSelector: "spec.nodeName=node-7"}) }, (*podWorld).selected},
	{ofLabel, func(w *podWorld) int { return w.pages(metav1.ListOptions{LabelSelector: "app=app-7"}) }, (*podWorld).selected},
}

func (w *podWorld) all() int { return w.pods }

func (w *podWorld) selected() int { return (w.pods + 992) / 1000 } // 7, 1007, 2007, …

// pages reads a list page by page.
func (w *podWorld) pages(o metav1.ListOptions) (n int) {
	for {
		l, err := w.client.CoreV1().Pods("").List(w.t.Context(), o)
		if err != nil {
			w.t.Fatal(err)
		}
		n += len(l.Items)
		if o.Continue = l.Continue; o.Continue == "" {
			return n
		}
	}
}

// stream reads the state at the beginning of a watch, up to the bookmark that ends it.
func (w *podWorld) stream() (n int) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	stream, err := w.client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		w.t.Fatal(err)
	}
	defer stream.Stop()
	for e := range stream.ResultChan() {
		if e.Type == watch.Bookmark {
			break
		}
		n++
	}
	return n
}

// measure returns the time of a reading in milliseconds, which is the minimum of three rounds, and the number of bytes
// that it allocates.
func (w *podWorld) measure(r reading) (took, allocated float64) {
	is := is.New(w.t)
	took = math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		is.Equal(r.read(w), r.want(w))
		took = min(took, float64(time.Since(begin).Microseconds())/1e3)
		runtime.ReadMemStats(&after)
		allocated = float64(after.TotalAlloc - before.TotalAlloc)
	}
	return took, allocated
}

// held returns the number of bytes that the server holds after a client has read the beginning of a response.
func (w *podWorld) held(path string) float64 {
	before := live()
	body := w.get(path)
	defer body.Close()
	if _, err := body.Read(make([]byte, 1)); err != nil {
		w.t.Fatal(err)
	}
	return live() - before
}

// stored returns the size of a list of all pods in bytes.
func (w *podWorld) stored() float64 {
	body := w.get("/api/v1/pods")
	defer body.Close()
	n, err := io.Copy(io.Discard, body)
	if err != nil {
		w.t.Fatal(err)
	}
	return float64(n)
}

// get sends a request and returns the body of the response.
func (w *podWorld) get(path string) io.ReadCloser {
	q, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://kubesim.invalid"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := w.server.RoundTrip(q)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.Body
}

// live returns the size of all live objects in bytes.
func live() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// slope returns the slope of costs over sizes on logarithmic scales: 1 means that the costs are proportional to the
// sizes.
func slope(sizes []int, costs []float64) float64 {
	var all []*size
	for _, n := range sizes {
		all = append(all, &size{objects: n})
	}
	return exponent(all, costs)
}
