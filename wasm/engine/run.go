package engine

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/kubectl/client"
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
	own      string         // lesson.yaml, if the user wrote the lesson in the page
	progress scenario.Progress
}

// plane configures the control plane of a world. It is empty unless the page requests one, so that links created by older versions
// still lead to the same world.
type plane struct {
	Controllers []string `json:"controllers,omitempty"` // names of controllers of the control plane, or "*"
	Nodes       int      `json:"nodes,omitempty"`       // number of nodes; their kubelets run pods
	Whole       bool     `json:"whole,omitempty"`       // the objects of a new cluster exist, and RBAC decides
	Classes     bool     `json:"classes,omitempty"`     // a default StorageClass and a default IngressClass exist
}

// nodesMax is the maximum number of nodes in the initial world of a page.
const nodesMax = 50

func (p plane) check() error {
	if p.Nodes < 0 || p.Nodes > nodesMax {
		return failed("a world starts with at most %d nodes, not %d", nodesMax, p.Nodes)
	}
	return nil
}

// branch is a log of operations. The first n of them have been executed.
type branch struct {
	id   int
	log  []scenario.Op
	n    int
	kept checkpoints
}

func (b *branch) name() string { return strconv.Itoa(b.id) }

// run is a World in which the first operations of a log have been executed.
type run struct {
	world   *scenario.World
	session *lesson.Session // nil without a lesson
	ledger  ledger          // continue tokens for the timeline
	room    int             // maximum number of frames
	ends    []int           // number of the World's last operation after each operation of the log; ends[0] is that after the setup
	frames  []int           // number of frames after each operation of the log, like ends
	results []outcome       // of each operation of the log
}

// outcome is the result of an operation in the page's transcript.
type outcome struct {
	Lines []string `json:"lines"`
	OK    bool     `json:"ok"`
	Text  string   `json:"text,omitempty"`  // the failed expectation
	Frame uint64   `json:"frame,omitempty"` // frame of the last request
}

// start creates the world and executes its setup.
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
	p := b.plane
	o := scenario.Options{Cluster: config.Cluster{Seed: b.seed, Controllers: p.Controllers, Nodes: p.Nodes, Classes: p.Classes}, Whole: p.Whole,
		Files: b.files, Progress: b.progress}
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

// mark records the World's numbers of operations and frames after an operation of the log.
func (r *run) mark() {
	r.ends = append(r.ends, len(r.world.Log()))
	r.frames = append(r.frames, len(r.world.Frames(0)))
}

// Limits for a world in a page. Beyond them, an operation would take seconds, or the world would need more memory than a phone has.
const (
	passMax   = 24 * time.Hour // simulated time of one operation
	framesMax = 120_000        // of one world
)

// tooMuch returns an error if the operation would exceed the limits.
func (r *run) tooMuch(op *scenario.Op) error {
	if n := len(r.world.Frames(0)); n >= r.room {
		return failed("this world is full: it has %d frames; go back, or start again (a scenario file has no such limit)", n)
	}
	return tooLong(op)
}

// tooLong returns an error if the operation would advance the clock by more than passMax.
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

// do executes one operation of a log.
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
	if err == nil && (r.withoutCEL(uint64(before)) || withoutPart(&result)) {
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

// refusedCEL is contained in every response of an API server that would have to evaluate CEL but cannot.
const refusedCEL = "is without CEL (build tag nocel)"

// withoutCEL reports whether a response after frame since contains the error about missing CEL.
func (r *run) withoutCEL(since uint64) bool {
	if cel.Supported {
		return false
	}
	return slices.ContainsFunc(r.world.Frames(since), func(f scenario.Frame) bool {
		x := f.Exchange
		return f.Kind == scenario.HTTPResponse && x != nil && bytes.Contains(x.ResBody, []byte(refusedCEL))
	})
}

// withoutPart reports whether a line of kubectl needs a part, such as templates of Go, that only the engine with CEL has.
func withoutPart(result *scenario.Result) bool {
	return !cel.Supported && slices.ContainsFunc(result.Lines, func(line string) bool { return strings.Contains(line, client.Unlinked) })
}

// entryOf returns the operation of the log to which an operation of the World belongs. It returns 0 for those of the setup.
func (r *run) entryOf(op int) int {
	n, _ := slices.BinarySearch(r.ends, op)
	return n
}

// needed returns the name of the data that API servers of these versions need and that is not loaded, or "" if there is none.
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

// minorOf returns the minor version of a version such as v1.35.2.
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + "." + parts[1]
}

// versions returns the Kubernetes versions that the initial world and a log require.
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
