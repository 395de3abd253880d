package scenario

import (
	"maps"
	"slices"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/actor"
)

// Options are options of a World. The zero value is one API server of the newest version, seed 1, no files.
type Options struct {
	// Cluster configures the cluster: Seed, Replicas, Controllers, Nodes, Replay, and Auth, the authorization mode. With auth.RBAC
	// each client is the user of its name, and admin is in the group system:masters. The World sets Bare, the clock and the trace.
	config.Cluster

	Files map[string]string // by name; operations may bring more

	// Strict makes a request that fails without a ! before it a Failure.
	Strict bool
	// Lenient makes only never and eventually Failures.
	Lenient bool
	// Agent returns the User-Agent of a client. If Agent is nil, it is the client's name and a version, such as alice/v1.
	Agent func(client string) string
	// Quiet omits lines and frames, and with them the features that need frames: never, once and the condition seen. It is for runs
	// of which only the recording counts.
	Quiet bool
	// Tap receives the answers and events that servers send, if it is not nil.
	Tap Tap
}

// Tap receives answers and events before the clients do. op is the number of the operation that sent the request.
type Tap interface {
	Answer(op int, a *apiserver.Answer)
	// Event returns the events that the client of a watch receives in place of an event. Tests use it to plant bugs.
	Event(op int, event []byte) [][]byte
}

// records is the number of records of the cluster's trace that are kept: more than a single step makes.
const records = 1 << 14

// World is a cluster, its clients and their history. It is not safe for concurrent use.
type World struct {
	transcript
	options Options
	files   map[string]string

	log          []Op
	replies      []opAnswer        // beside log; nothing in a World that is quiet
	seen         uint64            // records of the trace that have become frames
	causes       map[uint64]uint64 // record of the trace -> frame
	commits      map[uint64]uint64 // revision -> frame
	reconcileLog reconcileLog      // reconciles of the control plane's controllers
	compact      uint64            // compacted revision in the last frame about a compaction

	clients   map[string]*client
	names     []string // of clients, in the order in which they appeared
	watches   []*watch
	numbered  int // watches with a name that a number was found for
	actors    []actor.Actor
	vars      map[string]string
	texts     map[string]object.Object // that were read; nothing in a World that is not quiet
	checks    []*standing              // never and once
	recording *history                 // nil if nothing is recorded
	newest    uint64                   // base of relative revisions; 0 means the store's newest
	healed    bool                     // nothing has gone wrong since heal
	used      bool                     // something was done that seed and replicas would have to come before

	sending  *call   // whose first record is to come
	answered []*call // whose answers have not been handled yet
	waiting  []*call
	due      []func() // functions that timers of clients have queued
	last     *call
	because  uint64           // the frame that caused the current action; 0 for an operation
	shell    *kubectl.Session // state that lines of a prompt share; nil before the first
}

// client sends requests under a name.
type client struct {
	name    string
	jump    time.Duration // its clock against the cluster's
	held    bool
	replica int // 0 if no route was set
	sent    int
	rv      string // of its last answer
	token   string // of its last page
	memory
}

// New returns a World.
func New(o Options) (*World, error) {
	w := &World{options: o, files: cloned(o.Files), transcript: transcript{quiet: o.Quiet}}
	return w, w.boot()
}

// boot creates the cluster and everything that depends on it.
func (w *World) boot() error {
	kept := records
	if w.options.Quiet {
		kept = 1 // its hashes cover all records
	}
	o := w.options.Cluster
	o.Bare, o.Clock, o.Trace = true, clock.NewManual(clock.Epoch()), kept
	c, err := sim.New(o)
	if err != nil {
		return err
	}
	w.start(c)
	w.causes, w.commits = map[uint64]uint64{}, map[uint64]uint64{}
	w.clients, w.names = map[string]*client{}, nil
	w.vars, w.texts = map[string]string{}, map[string]object.Object{}
	w.shell = nil
	w.compact = c.Compacted()
	_, w.seen = c.TraceSince(0)
	w.recordReconciles()
	return nil
}

// opAnswer holds the last request of an operation and the number of its requests.
type opAnswer struct {
	last     *Exchange
	requests int
}

