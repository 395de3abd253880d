package conformance_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/conformance"
)

// TestJourneys sends variations of the recorded cases to a real API server at KUBESIM_TARGET and to a simulator, area by area,
// until KUBESIM_REQUESTS consecutive responses agree (default 20,000). Cases that differ are shrunk and saved below KUBESIM_OUT
// with the real server's responses, as candidates for recordings. KUBESIM_AREA lists areas (helm,gitops), and KUBESIM_SEED is the
// seed of the first variation. "make journeys" runs it.
func TestJourneys(t *testing.T) {
	url := os.Getenv("KUBESIM_TARGET")
	if url == "" {
		t.Skip("KUBESIM_TARGET is not set: there is no real API server to ask")
	}
	all, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	minor := minorAt(t, url)
	wanted := strings.FieldsFunc(os.Getenv("KUBESIM_AREA"), func(r rune) bool { return r == ',' })
	donors := slices.DeleteFunc(all, func(c conformance.Case) bool {
		return c.NoNamespace || c.NeedsControl() || c.NeedsSecond() || c.Minor() != "" && c.Minor() != minor
	})
	byArea := map[string][]conformance.Case{}
	for _, c := range donors {
		byArea[c.Area] = append(byArea[c.Area], c)
	}
	for _, area := range slices.Sorted(maps.Keys(byArea)) {
		if len(wanted) > 0 && !slices.Contains(wanted, area) {
			continue
		}
		cases := byArea[area]
		j := &journeys{
			real: conformance.Target{URL: url, Token: os.Getenv("KUBESIM_TOKEN"), Seed: uint64(time.Now().UnixNano()),
				Transport: conformance.Network(os.Getenv("KUBESIM_INSECURE") != "")},
			area: area, draw: func(seed int) conformance.Case { return varied(cases[seed%len(cases)], uint64(seed), donors) },
			play: func(t *testing.T, seed uint64, c conformance.Case) (int, string) { return simulated(t, minor, seed, c) },
			goal: numberFrom("KUBESIM_REQUESTS", 20000),
			out:  cmp.Or(os.Getenv("KUBESIM_OUT"), filepath.Join(os.TempDir(), "kubesim-journeys")), began: time.Now(),
		}
		t.Run(area, func(t *testing.T) { j.run(t, numberFrom("KUBESIM_SEED", 1)) })
	}
}

// minorAt returns the minor version of a server.
func minorAt(t *testing.T, url string) string {
	var version struct{ Major, Minor string }
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := conformance.Network(os.Getenv("KUBESIM_INSECURE") != "").RoundTrip(q)
	if err == nil {
		defer res.Body.Close()
		err = json.NewDecoder(res.Body).Decode(&version)
	}
	if err != nil {
		t.Fatalf("KUBESIM_TARGET says no version: %v", err)
	}
	return version.Major + "." + version.Minor
}

func numberFrom(env string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(env))
	if err != nil {
		return otherwise
	}
	return n
}

// journeys plays the variations of one area's cases, one at a time: in parallel, they would see each other's revisions and policies
// on the real server.
type journeys struct {
	real  conformance.Target
	wrap  func() http.RoundTripper // creates the transport of one case. If nil, the case uses the transport of real.
	area  string
	draw  func(seed int) conformance.Case
	play  func(t *testing.T, seed uint64, c conformance.Case) (step int, difference string) // on a simulator: the first step that differs
	goal  int
	out   string
	began time.Time

	asked    uint64   // number of cases sent to the real server, each in another namespace
	row      int      // answers in a row that agree
	agree    int      // answers that agree
	unstable int      // responses that differ between two runs on the real server
	late     int      // responses that agree once the real server's controllers and caches have caught up
	differ   []string // what differs, a line each
	said     time.Time
	silent   int // consecutive variations without any response
}

// silentMax is the number of consecutive variations without any response after which the real server is considered down.
const silentMax = 20

// maxDifferent is the number of variations that differ after which an area ends, because these differences should be fixed first.
const maxDifferent = 20

