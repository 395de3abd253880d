package conformance

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// The media types of patches.
const (
	ApplyPatch     = "application/apply-patch+yaml"
	MergePatch     = "application/merge-patch+json"
	StrategicPatch = "application/strategic-merge-patch+json"
)

//go:embed testdata/life
var embeddedLife embed.FS

// LifeCases returns the recorded situations of testdata/life, sorted by ID.
func LifeCases() ([]Case, error) { return Load(embeddedLife, "testdata/life") }

//go:embed testdata/life/known_differences.txt
var lifeDifferences string

// LifeDifferences returns the list of known differences in situations.
func LifeDifferences() string { return lifeDifferences }

const (
	// roundRest is the time without changes before the next pod is played. By then controllers have finished, including
	// the Job controller, which batches pod changes for a second.
	roundRest = 1200 * time.Millisecond
	// settleRest is the time without changes after which a situation is settled.
	settleRest = 2 * time.Second
	// settleMax limits the time that a situation may take to settle.
	settleMax = 5 * time.Minute
	// odd is added to each wait of the harness. In virtual time, the harness would otherwise wake up at the same
	// instant as a controller that waits for whole seconds, and their order would be random.
	odd = 7 * time.Millisecond
)

// Settle is an action that waits until nothing changes.
type Settle struct {
	Quiet   time.Duration // the required time without changes
	Compare bool          // then compare the state
	Of      []string      // the plural names of the resources to compare, including events; if empty, all
}

func parseSettle(value string, compare bool) (*Settle, error) {
	s := &Settle{Quiet: settleRest, Compare: compare}
	for _, word := range strings.Fields(value) {
		quiet, ok := strings.CutPrefix(word, "quiet=")
		if !ok {
			s.Of = append(s.Of, word)
			continue
		}
		d, err := seconds(quiet)
		if err != nil {
			return nil, err
		}
		s.Quiet = d
	}
	return s, nil
}

// String returns the text that parseSettle parses.
func (s *Settle) String() string {
	name := "settle"
	if s.Compare {
		name = "state"
	}
	words := []string{name}
	if s.Quiet != settleRest {
		words = append(words, fmt.Sprintf("quiet=%g", s.Quiet.Seconds()))
	}
	return strings.Join(append(words, s.Of...), " ")
}

// Pass is an action that lets time pass.
type Pass struct {
	For time.Duration // the time to pass; if 0, time passes until second To of the minute
	To  int           // the second
}

func parsePass(value string) (p *Pass, err error) {
	p = &Pass{}
	if second, ok := strings.CutPrefix(value, ":"); ok {
		p.To, err = strconv.Atoi(second)
	} else {
		p.For, err = seconds(value)
	}
	return p, err
}

// String returns the text that parsePass parses.
func (p *Pass) String() string {
	if p.For == 0 {
		return fmt.Sprintf("pass :%02d", p.To)
	}
	return fmt.Sprintf("pass %g", p.For.Seconds())
}

// left returns the time that remains to be waited at the time now.
func (p *Pass) left(now time.Time) time.Duration {
	if p.For > 0 {
		return p.For
	}
	next := now.Truncate(time.Minute).Add(time.Duration(p.To) * time.Second)
	if !next.After(now) {
		next = next.Add(time.Minute)
	}
	return next.Sub(now)
}

// life is a situation in progress: the requests of its case, the player of its pods, and the observer of its objects.
type life struct {
	runner
	whole  bool // also compare the objects that every namespace has
	seen   *observer
	player *player
}

// RunLife plays a situation against a server with running controllers, and compares each state with the recorded state.
// It uses the clock of package time.
func RunLife(ctx context.Context, t Target, c Case) []StepResult {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ns := t.namespace(c)
	l := &life{runner: runner{ctx: ctx, target: t, values: values{"ns": ns}, norm: newNormaliser(ns)}, whole: c.Whole, seen: newObserver(ns)}
	l.player = &player{life: l, scheduled: c.Scheduled}
	if err := l.begin(); err != nil {
		return failAll(c, err)
	}
	if t.tidy {
		defer l.tidyUp()
	}
	var out []StepResult
	for _, s := range c.Steps {
		got, err := l.step(s)
		out = append(out, c.result(s, got, err))
	}
	cancel()
	l.seen.watches.Wait()
	return out
}

