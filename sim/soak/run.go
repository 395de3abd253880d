package soak

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/scenario"
)

// Options are options of Run.
type Options struct {
	Config Config
	Ops    []scenario.Op // if nil, Generate draws them
	// Tamper, if not nil, receives each watch event before the client does, and returns the events that the client receives
	// instead. Tests use it to inject bugs. watch is the number of the op that started the watch.
	Tamper func(watch int, event []byte) [][]byte
}

// Result is the result of a run.
type Result struct {
	History    *checker.History
	Violations []checker.Violation
	Hash       string // the hash of the trace and of every byte that clients received
	Semantic   string // a fingerprint of the resulting objects that does not depend on the order of events
	Ops        int    // the number of ops that had an effect

	world *scenario.World
}

// Scenario returns the run as a scenario that kubesim run and the page can repeat. If a promise was broken, the last
// line of the scenario fails.
func (r *Result) Scenario() *scenario.File {
	story := "Random operations under random disturbances. No promise was broken."
	if len(r.Violations) > 0 {
		story = "Random operations under random disturbances. A promise was broken.\n" + r.Violations[0].Error()
	}
	if op, err := scenario.Parse("expect promises kept"); err == nil {
		_, _ = r.world.Do(op) // the file contains the line whether or not it holds
	}
	return r.world.Export(story)
}

// runner is a run in progress.
type runner struct {
	o       Options
	world   *scenario.World
	hash    hash.Hash
	numbers []int // World operation -> its number in the hash, or 0 if it is not in the hash
	done    int
	moves   int // the number of times the run continued with another cluster
}

// Run runs ops and checks the result. It returns an error if the run cannot start or an op is invalid.
func Run(o Options) (*Result, error) {
	if o.Ops == nil {
		o.Ops = Generate(o.Config)
	}
	r, err := begin(o)
	if err != nil {
		return nil, err
	}
	for i, op := range o.Ops {
		if err := r.do(op, i+1); err != nil {
			return nil, err
		}
	}
	if err := r.settle(); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// begin creates the World and the objects that the ops need.
func begin(o Options) (*runner, error) {
	r := &runner{o: o, hash: sha256.New()}
	replicas := max(o.Config.Replicas, 1)
	lines := []string{fmt.Sprint("seed ", o.Config.Seed), fmt.Sprint("replicas ", replicas), "create -f widgets.json --as set-up"}
	for i := 1; i <= o.Config.Clients; i++ {
		lines = append(lines, fmt.Sprintf("route c%d %d", i, 1+i%replicas))
	}
	var err error
	r.world, err = scenario.New(scenario.Options{Cluster: config.Cluster{Seed: o.Config.Seed, Replicas: make([]config.Server, replicas)}, // same as in the lines
		Files: map[string]string{"widgets.json": widgets}, Strict: true, Quiet: true, Tap: r,
		Agent: func(client string) string { return client }})
	for _, line := range append(lines, "record") {
		if err == nil {
			err = r.say(line)
		}
	}
	return r, err
}

// say runs a line that is not included in the hash.
func (r *runner) say(line string) error {
	op, err := scenario.Parse(line)
	if err != nil {
		return err
	}
	return r.do(op, 0)
}

// do runs an operation. n is its number in the hash, or 0.
func (r *runner) do(op scenario.Op, n int) error {
	r.numbers = append(r.numbers, n)
	result, err := r.world.Do(op)
	if err == nil && result.Failure != "" {
		err = fmt.Errorf("%s", result.Failure)
	}
	if err != nil {
		return fmt.Errorf("soak: op %d, %s: %w", n, op, err)
	}
	if op.Name == "fork" || op.Name == "reload" {
		r.moves++
	}
	if n != 0 && n <= len(r.o.Ops) && (!op.Async || result.HTTP != nil) {
		r.done++
	}
	return nil
}

// Answer implements scenario.Tap.
func (r *runner) Answer(op int, a *apiserver.Answer) {
	if n := r.numbers[op-1]; n != 0 {
		fmt.Fprintf(r.hash, "%d %d %s\n", n, a.Code, a.Sent().Bytes())
	}
}

// Event implements scenario.Tap.
func (r *runner) Event(op int, event []byte) [][]byte {
	fmt.Fprintf(r.hash, "%d %s", r.numbers[op-1], event)
	if r.o.Tamper != nil {
		return r.o.Tamper(op, event)
	}
	return [][]byte{event}
}

// settle ends all disturbances, delivers pending events, and makes each client reopen its broken watches.
func (r *runner) settle() error {
	err := r.say("heal")
	for _, s := range r.world.History().Streams { // end streams that a fault has silenced, like clients do after unanswered pings
		if err == nil && !s.Ended && r.stalls() {
			err = r.say("stop --as " + s.Client)
		}
	}
	if err == nil {
		err = r.rewatch()
	}
	for range 4 {
		if err == nil {
			err = r.say("pause 1250ms")
		}
	}
	return err
}

// stalls reports whether an op may silence a watch forever.
func (r *runner) stalls() bool {
	return slices.ContainsFunc(r.o.Ops, func(o scenario.Op) bool { return strings.Contains(o.Text, " do stall") })
}

// rewatch reopens each client's last watch of a scope at its last revision, if the watch has ended.
func (r *runner) rewatch() error {
	type key struct {
		client string
		scope  checker.Scope
	}
	seen, came := map[key]bool{}, map[key]bool{}
	streams := r.world.History().Streams
	for _, s := range streams {
		if slices.ContainsFunc(s.Events, func(ev checker.Event) bool { return ev.Rev != 0 }) {
			came[key{s.Client, s.Scope}] = true
		}
	}
	for _, s := range slices.Backward(streams) {
		k := key{s.Client, s.Scope}
		if seen[k] || !s.Ended || !came[k] {
			continue
		}
		seen[k] = true
		o := about("watch", s.Client, s.Scope)
		o.flag("rv", "seen")
		o.flag("bookmarks", "")
		if err := r.do(o.Op, len(r.o.Ops)+1+len(seen)); err != nil {
			return err
		}
	}
	return nil
}

// result checks the run and returns its result.
func (r *runner) result() *Result {
	h := r.world.History()
	h.Settled = true
	out := &Result{History: h, Violations: checker.Check(h), Ops: r.done, world: r.world}
	trace := r.world.Cluster().Trace()
	fmt.Fprintln(r.hash, trace.Hash)
	out.Hash, out.Semantic = hex.EncodeToString(r.hash.Sum(nil)), trace.Semantic
	r.world.Cluster().Close()
	return out
}

// Shrink returns a run with a minimal list of ops that breaks the same promise as the first violation of o. run runs the ops; it is
// Run, or a function with additional checks. If o breaks no promise, Shrink returns its result. Shrink returns an error if run
// does.
func Shrink(o Options, run func(Options) (*Result, error)) (*Result, error) {
	first, err := run(o)
	if err != nil || len(first.Violations) == 0 {
		return first, err
	}
	if o.Ops == nil {
		o.Ops = Generate(o.Config)
	}
	o.Ops = fault.Minimize(o.Ops, func(ops []scenario.Op) bool {
		o.Ops = ops
		r, err := run(o)
		return err == nil && len(r.Violations) > 0 && r.Violations[0].Promise == first.Violations[0].Promise
	})
	return run(o)
}