func (j *journeys) run(t *testing.T, seed int) {
	for ; j.row < j.goal && len(j.differ) < maxDifferent; seed++ {
		j.compare(t, j.draw(seed))
		if time.Since(j.said) > 10*time.Second {
			j.said = time.Now()
			fmt.Printf("%s: %d of %d in a row, %d differ, %d unstable, %d late, variation %d, %s\n",
				j.area, j.row, j.goal, len(j.differ), j.unstable, j.late, seed, time.Since(j.began).Round(time.Second))
		}
	}
	t.Logf("%s: %d answers agree, %d in a row at the end, %d differ, %d not the same twice on the real server, %d late there, %s",
		j.area, j.agree, j.row, len(j.differ), j.unstable, j.late, time.Since(j.began).Round(time.Second))
	for _, line := range j.differ {
		t.Error(line)
	}
}

// ask plays a case on the real server, in a namespace that no other case has used. It returns the case with the recorded responses,
// and its seed.
func (j *journeys) ask(t *testing.T, c conformance.Case) (conformance.Case, uint64) {
	target := j.real
	if j.wrap != nil {
		target.Transport = j.wrap()
	}
	j.asked++
	target.Seed += j.asked
	return conformance.Ask(t.Context(), target, c), target.Seed
}

// settle waits until no client writes to the real server: until two lists, 200 ms apart, have the same revision.
func (j *journeys) settle(t *testing.T) {
	client := http.Client{Transport: j.real.Transport}
	for before := ""; ; time.Sleep(200 * time.Millisecond) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, j.real.URL+"/api/v1/nodes?limit=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+j.real.Token)
		res, err := client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Metadata struct{ ResourceVersion string }
		}
		err = json.NewDecoder(res.Body).Decode(&list)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if list.Metadata.ResourceVersion == before {
			return
		}
		before = list.Metadata.ResourceVersion
	}
}

// compare plays one variation on both servers and records the result.
func (j *journeys) compare(t *testing.T, c conformance.Case) {
	c, seed := j.ask(t, c)
	if j.silent++; len(c.Steps) > 0 {
		j.silent = 0
	}
	if j.silent > silentMax {
		t.Fatalf("%s: the real server at %s answers nothing", c.ID(), j.real.URL)
	}
	step, difference := j.play(t, seed, c)
	if difference != "" {
		stable := c
		for range 2 {
			j.settle(t)
			again, _ := j.ask(t, c)
			stable = stable.Until(again)
		}
		j.unstable += len(c.Steps) - len(stable.Steps)
		c = stable
		step, difference = j.play(t, seed, c)
	}
	if difference != "" && j.lags(t, c, step) {
		c.Steps, difference = c.Steps[:step], ""
		j.late++
	}
	if difference == "" {
		j.agree += len(c.Steps)
		j.row += len(c.Steps)
		return
	}
	c.Steps = c.Steps[:step+1]
	whole, why := c, difference
	fmt.Printf("%s %s\n    to be shrunk, which takes a while\n", c.ID(), difference)
	shrunk(c, 40, func(less conformance.Case) bool {
		j.settle(t)
		one, seed := j.ask(t, less)
		two, _ := j.ask(t, less)
		one = one.Until(two)
		at, text := j.play(t, seed, one)
		if text != "" {
			one.Steps = one.Steps[:at+1]
			c, difference = one, text
		}
		return text != ""
	})
	if j.lags(t, c, len(c.Steps)-1) { // the shrunk case shows another difference
		c, difference = whole, why
	}
	j.agree += step
	j.row = 0
	j.differ = append(j.differ, c.ID()+" "+difference+"\n    "+c.Title)
	fmt.Println(j.differ[len(j.differ)-1])
	if err := conformance.Save(j.out, c); err != nil {
		t.Error(err)
	}
}

// The delays for the real server if a difference may be due to its lag: before each step for its controllers and watches, and before
// the last step for its slowest cache, that of authenticated tokens.
const (
	paceEach = 1500 * time.Millisecond
	paceLast = 11 * time.Second
)

// lags reports whether a difference at a step is due to the lag of the real server: whether both servers agree up to that step if
// the real server gets time to complete earlier requests. Examples are a definition that is being deleted, a policy that is not
// compiled yet, and a token that was valid seconds ago. Such a difference is printed and ignored.
func (j *journeys) lags(t *testing.T, c conformance.Case, step int) bool {
	c.Steps = c.Steps[:step+1]
	for _, last := range []time.Duration{paceEach, paceLast} {
		slow, seed := j.ask(t, paced(c, paceEach, last))
		if _, difference := j.play(t, seed, slow); difference == "" {
			fmt.Printf("%s %s: late on the real server\n", c.ID(), c.Steps[step].Name)
			return true
		}
	}
	return false
}

