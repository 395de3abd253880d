package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// TestRunAgreesWithPlayback runs every case against its own recording, and checks that the runner itself causes no
// differences.
func TestRunAgreesWithPlayback(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	is.New(t).NoErr(err)
	cases = slices.DeleteFunc(cases, leftOut)
	Check(t, func(t *testing.T, c Case) Target {
		transport := inProcess{&playback{c: c}}
		return Target{URL: "http://playback", Transport: transport, Second: &Target{URL: "http://second", Transport: transport}}
	}, Options[*testing.T]{Cases: cases, Isolate: synctest.Test, Known: "# none"})
}

// leftOut reports whether a case is skipped: with -short, seven out of eight cases, selected by the length of their
// names.
func leftOut(c Case) bool { return testing.Short() && len(c.Name)%8 != 0 }

// TestRecordingsAgreeWithThemselves compares each recording with itself, also after normalising it again.
func TestRecordingsAgreeWithThemselves(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := Cases()
	is.NoErr(err)
	steps := map[string]int{}
	for _, c := range cases {
		one, two := newNormaliser("c-abcdefgh"), newNormaliser("c-abcdefgh")
		for _, s := range c.Steps {
			rec := c.Recorded(s.Name)
			is.True(rec != nil) // every step is recorded
			steps[c.Area]++
			if leftOut(c) {
				continue
			}
			is.Equal(difference(rec, Clone(rec), ""), nil) // a recording agrees with itself
			a, b := one.value(Clone(rec), "", ""), two.value(Clone(rec), "", "")
			is.Equal(difference(a, b, ""), nil) // and normalising is deterministic
		}
	}
	checkSteps(t, steps)
}

var update = flag.Bool("update", false, "write STEPS.md anew")

// checkSteps compares the number of steps of each area with STEPS.md, so that the loss of a step is noticed.
func checkSteps(t *testing.T, steps map[string]int) {
	t.Helper()
	is := is.New(t)
	text := []byte("# Recorded steps\n\nWritten by `go test ./sim/conformance -update`. Each is compared in process and over HTTP by `make conformance`,\n" +
		"which fails when one does not agree and is not listed in testdata/known_differences.txt.\n\n| area | steps |\n|---|---|\n")
	all := 0
	for _, area := range slices.Sorted(maps.Keys(steps)) {
		all += steps[area]
		text = fmt.Appendf(text, "| %s | %d |\n", area, steps[area])
	}
	text = fmt.Appendf(text, "| all | %d |\n", all)
	if *update {
		is.NoErr(os.WriteFile("STEPS.md", text, 0o600))
	}
	old, err := os.ReadFile("STEPS.md")
	is.NoErr(err)
	if !bytes.Equal(old, text) {
		t.Errorf("STEPS.md holds other counts than the recordings (of %d steps): after adding or taking away cases, run go test ./sim/conformance -update", all)
	}
}

// TestRecordingsAreAsRecordWritesThem checks that all recordings are in the format of Record.
func TestRecordingsAreAsRecordWritesThem(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := Cases()
	is.NoErr(err)
	for _, c := range slices.DeleteFunc(cases, leftOut) {
		text, err := embedded.ReadFile("testdata/cases/" + c.ID() + ".res")
		is.NoErr(err)
		if string(text) != string(c.text()) {
			t.Errorf("%s.res is not as Record would write it", c.ID())
		}
	}
}

// TestRecord checks that Record records a case, but not if the server's responses change.
func TestRecord(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Mkdir(dir+"/area", 0o755))
	write := func(name, text string) { is.NoErr(os.WriteFile(dir+"/area/"+name, []byte(text), 0o600)) }
	write("new.http", "# A title\n# @no-namespace\n\n### one\nGET /same\n")
	write("old.http", "# A title\n# @no-namespace\n\n### one\nGET /changes\n")
	write("old.res", "kept")
	calls := 0
	target := Target{URL: "http://x", Transport: inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"metadata": map[string]any{"uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", calls)}, "a": 1}
		if r.URL.Path == "/changes" {
			answer["calls"] = calls
		}
		is.NewRelaxed(t).NoErr(json.NewEncoder(w).Encode(answer))
	})}}
	done, err := Record(t.Context(), target, dir)
	is.NoErr(err)
	is.Equal(done, []string{"area/new"}) // only cases without a recording
	text, err := os.ReadFile(dir + "/area/new.res")
	is.NoErr(err)
	is.Equal(string(text), "### one\n{\n \"body\": {\n  \"a\": 1,\n  \"metadata\": {\n   \"uid\": \"<uid:1>\"\n  }\n },\n"+
		" \"headers\": {\n  \"content-type\": \"application/json\"\n },\n \"status\": 200\n}\n\n")
	is.NoErr(os.Remove(dir + "/area/old.res"))
	_, err = Record(t.Context(), target, dir)
	is.True(err != nil && strings.Contains(err.Error(), "one is not the same the second time: .body.calls: want 3, got 4"))
}

