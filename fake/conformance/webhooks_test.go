package conformance_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
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

// TestWebhooks sends random writes, with live webhooks, to a real API server at KUBESIM_TARGET and to a simulator, until
// KUBESIM_REQUESTS consecutive requests agree (default 2,000). It compares the responses, and the reviews that the webhooks
// receive, byte for byte. The webhooks listen on loopback with TLS, and the path in their configuration determines whether they
// respond correctly. Stories that differ are shrunk and saved below KUBESIM_OUT. KUBESIM_SEED is the seed of the first story. "make
// webhooks" runs it.
func TestWebhooks(t *testing.T) {
	url := os.Getenv("KUBESIM_TARGET")
	if url == "" {
		t.Skip("KUBESIM_TARGET is not set: there is no real API server to ask")
	}
	hooks := listenForReviews(t)
	minor := minorAt(t, url)
	tell := newStories(t)
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

// TestWebhookStories plays the stories below testdata/webhooks on a simulator. Its responses and reviews must equal those recorded
// from a real server. With KUBESIM_RECORD it first records the stories that have no recording yet, on the server at KUBESIM_TARGET.
func TestWebhookStories(t *testing.T) {
	hooks := listenForReviews(t)
	if url := os.Getenv("KUBESIM_TARGET"); url != "" && os.Getenv("KUBESIM_RECORD") != "" {
		recorded, err := conformance.Record(t.Context(), conformance.Target{URL: url, Token: os.Getenv("KUBESIM_TOKEN"), Seed: uint64(time.Now().UnixNano()),
			Transport: &eavesdropper{hooks: hooks, next: conformance.Network(os.Getenv("KUBESIM_INSECURE") != "")}}, "testdata")
		if t.Log("recorded", recorded); err != nil {
			t.Fatal(err)
		}
	}
	stories, err := conformance.Load(os.DirFS("testdata"), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stories {
		if step, difference := hooks.simulated(t, recordedMinor, 1, c); difference != "" {
			t.Errorf("%s %s: %s", c.ID(), c.Steps[step].Name, difference)
		}
	}
}

// recordedMinor is the minor version of the server with which the stories were recorded.
const recordedMinor = "1.36"

// reviewsPath is a path that the test harness serves itself: it returns the reviews that webhooks have received since the last
// request.
const reviewsPath = "/kubesim-reviews"

// eavesdropper is a transport to an API server that serves reviewsPath itself. It records the times of the requests to the real
// server, and advances the clock of a simulator to the recorded times, because the order of managedFields depends on the second in
// which they were written.
type eavesdropper struct {
	hooks *reviewers
	next  http.RoundTripper
	clock *clock.Manual // of a simulator; nil for the real server

	namespace string                 // of the story
	times     map[string][]time.Time // when the story asked what
}

// pace is the wait before each request to the real server, for its caches. settled is the additional wait after a change of the
// webhook configuration.
const pace, settled = 20 * time.Millisecond, 400 * time.Millisecond

// RoundTrip implements http.RoundTripper.
func (x *eavesdropper) RoundTrip(q *http.Request) (*http.Response, error) {
	if x.clock == nil {
		clock.System{}.Sleep(pace)
		if q.URL.Query().Has("settle") {
			clock.System{}.Sleep(settled)
		}
	}
	if q.Method == http.MethodPost && q.URL.Path == "/api/v1/namespaces" {
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
		return x.pass(q)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Request: q,
		Body: io.NopCloser(strings.NewReader(x.hooks.take()))}, nil
}

// pass forwards a request with the webhooks' address and certificates in place of hooksMark and bundleMark. In the response it
// restores the marks, so that a story and its recording do not depend on the run.
func (x *eavesdropper) pass(q *http.Request) (*http.Response, error) {
	if q.Body != nil {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		text := strings.NewReplacer(hooksMark, x.hooks.address, bundleMark, x.hooks.bundle).Replace(string(body))
		q = q.Clone(q.Context())
		q.Body, q.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
	res, err := x.next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	text := strings.NewReplacer(x.hooks.address, hooksMark, x.hooks.bundle, bundleMark).Replace(string(body))
	res.Body = io.NopCloser(strings.NewReader(text))
	return res, err
}

// hooksMark and bundleMark are placeholders in stories for the address of the webhooks and for the certificates to trust.
const hooksMark, bundleMark = "HOOKS", "BUNDLE"

// begin starts the story in the namespace that q creates. A story may create further namespaces; their names begin with that of the
// first one.
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
	if x.namespace != "" && strings.HasPrefix(made.Metadata.Name, x.namespace) {
		return nil
	}
	x.namespace, x.times = made.Metadata.Name, map[string][]time.Time{}
	x.hooks.take()
	if x.clock != nil {
		for key, at := range x.hooks.stories[x.namespace] { // order does not matter: it fills a map
			x.times[key] = slices.Clone(at)
		}
		return nil
	}
	x.hooks.mu.Lock()
	defer x.hooks.mu.Unlock()
	x.hooks.stories[x.namespace], x.hooks.converted[x.namespace] = x.times, map[string]bool{}
	return nil
}

// reviewers serves the webhooks of all stories and records the reviews that they receive.
//
//	/NAMESPACE/KIND/NAME/ANSWER   KIND is m (mutating), v (validating) or c (conversion); ANSWER is a key of answers
type reviewers struct {
	address, bundle string

	stories map[string]map[string][]time.Time // by namespace and request, the times at which the real server received it

	mu        sync.Mutex
	got       []review
	converted map[string]map[string]bool // by namespace, the reviews that the real server has sent to conversion webhooks
}

// review is a review that a webhook has received.
type review struct{ kind, name, text string }

func listenForReviews(t *testing.T) *reviewers {
	hooks := &reviewers{stories: map[string]map[string][]time.Time{}, converted: map[string]map[string]bool{}}
	far := httptest.NewUnstartedServer(http.HandlerFunc(hooks.serve))
	far.EnableHTTP2 = true
	far.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes are to fail
	far.StartTLS()
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw})
	hooks.address, hooks.bundle = far.Listener.Addr().String(), base64.StdEncoding.EncodeToString(bundle)
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
	if len(parts) == 5 {
		text := fmt.Sprintf("%s %s %s %s\n%s", q.Method, q.RequestURI, q.Header.Get("Content-Type"), q.Header.Get("Accept"), body)
		if kind == "c" {
			h.keepConversion(review{kind, name, text}, parts[1], q.Header.Get(simulator) != "")
		} else {
			h.keep(review{kind, name, text})
		}
	}
	answers[as](w, q, readAsked(body))
}

