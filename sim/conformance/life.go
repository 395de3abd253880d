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

//go:embed testdata/life
var embeddedLife embed.FS

// LifeCases returns the recorded situations of testdata/life, sorted by ID.
func LifeCases() ([]Case, error) { return Load(embeddedLife, "testdata/life") }

//go:embed testdata/life/known_differences.txt
var lifeDifferences string

// LifeDifferences returns the list of what is known to differ in them.
func LifeDifferences() string { return lifeDifferences }

const (
	// roundRest is how long nothing has to move before the next pod is played: controllers are done by then, also that which
	// gathers what happens to the pods of a Job for a second.
	roundRest = 1200 * time.Millisecond
	// settleRest is how long nothing has to move before a situation has settled.
	settleRest = 2 * time.Second
	// settleMax bounds what comes to no rest.
	settleMax = 5 * time.Minute
	// odd is what the harness waits longer each time: on virtual time it would else wake up in the same instant as a controller
	// that waits for whole seconds, and chance would say who is first.
	odd = 7 * time.Millisecond
)

// Settle is a step without a request: it waits until nothing moves.
type Settle struct {
	Quiet   time.Duration // for so long
	Compare bool          // and then compares what there is
	Of      []string      // of these resources, by plural name, events being one; empty: of all
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

// String prints it as parseSettle reads it.
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

// Pass is a step without a request: it lets time pass.
type Pass struct {
	For time.Duration // so long; 0: to a second of the minute
	To  int           // which
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

// String prints it as parsePass reads it.
func (p *Pass) String() string {
	if p.For == 0 {
		return fmt.Sprintf("pass :%02d", p.To)
	}
	return fmt.Sprintf("pass %g", p.For.Seconds())
}

// left is how long it takes from a time on.
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

// life is a situation under way: the requests of its case, the pods that are played, and what is seen of it all.
type life struct {
	runner
	whole  bool // what every namespace has is compared, too
	seen   *observer
	player *player
}

// RunLife plays a situation against a server whose controllers run, and compares each state with the recorded one. Time
// passes by package time.
func RunLife(ctx context.Context, t Target, c Case) []StepResult {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ns := t.namespace(c)
	l := &life{runner: runner{ctx: ctx, target: t, values: values{"ns": ns}, norm: newNormaliser(ns)}, whole: c.Whole, seen: newObserver(ns)}
	l.player = &player{life: l}
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

// begin makes the namespace of the case, watches all that becomes of it, and makes a node.
func (l *life) begin() error {
	ns, err := l.ask(http.MethodPost, "/api/v1/namespaces", `{"metadata": {"name": "`+l.seen.ns+`"}}`)
	if err != nil {
		return fmt.Errorf("creating the namespace: %w", err)
	}
	l.seen.saw(false, ns.(*Object), resourceAt{path: "/api/v1", name: "namespaces"})
	if err := l.observe(textAt(ns, "metadata", "resourceVersion")); err != nil {
		return err
	}
	return l.player.begin()
}

// step does what a step says and returns what is compared: of a request, how it was answered.
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
	v, err := decode(e.body)
	if err != nil {
		return out, nil // what it says does not matter
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

// settle lets the pods be played, one at a time, until nothing has moved for a while and none is left to play.
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

// pass lets time pass, in which pods are played.
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

// ask sends a request of the harness itself, which has to be answered, and returns the answer.
func (l *life) ask(method, target, body string) (any, error) {
	q := request{method: method, target: target, body: []byte(body)}
	switch {
	case method == http.MethodPatch && path.Base(target) == "status":
		q.headers = []Header{{"Content-Type", strategicPatch}}
	case method == http.MethodPatch:
		q.headers = []Header{{"Content-Type", mergePatch}}
	case body != "":
		q.headers = []Header{{"Content-Type", "application/json"}}
	}
	e, err := q.send(l.ctx, l.target)
	if err != nil {
		return nil, err
	}
	v, err := decode(e.body)
	if err == nil && e.status > 299 {
		err = &refused{e.status, method + " " + target, textAt(v, "message")}
	}
	return v, err
}

// refused is an answer that is an error.
type refused struct {
	status           int
	request, message string
}

func (r *refused) Error() string { return fmt.Sprintf("%s: %d %s", r.request, r.status, r.message) }

// tidyUp removes what a case has made of a server that outlives it, whatever holds it.
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