// begin creates the namespace of the case, starts to watch all resources, and creates a node.
func (l *life) begin() error {
	ns, err := l.ask(http.MethodPost, "/api/v1/namespaces", `{"metadata": {"name": "`+l.seen.ns+`"}}`)
	if err != nil {
		return fmt.Errorf("creating the namespace: %w", err)
	}
	l.seen.record(false, ns.(*Object), resourceAt{path: "/api/v1", name: "namespaces"})
	if err := l.observe(textAt(ns, "metadata", "resourceVersion")); err != nil {
		return err
	}
	return l.player.begin()
}

// step runs a step and returns the value to compare: the state, or the status and error message of a response.
func (l *life) step(s Step) (any, error) {
	out := newObject()
	switch {
	case s.Settle != nil:
		if err := l.settle(s.Settle.Quiet); err != nil || !s.Settle.Compare {
			return out, err
		}
		state, err := l.state(s.Settle.Of)
		if err == nil {
			err = reduce(state, s, l.values)
		}
		return state, err
	case s.Pass != nil:
		return out, l.pass(s.Pass.left(time.Now()))
	case s.Play != nil:
		l.player.rules = append(l.player.rules, *s.Play)
		return out, nil
	}
	req, err := s.build(l.values)
	if err != nil {
		return nil, err
	}
	l.seen.move()
	e, err := l.sendUntil(req, s)
	if err != nil {
		return nil, err
	}
	out.Set("status", Int(strconv.Itoa(e.status)))
	v, err := Decode(e.body)
	if err != nil {
		return out, nil // the body is not compared
	}
	l.values[s.Name] = v
	if e.status == http.StatusCreated {
		l.noteCreated(req, e.body)
	}
	if e.status > 299 {
		out.Set("message", l.norm.text(textAt(v, "message")))
	}
	return out, nil
}

// settle plays the pods, one at a time, until nothing has changed for a while and no pod is left to play.
func (l *life) settle(quiet time.Duration) error {
	for end := time.Now().Add(settleMax); time.Now().Before(end); {
		l.seen.rest(roundRest + odd)
		played, err := l.player.play()
		if err != nil {
			return err
		}
		if played {
			continue
		}
		l.seen.rest(quiet + odd)
		if !l.player.any() {
			return nil
		}
	}
	return fmt.Errorf("something still moves after %s: %s", settleMax, l.seen.lastMove())
}

// pass lets time pass and lets the player act in the meantime.
func (l *life) pass(d time.Duration) error {
	for end := time.Now().Add(d + odd); ; {
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		l.seen.restWithin(roundRest+odd, left)
		if left = time.Until(end); left <= 0 {
			return nil
		}
		played, err := l.player.play()
		if err != nil {
			return err
		}
		if !played {
			time.Sleep(min(left, roundRest+odd))
		}
	}
}

// ask sends a request of the harness itself. If there is no response, or the response is an error, ask returns an
// error.
func (l *life) ask(method, target, body string) (any, error) {
	q := request{method: method, target: target, body: []byte(body)}
	switch {
	case method == http.MethodPatch && path.Base(target) == "status":
		q.headers = []Header{{"Content-Type", StrategicPatch}}
	case method == http.MethodPatch:
		q.headers = []Header{{"Content-Type", MergePatch}}
	case body != "":
		q.headers = []Header{{"Content-Type", "application/json"}}
	}
	e, err := q.send(l.ctx, l.target)
	if err != nil {
		return nil, err
	}
	v, err := Decode(e.body)
	if err == nil && e.status > 299 {
		err = &refused{e.status, method + " " + target, textAt(v, "message")}
	}
	return v, err
}

// refused is an error response.
type refused struct {
	status           int
	request, message string
}

func (r *refused) Error() string { return fmt.Sprintf("%s: %d %s", r.request, r.status, r.message) }

// tidyUp removes the objects of a case, including their finalizers, from a server that is used again.
func (l *life) tidyUp() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l.ctx = ctx
	l.deleteCreated()
	for _, at := range l.seen.clusterWide() {
		_, _ = l.ask(http.MethodPatch, at, `{"metadata":{"finalizers":null}}`)
		_, _ = l.ask(http.MethodDelete, at+"?gracePeriodSeconds=0&propagationPolicy=Background", "")
	}
	_, _ = l.ask(http.MethodDelete, "/api/v1/namespaces/"+l.seen.ns+"/pods?gracePeriodSeconds=0", "")
	l.deleteNamespace(l.seen.ns)
}
