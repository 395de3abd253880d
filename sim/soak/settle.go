package soak

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/checker"
)

// quiet is how long nothing may be on its way after everything has healed: a delay of a fault lasts 10 s at most, a
// read waits 3 s, a stalled connection breaks after 45 s.
const quiet = time.Minute

// settle heals everything, lets what is on its way arrive, and has every client take up its broken watches once more.
func (r *runner) settle() {
	r.step++
	r.heal()
	r.pass(quiet)
	r.history.Settled = true
	r.hang()
	r.again()
	r.pass(5 * time.Second)
}

// heal ends everything that is wrong.
func (r *runner) heal() {
	r.cluster.ClearFaults()
	for i := 1; i <= r.cluster.Replicas(); i++ {
		r.cluster.Replica(i).Resume()
	}
	for _, client := range sorted(r.memory) {
		r.cluster.Release(client)
	}
	r.cluster.ReleaseFaults()
}

// pass lets time pass in steps and reads what comes.
func (r *runner) pass(d time.Duration) {
	for range 4 {
		r.step++
		r.clock.Advance(d / 4)
		r.drain()
	}
}

// hang gives up the watches that a fault has silenced for ever, as clients do whose pings stay without an answer.
func (r *runner) hang() {
	stalls := false
	for _, o := range r.o.Ops {
		stalls = stalls || o.Verb == "fault" && strings.Contains(o.String(), " do stall")
	}
	if !stalls {
		return
	}
	for len(r.open) > 0 {
		r.stop(r.open[0].client)
	}
}

// again opens each client's last watch of a scope anew where it had come to, if it has ended.
func (r *runner) again() {
	type key struct {
		client string
		scope  checker.Scope
	}
	seen := map[key]bool{}
	streams := r.history.Streams
	for i := len(streams) - 1; i >= 0; i-- {
		s := streams[i]
		k := key{s.Client, s.Scope}
		if seen[k] || !s.Ended || r.memory[s.Client].Last[s.Scope] == 0 {
			continue
		}
		seen[k] = true
		r.step++
		o := Op{Client: s.Client, Verb: "watch", Words: []string{s.Scope.Resource}, Args: map[string]string{"rv": "last",
			"bookmarks": "", "selector": strings.ReplaceAll(s.Scope.Selector, " ", "+"), "name": s.Scope.Name}}
		if s.Scope.Namespace != "" {
			o.Words = append(o.Words, s.Scope.Namespace)
		}
		r.watch(s.Client, len(r.o.Ops)+1+len(seen), Make(o, r.memory[s.Client], 0, r.cluster.Revision()))
		r.drain()
	}
}

// result checks the run.
func (r *runner) result() *Result {
	log := r.cluster.Trace()
	fmt.Fprintln(r.hash, log.Hash)
	out := &Result{History: r.history, Hash: hex.EncodeToString(r.hash.Sum(nil)), Semantic: log.Semantic,
		Tail: log.Timeline(), Ops: r.done, Violations: checker.Check(r.history)}
	for _, text := range r.errors {
		out.Violations = append(out.Violations, checker.Violation{Promise: "Readable",
			Text: "what a server sends can be read", What: text})
	}
	r.cluster.Close()
	return out
}
