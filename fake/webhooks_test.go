package fake_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/conformance"
)

// TestWebhooks sends random writes that live webhooks stand behind to a real API server at KUBESIM_TARGET and to a simulator,
// until KUBESIM_REQUESTS requests in a row agree (2,000): the answers, and the reviews that the webhooks get, byte for byte.
// The webhooks listen on loopback with TLS, and answer as the path in their configuration says, rightly and wrongly. What
// differs is shrunk and saved below KUBESIM_OUT. KUBESIM_SEED is the first story. "make webhooks" runs it.
func TestWebhooks(t *testing.T) {
	url := os.Getenv("KUBESIM_TARGET")
	if url == "" {
		t.Skip("KUBESIM_TARGET is not set: there is no real API server to ask")
	}
	hooks := listenForReviews(t)
	minor := minorAt(t, url)
	tell := newStories(t, hooks)
	network := conformance.Network(os.Getenv("KUBESIM_INSECURE") != "")
	j := &journeys{
		real: conformance.Target{URL: url, Token: os.Getenv("KUBESIM_TOKEN"), Seed: uint64(time.Now().UnixNano()), Transport: network},
		wrap: func() http.RoundTripper { return &eavesdropper{hooks: hooks, next: network} },
		area: "webhooks", draw: tell.story, goal: numberFrom("KUBESIM_REQUESTS", 2000),
		play: func(t *testing.T, seed uint64, c conformance.Case) (int, string) {
			return hooks.simulated(t, minor, seed, c)
		},
		out: cmp.Or(os.Getenv("KUBESIM_OUT"), filepath.Join(os.TempDir(), "kubesim-webhooks")), began: time.Now(),
	}
	j.run(t, numberFrom("KUBESIM_SEED", 1))
}

// reviewsPath is answered by the harness itself: the reviews that webhooks got since it was asked last.
const reviewsPath = "/kubesim-reviews"

// eavesdropper is a transport to an API server that answers reviewsPath itself. It writes down when the real server is asked
// what, and moves the clock of a simulator there: managedFields are ordered by the second.
type eavesdropper struct {
	hooks *reviewers
	next  http.RoundTripper
	clock *clock.Manual // of a simulator; nil for the real server

	times map[string][]time.Time // when a namespace's story asked what
}

// pace is how long the differ waits for the real server's caches before each request, and settled how long it waits after a configuration changed.
const pace, settled = 20 * time.Millisecond, 400 * time.Millisecond

// RoundTrip implements http.RoundTripper.
func (x *eavesdropper) RoundTrip(q *http.Request) (*http.Response, error) {
	if x.clock == nil {
		clock.System{}.Sleep(pace)
		if q.URL.Query().Has("settle") {
			clock.System{}.Sleep(settled)
		}
	}
	if q.Method == http.MethodPost && q.URL.Path == "/api/v1/namespaces" && x.times == nil {
		if err := x.begin(q); err != nil {
			return nil, err
		}
	}
	key := q.Method + " " + q.URL.RequestURI()
	switch known := x.times[key]; {
	case x.clock == nil && x.times != nil:
		x.times[key] = append(known, time.Now())
	case x.clock != nil && len(known) > 0:
		x.clock.AdvanceTo(known[0])
		x.times[key] = known[1:]
	case x.clock != nil:
		x.clock.Advance(pace)
	}
	if q.URL.Path != reviewsPath {
		return x.next.RoundTrip(q)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Request: q,
		Body: io.NopCloser(strings.NewReader(x.hooks.take()))}, nil
}

// begin begins the story whose namespace q makes.
func (x *eavesdropper) begin(q *http.Request) error {
	body, err := q.GetBody()
	if err != nil {
		return err
	}
	defer body.Close()
	var made struct{ Metadata struct{ Name string } }
	if err := json.NewDecoder(body).Decode(&made); err != nil {
		return err
	}
	x.times = map[string][]time.Time{}
	if x.clock != nil {
		for key, at := range x.hooks.stories[made.Metadata.Name] { // order does not matter: it fills a map
			x.times[key] = slices.Clone(at)
		}
		return nil
	}
	x.hooks.stories[made.Metadata.Name] = x.times
	return nil
}

