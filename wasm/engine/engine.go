package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/kubesim/kubesim/sim/schema"
)

// Version is the version of the protocol. Messages with another version are rejected.
const Version = 1

// Engine is the simulator behind a page. It is not safe for concurrent use.
type Engine struct {
	begin    *beginning // nil until the first boot
	branches []*branch
	current  *branch
	run      *run   // nil until the first boot, and after a panic
	sent     uint64 // number of frames of the run that the page has received
	reset    bool   // whether the page has to discard its frames
	keep     uint64 // number of frames that it does not discard then
	credit   int    // number of further frames that the page accepts; negative means no limit
	taken    map[int]*attempt
	past     past              // the earlier world that was last viewed
	spare    *run              // a run of the current branch that is behind run, for the next undo; nil if there is none
	texts    map[string]string // texts of translated lessons by lesson ID
	backend  *backend          // nil until the first serve

	// Progress, if not nil, receives the time of the world while an operation runs.
	Progress scenario.Progress
}

// New returns an Engine without a world. A boot request creates one.
func New() *Engine { return &Engine{credit: -1} }

// request is a message from a page. Its kind determines which of the fields are used.
type request struct {
	V    int    `json:"v"`
	ID   int64  `json:"id"`
	Kind string `json:"kind"`

	Seed     string        `json:"seed"`
	Replicas []replicaJSON `json:"replicas"`

	plane
	Scenario string            `json:"scenario"`
	Lesson   string            `json:"lesson"`
	Own      string            `json:"own"`
	Texts    map[string]string `json:"texts"`
	Log      []json.RawMessage `json:"log"`
	Cursor   *int              `json:"cursor"`
	Op       json.RawMessage   `json:"op"`
	Until    string            `json:"until"`
	N        *int              `json:"n"`
	Branch   string            `json:"branch"`
	Frames   int               `json:"frames"`
	Limit    int               `json:"limit"`
	Answer   *int              `json:"answer"`
	Answers  map[int]int       `json:"answers"`
	Minor    string            `json:"minor"`
	Data     []byte            `json:"data"`
	Sources  []sourceJSON      `json:"sources"`

	query
	calling
}

// replicaJSON is the configuration of an API server in a message.
type replicaJSON struct {
	Version string          `json:"version"`
	Gates   map[string]bool `json:"gates,omitempty"`
}

// sourceJSON is a file in a message. Its data is encoded in base64.
type sourceJSON struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// fields are the fields of a response.
type fields map[string]any

// failure is an error that also specifies how the page can react to it.
type failure struct {
	Text  string `json:"text"`
	Needs string `json:"needs,omitempty"` // "cel": the engine with CEL; "schema/1.35": the data of that Kubernetes minor version
	Fatal bool   `json:"fatal,omitempty"` // no request succeeds until the next boot or seek

	Column int `json:"column,omitempty"` // column of the error in the operation's line, counted from 1
}

func (f *failure) Error() string { return f.Text }

func failed(format string, args ...any) error { return &failure{Text: fmt.Sprintf(format, args...)} }

var kinds map[string]func(*Engine, *request) (fields, error)

func init() {
	kinds = map[string]func(*Engine, *request) (fields, error){
		"boot": (*Engine).boot, "schema": (*Engine).schema, "do": (*Engine).do, "tick": (*Engine).tick,
		"seek": (*Engine).seek, "undo": (*Engine).undo, "redo": (*Engine).redo, "fork": (*Engine).fork,
		"branch": (*Engine).branchTo, "hash": (*Engine).hash, "credit": (*Engine).grant, "query": (*Engine).query,
		"lesson": (*Engine).lesson, "predict": (*Engine).predict, "check": (*Engine).check, "hint": (*Engine).hint,
		"solve": (*Engine).solve, "speak": (*Engine).setLanguage, "prepare": (*Engine).prepare,
		"serve": (*Engine).serve, "request": onBackend((*backend).request), "cancel": onBackend((*backend).cancel),
		"advance": onBackend((*backend).advance), "settle": onBackend((*backend).settle),
		"faults": onBackend((*backend).faults), "treat": onBackend((*backend).applyTrouble),
	}
}

// inWorld lists the kinds that need a world, inLog the kinds that need a log.
var (
	inWorld = []string{"do", "tick", "hash", "predict", "check", "hint", "solve", "prepare"}
	inLog   = []string{"seek", "undo", "redo", "fork"}
)