// simulator is the header that marks conversion reviews of a simulator.
const simulator = "Kubesim-Simulates"

func (h *reviewers) keep(r review) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, r)
}

// keepConversion records a conversion review of a simulator that the real server has not sent in the same story. Other conversion
// reviews are not compared, because the real server sends more of them, at any time: it also converts objects for its caches.
func (h *reviewers) keepConversion(r review, namespace string, simulated bool) {
	text := runs.ReplaceAllString(strings.ReplaceAll(r.text, namespace, "NS"), "X")
	h.mu.Lock()
	defer h.mu.Unlock()
	switch known := h.converted[namespace]; {
	case known == nil: // a recorded story
	case !simulated:
		known[text] = true
	case !known[text]:
		r.text = "not asked by the real server: " + r.text
		h.got = append(h.got, r)
	}
}

// runs matches the parts of reviews that differ between runs.
var runs = regexp.MustCompile(`[0-9a-f]{8}-[-0-9a-f]{27}|\d{4}-\d\d-\d\dT[0-9:]+Z|"resourceVersion":"\d+"`)

// take returns the reviews since the last call as text. Validating webhooks are called concurrently, so their consecutive reviews
// are sorted by name.
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

// marked is a transport that adds a header with the simulated minor version to each request.
type marked struct {
	minor string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (m marked) RoundTrip(q *http.Request) (*http.Response, error) {
	q.Header.Set(simulator, m.minor)
	return m.next.RoundTrip(q)
}

// simulated plays a story on a new simulator and returns the first step whose response differs, and the difference.
func (h *reviewers) simulated(t *testing.T, minor string, seed uint64, c conformance.Case) (step int, difference string) {
	t.Run(c.Name, func(t *testing.T) {
		now := clock.NewManual(time.Now().Add(-time.Hour)) // before the real server was asked
		srv := fake.RunT(t, fake.Options{Clock: now, Auth: auth.RBAC, NoControllers: true,
			Replicas: []fake.ReplicaOptions{{Version: minor}}})
		srv.AdmitThrough(srv.Network())
		srv.ConvertThrough(marked{minor, srv.Network()})
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

// texts returns the bodies of two responses. ok is false unless both are strings.
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

// shownMax is the number of bytes that are shown after the first difference.
const shownMax = 1500

// firstDifference returns the parts of two texts that surround their first difference.
func firstDifference(want, got string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	from := max(0, at-120)
	part := func(s string) string { return s[min(from, len(s)):min(len(s), at+shownMax)] }
	return fmt.Sprintf("at %d\n    want …%s…\n    got  …%s…", at, part(want), part(got))
}