// movedOn matches a difference that is only a different revision.
var movedOn = regexp.MustCompile(`want "<(list)?rv:\d+>", got "<(list)?rv:\d+>"$`)

// simulated plays a case on a new simulator and returns the first step whose response differs, and the difference. It ignores
// revisions after a case has waited, because the real server renews its leases in the meantime.
func simulated(t *testing.T, minor string, seed uint64, c conformance.Case) (step int, difference string) {
	synctest.Test(t, func(t *testing.T) {
		replicas := []fake.ReplicaOptions{{Version: minor}}
		if strings.HasPrefix(c.Area, conformance.Workloads) {
			replicas = replicasFor(c)
		}
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, NoControllers: true, Replicas: replicas})
		target := conformance.Target{URL: srv.URL(), Transport: srv.Transport(), Token: adminToken, Seed: seed}
		waits := false
		for i, r := range conformance.Run(t.Context(), target, c) {
			if waits = waits || c.Steps[i].Waits(); waits {
				r.Differences = slices.DeleteFunc(r.Differences, movedOn.MatchString)
			}
			if notSimulated(r.Got) {
				r.Differences = nil
			}
			if shuffled(r.Want, r.Got) {
				r.Differences = slices.DeleteFunc(r.Differences, func(d string) bool { return strings.HasPrefix(d, ".body.message: ") })
			}
			if !r.Agrees() {
				step, difference = i, fmt.Sprintf("%s %s: %s", r.Name, r.Target, strings.Join(r.Differences[:min(3, len(r.Differences))], "\n    "))
				break
			}
		}
	})
	return step, difference
}

// notSimulated reports whether a response shows that the request needs running containers.
func notSimulated(got any) bool {
	return strings.HasPrefix(messageOf(got), "kubesim does not simulate ")
}

// messageOf returns the message of a Status, or "" for anything else.
func messageOf(answer any) string {
	if a, ok := answer.(*conformance.Object); ok {
		if body, ok := a.Get("body").(*conformance.Object); ok {
			message, _ := body.Get("message").(string)
			return message
		}
	}
	return ""
}

// shuffled reports whether two responses contain the same errors of RBAC in a different order. The real server's order is that of a
// map.
func shuffled(want, got any) bool {
	words := func(answer any) []string {
		message := messageOf(answer)
		if !strings.Contains(message, "RBAC: [") {
			return nil
		}
		return slices.Sorted(slices.Values(strings.FieldsFunc(message, func(c rune) bool { return strings.ContainsRune("[], ", c) })))
	}
	w := words(want)
	return w != nil && slices.Equal(w, words(got))
}

// paced returns a copy of the case in which each step begins after a pause of at least each, and the last step after a pause of at
// least last.
func paced(c conformance.Case, each, last time.Duration) conformance.Case {
	c.Steps = slices.Clone(c.Steps)
	for i := range c.Steps {
		c.Steps[i].Sleep = max(c.Steps[i].Sleep, each)
	}
	if n := len(c.Steps); n > 0 {
		c.Steps[n-1].Sleep = max(c.Steps[n-1].Sleep, last)
	}
	return c
}

// shrunk removes steps from a case as long as it still differs, and returns the result. It calls differs, which plays a case, at
// most limit times.
func shrunk(c conformance.Case, limit int, differs func(conformance.Case) bool) conformance.Case {
	for size := len(c.Steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(c.Steps) && limit > 0; {
			less := c
			less.Steps = slices.Concat(c.Steps[:at], c.Steps[at+size:])
			limit--
			if len(less.Steps) > 0 && differs(less) {
				c = less
			} else {
				at += size
			}
		}
	}
	return c
}

// TestShrunk checks that shrunk keeps exactly the steps that are needed for the difference.
func TestShrunk(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var c conformance.Case
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		c.Steps = append(c.Steps, conformance.Step{Name: name})
	}
	has := func(c conformance.Case, name string) bool {
		return slices.ContainsFunc(c.Steps, func(s conformance.Step) bool { return s.Name == name })
	}
	small := shrunk(c, 100, func(less conformance.Case) bool { return has(less, "c") && has(less, "n") })
	is.Equal(len(small.Steps), 2)
	is.Equal(len(shrunk(c, 0, func(conformance.Case) bool { return true }).Steps), len(c.Steps)) // no more tries than allowed
}