// TestTargetsAreSentByteForByte checks that unusual request targets are sent unchanged over a socket and in process.
func TestTargetsAreSentByteForByte(t *testing.T) {
	t.Parallel()
	targets := []string{
		"/api", "//api/v1", "/api/v1//namespaces", "/a%20b", "/%61", "/a%2Fb", "/%C3%A9", "/api?limit=%zz", "/%zz/x",
		"/a?", "/a?x=%3D,b&y=a+b", "/{a}", "/a;b", "/a/../b", "/a//",
	}
	var mu sync.Mutex
	var seen []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.RequestURI)
	})
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	for name, target := range map[string]Target{
		"socket":     {URL: srv.URL, Transport: srv.Client().Transport},
		"in process": {URL: "http://x", Transport: inProcess{handler}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			seen = nil
			for _, x := range targets {
				_, err := request{method: "GET", target: x}.send(context.Background(), target)
				is.NoErr(err)
			}
			want := slices.Clone(targets)
			if name == "socket" {
				want = slices.DeleteFunc(want, func(s string) bool { return s == "/%zz/x" }) // net/http itself responds with 400
			}
			is.Equal(seen, want) // the server has received the targets as written
		})
	}
}

// TestHeaders checks the default headers of a request, and headers that a step sets.
func TestHeaders(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var got http.Header
	target := Target{URL: "http://x", Token: "t0", Transport: inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
	})}}
	_, err := request{method: "GET", target: "/"}.send(context.Background(), target)
	is.NoErr(err)
	is.Equal(got.Get("Accept"), "application/json")  // JSON unless the step sets another value
	is.Equal(got.Get("User-Agent"), "conform/v1.0")  // as recorded
	is.Equal(got.Get("Authorization"), "Bearer t0")  // the target's token
	is.Equal(got.Get("Accept-Encoding"), "identity") // no compression unless requested
	_, err = request{method: "GET", target: "/", headers: []Header{{"authorization", ""}, {"Accept", "*/*"}}}.send(context.Background(), target)
	is.NoErr(err)
	is.Equal(got.Values("Authorization"), []string{""}) // an empty value is sent
	is.Equal(got.Values("Accept"), []string{"*/*"})     // a step's header replaces the default
}

// manual is a server whose responses wait for a clock that only the test advances.
type manual struct {
	mu      sync.Mutex
	now     time.Duration
	waiting map[time.Duration][]chan struct{}
}

func (m *manual) Advance(d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += d
	for at, chans := range m.waiting {
		if at <= m.now {
			for _, c := range chans {
				close(c)
			}
			delete(m.waiting, at)
		}
	}
	return true
}

func (m *manual) after(d time.Duration) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := make(chan struct{})
	m.waiting[m.now+d] = append(m.waiting[m.now+d], c)
	return c
}

// ServeHTTP responds to /slow after 3 s and streams one event per second on /watch.
func (m *manual) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/slow" {
		<-m.after(3 * time.Second)
		io.WriteString(w, "{}")
	}
	for r.URL.Path == "/watch" && r.Context().Err() == nil {
		io.WriteString(w, "{}\n")
		select {
		case <-m.after(time.Second):
		case <-r.Context().Done():
		}
	}
}

// TestAdvanceDrivesAManualClock checks that the runner advances the clock exactly as far as the request needs.
func TestAdvanceDrivesAManualClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := &manual{waiting: map[time.Duration][]chan struct{}{}}
		target := Target{URL: "http://x", Transport: inProcess{m}, Advance: m.Advance, Settle: synctest.Wait}
		e, err := request{method: "GET", target: "/slow"}.send(context.Background(), target)
		is.NoErr(err)
		is.Equal(string(e.body), "{}") // the response arrived
		is.Equal(m.now, 3*time.Second) // at the expected time
		e, err = request{method: "GET", target: "/watch", watch: &Watch{Events: 9, Within: 2500 * time.Millisecond}}.send(context.Background(), target)
		is.NoErr(err)
		is.Equal(len(e.events.Items), 3)       // at 0, 1 and 2 s
		is.Equal(e.ended, false)               // the runner ended the watch, not the server
		is.Equal(m.now, 5500*time.Millisecond) // 2.5 s later
		target.sleep(time.Second)
		is.Equal(m.now, 6500*time.Millisecond) // @sleep also advances the clock
	})
}