// Handle processes a message. It returns the response, followed by the frames that the page has not received.
func (e *Engine) Handle(msg []byte) [][]byte {
	var q request
	if err := json.Unmarshal(msg, &q); err != nil {
		return [][]byte{reply(q.ID, nil, failed("this message cannot be read: %v", err))}
	}
	if q.V != Version {
		return [][]byte{reply(q.ID, nil, &failure{Fatal: true,
			Text: fmt.Sprintf("the engine speaks version %d of the protocol, the page %d: reload the page", Version, q.V)})}
	}
	answer, err := e.answer(&q)
	out := [][]byte{reply(q.ID, answer, err)}
	out = e.appendFrames(out)
	if e.backend != nil {
		out = e.backend.deliver(out)
	}
	return out
}

// answer executes a request. A panic discards the run, but not the log.
func (e *Engine) answer(q *request) (out fields, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			e.run, e.backend = nil, nil
			out, err = nil, &failure{Text: fmt.Sprintf("the simulator stopped: %v", broken), Fatal: true}
		}
	}()
	do := kinds[q.Kind]
	switch {
	case do == nil:
		return nil, failed("unknown kind %q", q.Kind)
	case e.run == nil && slices.Contains(inWorld, q.Kind), e.begin == nil && slices.Contains(inLog, q.Kind):
		return nil, errNotBooted
	}
	return do(e, q)
}

// reply encodes a response.
func reply(id int64, answer fields, err error) []byte {
	kind := "ok"
	if err != nil {
		var f *failure
		var syntax *scenario.SyntaxError
		switch {
		case errors.As(err, &f):
		case errors.As(err, &syntax):
			f = &failure{Text: syntax.Text, Column: syntax.Column}
		default:
			f = &failure{Text: err.Error()}
		}
		kind, answer = "error", fields{"error": f}
	}
	if answer == nil {
		answer = fields{}
	}
	answer["v"], answer["id"], answer["kind"] = Version, id, kind
	b, err := json.Marshal(answer)
	if err != nil {
		panic("engine: an answer cannot be printed: " + err.Error())
	}
	return b
}

// appendFrames appends messages with the frames that the page has not received, up to its credit.
func (e *Engine) appendFrames(out [][]byte) [][]byte {
	if e.run == nil {
		return out
	}
	frames := e.run.world.Frames(e.sent)
	if e.credit >= 0 && len(frames) > e.credit {
		frames = frames[:e.credit]
	}
	for len(frames) > framesPerMessage {
		out = append(out, e.framesMessage(frames[:framesPerMessage]))
		frames = frames[framesPerMessage:]
	}
	if len(frames) == 0 && !e.reset {
		return out
	}
	return append(out, e.framesMessage(frames))
}

// framesPerMessage limits the size of a message. The memory of a WebAssembly module never shrinks, so a large message for the
// replay of a long log would occupy it permanently.
const framesPerMessage = 5_000

// framesMessage encodes frames as a message to the page.
func (e *Engine) framesMessage(frames []scenario.Frame) []byte {
	const head = `{"v":%d,"kind":"frames","branch":%q,"reset":%t,"keep":%d,"frames":[`
	b := fmt.Appendf(nil, head, Version, e.current.name(), e.reset, e.keep)
	for i := range frames {
		if i > 0 {
			b = append(b, ',')
		}
		f := frames[i]
		f.Op = e.run.entryOf(f.Op)
		b = f.AppendJSON(b)
	}
	e.sent += uint64(len(frames))
	e.reset, e.keep = false, 0
	if e.credit >= 0 {
		e.credit -= len(frames)
	}
	return append(b, "]}"...)
}

// grant lets the page receive that many additional frames.
func (e *Engine) grant(q *request) (fields, error) {
	if q.Frames < 0 {
		return nil, failed("credit is a number of frames, not %d", q.Frames)
	}
	e.credit = max(e.credit, 0) + q.Frames
	return fields{"credit": e.credit}, nil
}

// hash returns the hash of all frames.
func (e *Engine) hash(*request) (fields, error) {
	return fields{"hash": e.run.world.Hash(), "frames": e.frames()}, nil
}

func (e *Engine) frames() uint64 { return uint64(len(e.run.world.Frames(0))) }

// schema registers the data of another Kubernetes minor version.
func (e *Engine) schema(q *request) (fields, error) {
	if err := schema.Register(q.Minor, q.Data); err != nil {
		return nil, err
	}
	return fields{"minor": q.Minor}, nil
}

var errNotBooted = &failure{Text: "there is no world: send boot first, or seek to go on after the simulator stopped"}

// name returns "cel" or "core", the name of this build of the engine.
func name() string {
	if cel.Supported {
		return "cel"
	}
	return "core"
}

// about returns the properties of the engine that a page receives in the response to boot.
func about() fields {
	return fields{"engine": name(), "version": sim.Version, "minors": schema.Minors(), "protocol": Version}
}