// Do runs one operation. It returns an error if the operation is invalid in the current state; the operation is then not in the log and
// has no effect. An expectation that does not hold is not an error but a Failure of the Result.
func (w *World) Do(op Op) (Result, error) {
	saved, known := w.files, len(w.names)
	if len(op.Files) > 0 {
		w.files = maps.Clone(w.files)
		maps.Copy(w.files, op.Files)
	}
	r := Result{N: len(w.log) + 1}
	w.current, w.op = &r, r.N
	defer func() { w.current, w.because = nil, 0 }()
	w.because = 0
	made, err := w.expand(op)
	if err == nil {
		err = w.carryOut(made)
	}
	if err != nil {
		w.files, w.op = saved, len(w.log)
		for _, name := range w.names[known:] {
			delete(w.clients, name)
		}
		w.names = w.names[:known]
		return Result{}, err
	}
	w.run()
	if !w.options.Quiet {
		w.tickFrame()
		w.sayTime()
	}
	w.log = append(w.log, op)
	if !w.options.Quiet {
		w.replies = append(w.replies, opAnswer{r.HTTP, r.requests})
	}
	r.OK = r.Failure == ""
	return r, nil
}

// Frames returns the frames after number since. They are not to be changed.
func (w *World) Frames(since uint64) []Frame {
	return slices.Clip(w.frames[min(since, uint64(len(w.frames))):])
}

// Exchange returns the request with the http.req or http.res frame n, or nil.
func (w *World) Exchange(n uint64) *Exchange {
	if n == 0 || n > uint64(len(w.frames)) {
		return nil
	}
	return w.frames[n-1].Exchange
}

// Log returns the operations so far.
func (w *World) Log() []Op { return slices.Clip(w.log) }

// Hash returns the fingerprint of all frames, bodies included.
func (w *World) Hash() string { return w.print.text() }

// Semantic returns the fingerprint of the outcome, independent of the order of events: see trace.Trace.Semantic.
func (w *World) Semantic() string { return w.cluster.Trace().Semantic }

// Cluster returns the cluster. To change it from outside breaks the promise that the log is all there is.
func (w *World) Cluster() *sim.Cluster { return w.cluster }

// Now returns the cluster's time.
func (w *World) Now() time.Time { return w.clock.Now() }

// NextTimer returns when the earliest timer fires, and whether there is one.
func (w *World) NextTimer() (time.Time, bool) { return w.clock.Next() }

// Files returns the files that operations can name.
func (w *World) Files() map[string]string { return maps.Clone(w.files) }

// client returns the client of a name, and creates it at its first use.
func (w *World) client(name string) *client {
	c := w.clients[name]
	if c == nil {
		c = &client{name: name, memory: newMemory()}
		w.clients[name] = c
		w.names = append(w.names, name)
	}
	return c
}

// agent returns the User-Agent of a client. The slash marks the end of the name for code that compares prefixes.
func (w *World) agent(client string) string {
	if w.options.Agent != nil {
		return w.options.Agent(client)
	}
	return client + "/v1"
}

// you is the client of operations that name none.
const you = "you"

// ClientState is the state of a client.
type ClientState struct {
	Name     string
	Replica  int // that its requests reach
	Held     bool
	Jump     time.Duration // its clock against the cluster's
	Requests int           // that it has sent
	RV       string        // of its last answer
	Token    string        // of its last page, "" if no other follows
	Actor    *ActorState   // nil if it only does operations
}

// ActorState is the state of an informer, a pager or a controller.
type ActorState = actor.State

// Clients returns all clients, in the order in which they appeared.
func (w *World) Clients() []ClientState {
	out := make([]ClientState, len(w.names))
	for i, name := range w.names {
		c := w.clients[name]
		out[i] = ClientState{Name: name, Replica: max(c.replica, 1), Held: c.held, Jump: c.jump, Requests: c.sent, RV: c.rv,
			Token: c.token}
		if a := w.actor(name); a != nil {
			s := a.State()
			out[i].Actor = &s
		}
	}
	return out
}

// Actors returns the actors, in the order in which they were started first.
func (w *World) Actors() []ActorState {
	out := make([]ActorState, len(w.actors))
	for i, a := range w.actors {
		out[i] = a.State()
	}
	return out
}