// reviewers serves the webhooks of all stories and keeps the reviews that it receives.
//
//	/NAMESPACE/KIND/NAME/ANSWER   KIND is m (mutating), v (validating) or c (conversion); ANSWER is a key of answers
type reviewers struct {
	address, bundle string

	stories map[string]map[string][]time.Time // by namespace, when the real server was asked what

	mu  sync.Mutex
	got []review
}

// review is what one webhook was sent.
type review struct{ kind, name, text string }

func listenForReviews(t *testing.T) *reviewers {
	hooks := &reviewers{stories: map[string]map[string][]time.Time{}}
	cert := issue(t, "127.0.0.1", time.Now().AddDate(10, 0, 0))
	hooks.address, hooks.bundle = fmt.Sprintf("127.0.0.1:%d", cert.listen(t, hooks.serve)), cert.ca
	return hooks
}

func (h *reviewers) serve(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	parts := strings.Split(q.URL.Path, "/")
	if err != nil || len(parts) < 5 {
		http.Error(w, "not a webhook of a story", http.StatusBadRequest)
		return
	}
	kind, name, as := parts[2], parts[3], parts[4]
	if kind != "c" && len(parts) == 5 { // conversions happen when caches want them, too
		h.mu.Lock()
		h.got = append(h.got, review{kind, name, fmt.Sprintf("%s %s %s %s\n%s", q.Method, q.RequestURI, q.Header.Get("Content-Type"),
			q.Header.Get("Accept"), body)})
		h.mu.Unlock()
	}
	answers[as](w, q, readAsked(body))
}

// take returns the reviews since the last time as text. Validating webhooks are asked at the same time: what they got one
// after the other is sorted.
func (h *reviewers) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := h.got
	h.got = nil
	for from := 0; from < len(got); from++ {
		to := from
		for to < len(got) && got[to].kind == "v" {
			to++
		}
		slices.SortStableFunc(got[from:to], func(a, b review) int { return strings.Compare(a.name, b.name) })
		from = max(from, to-1)
	}
	var b bytes.Buffer
	for _, r := range got {
		b.WriteString(r.text)
	}
	return b.String()
}

// simulated plays a story on a simulator of its own and returns the first step that differs, and how.
func (h *reviewers) simulated(t *testing.T, minor string, seed uint64, c conformance.Case) (step int, difference string) {
	t.Run(c.Name, func(t *testing.T) {
		now := clock.NewManual(time.Now().Add(-time.Hour)) // before the real server was asked
		srv := fake.RunT(t, fake.Options{Clock: now, Auth: auth.RBAC, NoControllers: true,
			Replicas: []fake.ReplicaOptions{{Version: minor}}})
		srv.AdmitThrough(srv.Network())
		srv.ConvertThrough(srv.Network())
		h.take()
		target := conformance.Target{URL: srv.URL(), Transport: &eavesdropper{hooks: h, next: srv.Transport(), clock: now}, Token: adminToken, Seed: seed}
		for i, r := range conformance.Run(t.Context(), target, c) {
			if !r.Agrees() {
				step, difference = i, fmt.Sprintf("%s %s: %s", r.Name, r.Target, strings.Join(r.Differences[:min(3, len(r.Differences))], "\n    "))
				if want, got, ok := texts(r.Want, r.Got); ok {
					difference = fmt.Sprintf("%s %s: %s", r.Name, r.Target, firstDifference(want, got))
				}
				break
			}
		}
	})
	return step, difference
}

// texts returns the bodies of two answers if they are texts.
func texts(want, got any) (a, b string, ok bool) {
	body := func(answer any) (string, bool) {
		o, ok := answer.(*conformance.Object)
		if !ok {
			return "", false
		}
		text, ok := o.Get("body").(string)
		return text, ok
	}
	a, ok = body(want)
	b, both := body(got)
	return a, b, ok && both
}

// firstDifference shows two texts around where they begin to differ.
func firstDifference(want, got string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	from := max(0, at-120)
	part := func(s string) string { return s[min(from, len(s)):min(len(s), at+200)] }
	return fmt.Sprintf("at %d\n    want …%s…\n    got  …%s…", at, part(want), part(got))
}
