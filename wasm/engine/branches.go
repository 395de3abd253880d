package engine

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/scenario"
)

// Limits for logs from share links, which are untrusted.
const (
	logMax  = 12_000
	forkMax = 64
)

// boot creates a new world and executes the log that the page sends with the request.
func (e *Engine) boot(q *request) (fields, error) {
	b, log, err := e.beginning(q)
	if err != nil {
		return nil, err
	}
	if len(log) > logMax {
		return nil, failed("the log has %d operations, and at most %d are allowed", len(log), logMax)
	}
	n := len(log)
	if q.Cursor != nil {
		n = *q.Cursor
	}
	first := &branch{log: log}
	r, err := b.replay(first, n)
	if err != nil {
		return nil, err
	}
	e.begin, e.branches, e.taken = b, []*branch{first}, map[int]*attempt{}
	e.past = past{}
	e.show(first, r, n)
	if r.session != nil {
		e.attempt().take(b.lesson, q.Answers)
	}
	out := about()
	out["head"], out["hash"] = e.head(), r.world.Hash()
	e.addLesson(out)
	return out, nil
}

// beginning returns the initial state and the log that a boot request describes.
func (e *Engine) beginning(q *request) (*beginning, []scenario.Op, error) {
	b := &beginning{seed: 1, replicas: q.Replicas, plane: q.plane, progress: e.Progress}
	if err := b.plane.check(); err != nil {
		return nil, nil, err
	}
	given, err := parseLog(q.Log)
	if err != nil {
		return nil, nil, err
	}
	if q.Seed != "" {
		seed, err := strconv.ParseUint(q.Seed, 10, 64)
		if err != nil {
			return nil, nil, failed("the seed is a number, not %q", q.Seed)
		}
		b.seed = seed
	}
	switch {
	case q.Own != "":
		if b.lesson, err = ownLesson(q.Own); err != nil {
			return nil, nil, err
		}
		b.own = q.Own
	case q.Lesson != "":
		if b.lesson, err = e.findLesson(q.Lesson); err != nil {
			return nil, nil, err
		}
	case q.Scenario != "":
		f, err := scenario.ParseFile([]byte(q.Scenario))
		if err != nil {
			return nil, nil, err
		}
		b.files = f.Files
		return b, append(each(f.Lines, func(l scenario.Line) scenario.Op { return l.Op }), given...), nil
	}
	return b, given, nil
}

// parseLog parses the operations that a page sends. It returns an error if there are more than logMax.
func parseLog(raw []json.RawMessage) ([]scenario.Op, error) {
	if len(raw) > logMax {
		return nil, failed("the log has %d operations, and at most %d are allowed", len(raw), logMax)
	}
	var log []scenario.Op
	for i, r := range raw {
		var op scenario.Op
		if err := op.UnmarshalJSON(r); err != nil {
			return nil, failed("operation %d of the log: %v", i+1, err)
		}
		log = append(log, op)
	}
	return log, nil
}

// replay returns a run in which the first n operations of a branch have been executed. It continues a checkpoint, or a new world.
func (b *beginning) replay(of *branch, n int) (*run, error) {
	if n < 0 || n > len(of.log) {
		return nil, failed("the log has %d operations; there is no state %d", len(of.log), n)
	}
	if err := b.lacks(of.log[:n]); err != nil {
		return nil, err
	}
	if b.lesson != nil && b.lesson.Engine == "cel" && name() != "cel" {
		return nil, errWantsCEL
	}
	r, err := b.nearest(of, n)
	if err != nil {
		return nil, err
	}
	return r, of.goOn(r, n)
}

// lacks returns an error if a log needs data that has not been loaded, or the other engine, because it imports a cluster: its
// definitions and policies may contain CEL.
func (b *beginning) lacks(log []scenario.Op) error {
	if needs := needed(b.versions(log)); needs != "" {
		return notLoaded(needs)
	}
	imports := slices.ContainsFunc(log, func(op scenario.Op) bool { return op.Name == "import" })
	if imports && !cel.Supported {
		return errImportWantsCEL
	}
	return nil
}

var (
	errWantsCEL       = &failure{Needs: "cel", Text: "this lesson needs CEL, which the small engine is without"}
	errImportWantsCEL = &failure{Needs: "cel", Text: "an import needs CEL, which the small engine is without"}
)

func notLoaded(needs string) error {
	return &failure{Needs: needs, Text: "an API server of another version needs data that has not been loaded: " + needs}
}

// goOn executes the operations of a branch up to operation n.
func (r *run) goOn(of *branch, n int) error {
	for i := r.done(); i < n; i++ {
		if _, err := r.do(of.log[i]); err != nil {
			if f, ok := err.(*failure); ok {
				return f
			}
			return failed("operation %d of the log, %s: %v", i+1, of.log[i], err)
		}
	}
	return nil
}

// goTo shows the page a branch after its first n operations, in another run. It returns the number of operations that it has executed.
func (e *Engine) goTo(b *branch, n int) (replayed int, err error) {
	r, replayed, err := e.behind(b, n)
	if err == nil {
		e.show(b, r, n)
	}
	return replayed, err
}

