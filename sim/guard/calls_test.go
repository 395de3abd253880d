package guard

import (
	"go/ast"
	"slices"
	"testing"
)

// forbidden lists the functions that clock and sim must not use, and their replacements. "*" stands for the whole package.
var forbidden = map[string]struct {
	names   []string
	instead string
}{
	"time": {
		[]string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
		"take a time.Time as argument, or a clock.Clock",
	},
	"context": {
		[]string{"WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause"},
		"set a timer on the Cluster's clock.Clock",
	},
	"math/rand":    {[]string{"*"}, "take a *rand.Rand of math/rand/v2 that was made from the Cluster's seed"},
	"crypto/rand":  {[]string{"*"}, "take a *rand.Rand of math/rand/v2 that was made from the Cluster's seed"},
	"math/rand/v2": {globalRand, "take a *rand.Rand that was made from the Cluster's seed"},
	"hash/maphash": {[]string{"*"}, "use hash/fnv: the seed of maphash differs from run to run"},
}

// globalRand are the functions of math/rand/v2 that use its global generator.
var globalRand = []string{
	"ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64", "Perm",
	"Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN",
}

// realTime are the files that may use real time, and the reasons.
var realTime = map[string]string{
	"clock/system.go":                 "it is package time behind the Clock interface",
	"sim/conformance/life.go":         "a client outside the simulator: controllers take their time",
	"sim/conformance/life_observe.go": "a client outside the simulator: it waits until nothing moves",
	"sim/conformance/life_pod.go":     "a client outside the simulator: what it plays has times",
	"sim/conformance/target.go":       "a client outside the simulator: it waits as a real one does",
}

// goroutines are the files in which the design allows goroutines, and the reasons.
var goroutines = map[string]string{
	"sim/apiserver/watch.go":          "it copies from a watcher's queue to the response",
	"sim/conformance/check.go":        "a client outside the simulator: it sends requests side by side",
	"sim/conformance/life_observe.go": "a client outside the simulator: it watches",
	"sim/conformance/life_player.go":  "a client outside the simulator: its nodes stay alive",
	"sim/conformance/record.go":       "a client outside the simulator: it plays situations side by side",
	"sim/conformance/target.go":       "a client outside the simulator: its request waits while it moves the clock",
}

// core reports whether a file must be deterministic.
func core(s source) bool { return s.owner == "" && s.in("clock", "sim") && !s.isTest() }

func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, core) {
		uses := forbiddenUses(s)
		if realTime[s.name] == "" {
			for _, u := range uses {
				t.Error(u)
			}
		} else if len(uses) == 0 {
			t.Errorf("%s no longer needs its exception in realTime", s.name)
		}
	}
}

// forbiddenUses returns a message for each use of a forbidden function.
func forbiddenUses(s source) (out []string) {
	imports := s.imports()
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		rule := forbidden[imports[pkg.Name]]
		if slices.Contains(rule.names, sel.Sel.Name) || slices.Contains(rule.names, "*") {
			out = append(out, s.at(n)+": "+pkg.Name+"."+sel.Sel.Name+" makes runs differ: "+rule.instead)
		}
		return true
	})
	return out
}

func TestNoGoroutines(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, core) {
		starts := goStatements(s)
		if goroutines[s.name] == "" {
			for _, at := range starts {
				t.Errorf("%s starts a goroutine: the core is a stepped state machine, let a commit or a timer complete the work", at)
			}
		}
	}
}

// goStatements returns the positions at which a file starts goroutines, by a go statement or the Go method of a group.
func goStatements(s source) (out []string) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, s.at(n))
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
				out = append(out, s.at(n))
			}
		}
		return true
	})
	return out
}

// inBubble reports whether a file contains bodies for fake.Explore, which run in bubbles.
func inBubble(s source) (found bool) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		found = found || ok && isIdent(sel.X, "fake") && (sel.Sel.Name == "T" || sel.Sel.Name == "Explore")
		return !found
	})
	return found
}

// TestNoSleepInTests checks that tests do not sleep, because such tests are slow or flaky. They should advance a clock. In a synctest
// bubble a sleep takes no real time and is allowed.
func TestNoSleepInTests(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, source.isTest) {
		imports := s.imports()
		if imports["synctest"] != "" || inBubble(s) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "Sleep" && isIdent(sel.X, "time") && imports["time"] == "time" {
				t.Errorf("%s: time.Sleep in a test: move a clock.Manual, or run in a testing/synctest bubble", s.at(n))
			}
			return true
		})
	}
}

func isIdent(e ast.Expr, names ...string) bool {
	id, ok := e.(*ast.Ident)
	return ok && slices.Contains(names, id.Name)
}