// TestServerEndsAWatch checks that a stream that the server closes counts as ended.
func TestServerEndsAWatch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	target := Target{URL: "http://x", Transport: inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "{}\n\n{}\n")
	})}}
	e, err := request{method: "GET", target: "/", watch: &Watch{Events: 9, Within: time.Minute}}.send(context.Background(), target)
	is.NoErr(err)
	is.Equal(len(e.events.Items), 2) // an empty line is not an event
	is.True(e.ended)                 // the server ended it
}

// TestTarget runs the cases against the server at KUBESIM_TARGET, with KUBESIM_TOKEN. KUBESIM_INSECURE=1 accepts any
// certificate, KUBESIM_AREA selects areas (helm,gitops), and KUBESIM_SECOND is another server over the same store. With
// KUBESIM_RECORD=1, it instead records the cases that have no recording. With KUBESIM_LIFE=1, it plays situations,
// against a server with running controllers; with KUBESIM_SCHEDULED=1, the situations with a scheduler. See "make conformance-real" and "make life-real".
func TestTarget(t *testing.T) {
	url := os.Getenv("KUBESIM_TARGET")
	if url == "" {
		t.Skip("KUBESIM_TARGET is not set")
	}
	target := Target{
		URL: url, Token: os.Getenv("KUBESIM_TOKEN"), Seed: uint64(time.Now().UnixNano()),
		Transport: Network(os.Getenv("KUBESIM_INSECURE") != ""),
	}
	if version, err := (request{method: "GET", target: "/version"}).send(context.Background(), target); err == nil {
		var v struct{ Major, Minor string }
		_ = json.Unmarshal(version.body, &v) // if the server has no version, all cases run
		target.Minor = strings.Trim(v.Major+"."+v.Minor, ".")
	}
	if os.Getenv("KUBESIM_LIFE") != "" {
		lifeOf(t, target)
		return
	}
	if second := os.Getenv("KUBESIM_SECOND"); second != "" {
		target.Second = &Target{URL: second, Transport: target.Transport}
	}
	clock, err := request{method: "GET", target: "/sim/v1/clock"}.send(context.Background(), target)
	if err != nil {
		t.Fatalf("KUBESIM_TARGET does not answer: %v", err)
	}
	if beta, err := (request{method: "GET", target: "/apis/certificates.k8s.io/v1beta1"}).send(context.Background(), target); err == nil {
		target.DefaultAPI = beta.status != http.StatusOK
	}
	if groups, err := (request{method: "GET", target: "/apis/scheduling.k8s.io"}).send(context.Background(), target); err == nil {
		target.NoWorkloads = !regexp.MustCompile(`/v1(alpha|beta)\d`).Match(groups.body)
	}
	if ranges, err := (request{method: "GET", target: "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"}).send(context.Background(), target); err == nil {
		target.SingleStack = !strings.Contains(string(ranges.body), "fd00::/112")
	}
	target.NoControl = clock.status != http.StatusOK // a real server
	if os.Getenv("KUBESIM_RECORD") != "" {
		done, err := Record(t.Context(), target, "testdata/cases")
		t.Logf("recorded %q", done)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var areas []string
	if wanted := os.Getenv("KUBESIM_AREA"); wanted != "" {
		areas = strings.Split(wanted, ",")
	}
	Check(t, func(*testing.T, Case) Target { return target }, Options[*testing.T]{Workers: 8, Areas: areas})
}

// lifeOf plays the situations against a server, or records the situations that have no recording.
func lifeOf(t *testing.T, target Target) {
	t.Helper()
	workers := lifeWorkers
	if target.Scheduled = os.Getenv("KUBESIM_SCHEDULED") != ""; target.Scheduled {
		workers = 1
	}
	if os.Getenv("KUBESIM_RECORD") != "" {
		done, err := RecordLife(t.Context(), target, "testdata/life", workers)
		t.Logf("recorded %q", done)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	cases, err := LifeCases()
	if err != nil {
		t.Fatal(err)
	}
	target.tidy = true
	Check(t, func(*testing.T, Case) Target { return target },
		Options[*testing.T]{Cases: cases, Known: LifeDifferences(), Play: RunLife, Workers: workers})
}

// lifeWorkers is the number of situations that are played concurrently.
const lifeWorkers = 8
