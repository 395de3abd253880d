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

// Version is the version of the protocol: a message of another one is refused.
const Version = 1

// Engine is the simulator behind a page. It is for one goroutine.
type Engine struct {
	begin    *beginning // nil before the first boot
	branches []*branch
	current  *branch
	run      *run   // nil before the first boot, and after a panic
	sent     uint64 // frames of the run that the page has
	reset    bool   // the page has to forget the frames it has
	credit   int    // frames that the page accepts; negative for no limit
	taken    map[int]*attempt
	past     past              // the world of before that was looked at last
	texts    map[string]string // of lessons in another language than English, by their ids
	backend  *backend          // nil without serve
}

// New returns an Engine that waits for a boot.
func New() *Engine { return &Engine{credit: -1} }

// request is a message from a page. Its kind determines which of the fields are used.
type request struct {
	V    int    `json:"v"`
	ID   int64  `json:"id"`
	Kind string `json:"kind"`

	Seed     string        `json:"seed"`
	Replicas []replicaJSON `json:"replicas"`

	Controllers []string `json:"controllers"`
	Nodes       int      `json:"nodes"`

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

	query
	calling
}

// replicaJSON is an API server as a page describes it.
type replicaJSON struct {
	Version string          `json:"version"`
	Gates   map[string]bool `json:"gates,omitempty"`
}

// fields are the contents of an answer.
type fields map[string]any

// failure is an error with information on how the page can react to it.
type failure struct {
	Text  string `json:"text"`
	Needs string `json:"needs,omitempty"` // "cel": the other engine; "schema/1.35": data of that Kubernetes minor
	Fatal bool   `json:"fatal,omitempty"` // nothing works before the next boot or seek

	Column int `json:"column,omitempty"` // of the line of an operation, where it goes wrong; counted from 1
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
		"solve": (*Engine).solve, "speak": (*Engine).setLanguage,
		"serve": (*Engine).serve, "request": onBackend((*backend).request), "cancel": onBackend((*backend).cancel),
		"advance": onBackend((*backend).advance), "settle": onBackend((*backend).settle),
		"faults": onBackend((*backend).faults), "treat": onBackend((*backend).applyTrouble),
	}
}

// inWorld lists the kinds that need a world, inLog the kinds that need a log.
var (
	inWorld = []string{"do", "tick", "hash", "predict", "check", "hint", "solve"}
	inLog   = []string{"seek", "undo", "redo", "fork"}
)

// Handle answers one message. The answer comes first, then the frames that the page does not have yet.
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

// answer carries out a request. A panic ends the run, and the log stays.
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

// reply prints an answer.
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

// appendFrames appends the frames that the page does not have, as many as it takes.
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

// framesPerMessage bounds the messages about a world that was made of a long log: memory that was needed once is never given back.
const framesPerMessage = 5_000

// framesMessage encodes frames as a message to the page.
func (e *Engine) framesMessage(frames []scenario.Frame) []byte {
	const head = `{"v":%d,"kind":"frames","branch":%q,"reset":%t,"frames":[`
	b := fmt.Appendf(nil, head, Version, e.current.name(), e.reset)
	for i := range frames {
		if i > 0 {
			b = append(b, ',')
		}
		f := frames[i]
		f.Op = e.run.entryOf(f.Op)
		b = f.AppendJSON(b)
	}
	e.sent += uint64(len(frames))
	e.reset = false
	if e.credit >= 0 {
		e.credit -= len(frames)
	}
	return append(b, "]}"...)
}

// grant lets the page take that many more frames.
func (e *Engine) grant(q *request) (fields, error) {
	if q.Frames < 0 {
		return nil, failed("credit is a number of frames, not %d", q.Frames)
	}
	e.credit = max(e.credit, 0) + q.Frames
	return fields{"credit": e.credit}, nil
}

// hash returns the fingerprint of all frames.
func (e *Engine) hash(*request) (fields, error) {
	return fields{"hash": e.run.world.Hash(), "frames": e.frames()}, nil
}

func (e *Engine) frames() uint64 { return uint64(len(e.run.world.Frames(0))) }

// schema takes the data of another Kubernetes minor.
func (e *Engine) schema(q *request) (fields, error) {
	if err := schema.Register(q.Minor, q.Data); err != nil {
		return nil, err
	}
	return fields{"minor": q.Minor}, nil
}

var errNotBooted = &failure{Text: "there is no world: send boot first, or seek to go on after the simulator stopped"}

// name returns which of the two engines this is.
func name() string {
	if cel.Supported {
		return "cel"
	}
	return "core"
}

// about returns the properties of the engine that a page gets at boot.
func about() fields {
	return fields{"engine": name(), "version": sim.Version, "minors": schema.Minors(), "protocol": Version}
}
