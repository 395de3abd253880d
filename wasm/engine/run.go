package engine

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/lesson"
	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/kubesim/kubesim/sim/schema"
)

// beginning describes the initial world of all branches.
type beginning struct {
	seed     uint64
	replicas []replicaJSON
	plane    plane
	files    map[string]string
	lesson   *lesson.Lesson // nil without a lesson
	own      string         // the text of the lesson, if the user wrote it in the page
}

// plane is what works by itself in a world: nothing, unless a page asks for it, so that links from before it could still lead to
// the world that they were made of.
type plane struct {
	Controllers []string `json:"controllers,omitempty"` // of the control plane: "*" or names
	Nodes       int      `json:"nodes,omitempty"`       // whose kubelets run pods
}

// nodesMax is how many nodes a world of a page may begin with.
const nodesMax = 50

func (p plane) check() error {
	if p.Nodes < 0 || p.Nodes > nodesMax {
		return failed("a world starts with at most %d nodes, not %d", nodesMax, p.Nodes)
	}
	return nil
}

// branch is one log of operations, and how much of it has been done.
type branch struct {
	id  int
	log []scenario.Op
	n   int
}

func (b *branch) name() string { return strconv.Itoa(b.id) }

// run is a World in which the first entries of a log have been done.
type run struct {
	world   *scenario.World
	session *lesson.Session // nil without a lesson
	ledger  ledger          // continue tokens, for the timeline
	room    int             // how many frames there may be
	ends    []int           // number of the World's last operation after each entry; ends[0]: after the setup
	results []outcome       // of each entry
}

// outcome is the result of an operation as a transcript shows it.
type outcome struct {
	Lines []string `json:"lines"`
	OK    bool     `json:"ok"`
	Text  string   `json:"text,omitempty"`  // the failed expectation
	Frame uint64   `json:"frame,omitempty"` // of its last request
}

// start makes the world and does its setup.
func (b *beginning) start() (*run, error) {
	r := &run{room: framesMax}
	if b.lesson != nil {
		s, err := lesson.Start(b.lesson)
		if err != nil {
			return nil, err
		}
		r.session, r.world = s, s.World()
		r.mark()
		return r, nil
	}
	o := scenario.Options{Cluster: config.Cluster{Seed: b.seed, Controllers: b.plane.Controllers, Nodes: b.plane.Nodes}, Files: b.files}
	for _, x := range b.replicas {
		o.Replicas = append(o.Replicas, config.Server{Version: x.Version, FeatureGates: x.Gates})
	}
	w, err := scenario.New(o)
	if err != nil {
		return nil, err
	}
	r.world = w
	r.mark()
	return r, nil
}

// mark notes how far the World has come with the entries so far.
func (r *run) mark() { r.ends = append(r.ends, len(r.world.Log())) }

// The limits of a world in a page. Above them, an operation takes seconds, or a world needs more memory than a telephone has.
const (
	passMax   = 24 * time.Hour // of the world's time, in one operation
	framesMax = 120_000        // of one world
)

// tooMuch returns why an operation is not done in a page, or nil.
func (r *run) tooMuch(op *scenario.Op) error {
	if n := len(r.world.Frames(0)); n >= r.room {
		return failed("this world is full: it has %d frames; go back, or start again (a scenario file has no such limit)", n)
	}
	return tooLong(op)
}

// tooLong returns why an operation would take too long, or nil.
func tooLong(op *scenario.Op) error {
	if op.Name != "tick" && op.Name != "clock" && op.Name != "pause" && op.Name != "eventually" {
		return nil
	}
	for _, word := range append(strings.Fields(op.Text), op.Args...) {
		if d, err := time.ParseDuration(word); err == nil && d > passMax {
			return failed("at most %v pass in one operation here: use several operations", passMax)
		}
	}
	return nil
}

// do does one entry of a log.
func (r *run) do(op scenario.Op) (scenario.Result, error) {
	if err := r.tooMuch(&op); err != nil {
		return scenario.Result{}, err
	}
	before := len(r.world.Frames(0))
	var result scenario.Result
	var err error
	if r.session != nil {
		result, err = r.session.Do(op)
	} else {
		result, err = r.world.Do(op)
	}
	if err == nil && r.withoutCEL(uint64(before)) {
		return result, &failure{Needs: "cel", Text: "this needs CEL, which the small engine is without: " +
			"load the other one and replay the log"}
	}
	if err != nil {
		return result, err
	}
	r.mark()
	o := outcome{Lines: append([]string{}, result.Lines...), OK: result.OK, Text: result.Failure}
	if result.HTTP != nil {
		o.Frame = result.HTTP.N
	}
	r.results = append(r.results, o)
	return result, nil
}

// refusedCEL is in every answer of an API server that would have to evaluate CEL and cannot.
const refusedCEL = "is without CEL (build tag nocel)"

// withoutCEL reports whether a response after frame since contains the error that CEL is missing.
func (r *run) withoutCEL(since uint64) bool {
	if cel.Supported {
		return false
	}
	return slices.ContainsFunc(r.world.Frames(since), func(f scenario.Frame) bool {
		x := f.Exchange
		return f.Kind == scenario.HTTPResponse && x != nil && bytes.Contains(x.ResBody, []byte(refusedCEL))
	})
}

// entryOf returns the entry of the log to which an operation of the World belongs, 0 for those of the setup.
func (r *run) entryOf(op int) int {
	n, _ := slices.BinarySearch(r.ends, op)
	return n
}

// needed returns the data that the API servers of a world need and this engine does not have, or "".
func needed(versions []string) string {
	have := schema.Minors()
	for _, v := range versions {
		minor := minorOf(v)
		if minor != "" && !slices.Contains(have, minor) && slices.Contains(schema.Known(), minor) {
			return "schema/" + minor
		}
	}
	return ""
}

// minorOf returns the minor of a version such as v1.35.2.
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + "." + parts[1]
}

// versions returns the versions that the beginning and a log ask for.
func (b *beginning) versions(log []scenario.Op) []string {
	var out []string
	for _, r := range b.replicas {
		out = append(out, r.Version)
	}
	if b.lesson != nil {
		for _, r := range b.lesson.Replicas {
			out = append(out, r.Version)
		}
		log = append(slices.Clone(b.lesson.Setup), log...)
	}
	for _, op := range log {
		for _, arg := range op.Args {
			if version, ok := strings.CutPrefix(arg, "version="); ok && op.Name == "replica" {
				out = append(out, version)
			}
		}
	}
	return out
}