// show makes r the run that the page sees. If it is a run of the same branch, the page keeps the frames of the operations that both runs have
// executed: two runs of the same operations have the same frames.
func (e *Engine) show(b *branch, r *run, n int) {
	e.keep = 0
	if e.current == b && e.run != nil {
		e.keep = min(e.sent, uint64(r.framesAfter(min(b.n, n))))
	}
	e.current, e.run, b.n = b, r, n
	e.sent, e.reset, e.spare = e.keep, true, nil
}

// head returns the current position of the page: its branch and operation, and the state of the world.
func (e *Engine) head() fields {
	b := e.current
	return fields{"branch": b.name(), "n": b.n, "total": len(b.log), "vt": e.run.world.Now().UnixMilli(),
		"rv": formatRev(e.run.world.Cluster().Revision()), "frames": e.frames()}
}

func formatRev(rev uint64) string { return strconv.FormatUint(rev, 10) }

// do appends an operation to the current branch and executes it. Operations after the current position, which were undone, are discarded.
func (e *Engine) do(q *request) (fields, error) {
	switch {
	case len(q.Op) == 0:
		return nil, failed(`do needs an operation: {"op":{"line":"get pods"}}`)
	case e.current.n >= logMax:
		return nil, failed("the log has %d operations, and at most %d are allowed", e.current.n, logMax)
	}
	var op scenario.Op
	if err := op.UnmarshalJSON(q.Op); err != nil {
		return nil, err
	}
	return e.doOp(op)
}

func (e *Engine) doOp(op scenario.Op) (fields, error) {
	b := e.current
	if err := e.begin.lacks([]scenario.Op{op}); err != nil {
		return nil, err
	}
	result, err := e.run.do(op)
	if err != nil {
		if f, ok := err.(*failure); ok && f.Needs != "" { // the operation was executed, but must not have any effect
			if _, again := e.goTo(b, b.n); again != nil {
				return nil, again
			}
		}
		return nil, err
	}
	if b.n < len(b.log) { // copy on the next append, because forks may share the log
		b.log, b.kept = b.log[:b.n:b.n], b.kept.upTo(b.n)
	}
	b.log = append(b.log, op)
	b.n++
	b.kept.add(e.run)
	out := fields{"result": e.result(&result), "head": e.head()}
	e.addLesson(out)
	return out, nil
}

// tick advances the clock. Like any other operation, it is added to the log.
func (e *Engine) tick(q *request) (fields, error) {
	op, err := scenario.Parse("tick '" + q.Until + "'")
	if err != nil {
		return nil, err
	}
	return e.doOp(op)
}

// seek moves the page to the state after operation n of the current branch.
func (e *Engine) seek(q *request) (fields, error) {
	if q.N == nil {
		return nil, failed("seek needs n, the number of an operation")
	}
	return e.seekTo(*q.N)
}

func (e *Engine) seekTo(n int) (fields, error) {
	b := e.current
	if e.run != nil && n >= b.n && n <= len(b.log) { // forward: continue the current run
		if err := e.begin.lacks(b.log[:n]); err != nil {
			return nil, err
		}
		if err := b.goOn(e.run, n); err != nil {
			return nil, err
		}
		b.n = n
		return e.positionView(), nil
	}
	return e.moveTo(b, n)
}

// moveTo shows the page a branch after its first n operations, and returns the response.
func (e *Engine) moveTo(b *branch, n int) (fields, error) {
	replayed, err := e.goTo(b, n)
	if err != nil {
		return nil, err
	}
	out := e.positionView()
	out["replayed"] = replayed
	return out, nil
}

// positionView returns the response to requests that change the position.
func (e *Engine) positionView() fields {
	out := fields{"head": e.head()}
	e.addLesson(out)
	return out
}

func (e *Engine) undo(*request) (fields, error) { return e.by(-1) }

func (e *Engine) redo(*request) (fields, error) { return e.by(1) }

func (e *Engine) by(steps int) (fields, error) {
	n := e.current.n + steps
	switch {
	case n < 0:
		return nil, failed("this is the beginning: there is nothing to undo")
	case n > len(e.current.log):
		return nil, failed("this is the end: there is nothing to redo")
	}
	return e.seekTo(n)
}

// fork starts a new branch with the first n operations of the current one. The default of n is the current position. It
// returns an error if there are too many branches.
func (e *Engine) fork(q *request) (fields, error) {
	n := e.current.n
	if q.N != nil {
		n = *q.N
	}
	if len(e.branches) == forkMax {
		return nil, failed("there are %d branches; boot again to have more", forkMax)
	}
	r, err := e.begin.replay(e.current, n)
	if err != nil {
		return nil, err
	}
	b := &branch{id: len(e.branches), log: e.current.log[:n:n], kept: e.current.kept.upTo(n)}
	e.branches = append(e.branches, b)
	if old := e.taken[e.current.id]; old != nil {
		e.taken[b.id] = old.copy()
	}
	e.show(b, r, n)
	return e.positionView(), nil
}

// branchTo switches to another branch, at its last position.
func (e *Engine) branchTo(q *request) (fields, error) {
	i := slices.IndexFunc(e.branches, func(b *branch) bool { return b.name() == q.Branch })
	if i < 0 {
		return nil, failed("there is no branch %q", q.Branch)
	}
	return e.moveTo(e.branches[i], e.branches[i].n)
}
