package scenario

import (
	"maps"
	"slices"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/actor"
)

// Options are options of a World. The zero value means one API server of the newest version, seed 1 and no files.
type Options struct {
	// Cluster configures the cluster: Seed, Replicas, Controllers, Nodes, Replay, and Auth, the authorization mode. With
	// auth.RBAC, each client is the user with the client's name, and admin is in the group system:masters. The World
	// sets Bare, the clock and the trace.
	config.Cluster

	// Whole begins with the objects that API servers create when they start, such as cluster roles and the Service
	// kubernetes, and lets RBAC decide. All clients are in the group system:masters; kubectl's --as impersonates others.
	Whole bool

	Files map[string]string // by name; operations may add more

	// Strict turns the failure of a request without a ! before it into a Failure.
	Strict bool
	// Lenient allows only never and eventually to cause a Failure.
	Lenient bool
	// Agent returns the User-Agent of a client. If nil, the User-Agent is the client's name and a version, such as
	// alice/v1.
	Agent func(client string) string
	// Quiet omits lines and frames, and so disables the features that need frames: never, once and the condition seen.
	// Use it for runs that need only the recording.
	Quiet bool
	// Progress, if not nil, is notified whenever the clock of a World moves.
	Progress Progress
	// Tap, if not nil, receives the responses and events that servers send.
	Tap Tap
}

// Progress receives the times to which the clock of a World moves, while an operation runs.
type Progress interface{ Moved(to time.Time) }

// Tap receives responses and events before the clients do. op is the number of the operation that sent the request.
type Tap interface {
	Answer(op int, a *apiserver.Answer)
	// Event returns the events that the client of a watch receives instead of event. Tests use it to inject bugs.
	Event(op int, event []byte) [][]byte
}

// records is the number of trace records that the cluster keeps. No single step adds that many records.
const records = 1 << 14

// World is a cluster, its clients and their history. It is not safe for concurrent use.
type World struct {
	transcript
	options Options
	files   map[string]string

	log          []Op
	replies      []opAnswer        // the requests of each operation in log; empty in a quiet World
	seen         uint64            // the number of trace records that have become frames
	causes       map[uint64]uint64 // frame of each trace record
	commits      map[uint64]uint64 // frame of the commit of each revision
	reconcileLog reconcileLog      // reconciles of the control plane's controllers
	compact      uint64            // the compacted revision in the newest frame about a compaction

	clients   map[string]*client
	names     []string // the names of clients, in order of creation
	watches   []*watch
	numbered  int // the number of generated watch names
	actors    []actor.Actor
	vars      map[string]string
	texts     map[string]object.Object // parsed objects by their JSON; empty unless the World is quiet
	checks    []*standing              // the conditions of never and once
	foreign   *foreign                 // nil if nothing is imported
	imported  *sim.Imported            // the result of importing foreign
	recording *history                 // nil if nothing is recorded
	newest    uint64                   // the base of relative revisions; 0 means the store's newest
	healed    bool                     // there was no disturbance since heal
	used      bool                     // an operation has run after which seed, replicas and the like are no longer allowed

	sending  *call   // the request whose first trace record has not been read yet
	answered []*call // the requests whose responses have not been handled yet
	waiting  []*call
	due      []func() // functions that timers of clients have queued
	last     *call
	because  uint64           // the frame that caused the current action; 0 if an operation did
	shell    *kubectl.Session // the state shared by the lines of a prompt; nil before the first line
}

// client sends requests under a name.
type client struct {
	name    string
	jump    time.Duration // offset of the client's clock from that of the cluster
	held    bool
	replica int // number of the replica to which its requests are routed, or 0
	sent    int
	rv      string // the resourceVersion of its last response
	token   string // the continue token of its last page
	memory
}

// New returns a World with a new cluster. It returns an error if the options of the cluster are invalid.
func New(o Options) (*World, error) {
	w := &World{options: o, files: cloned(o.Files), transcript: transcript{quiet: o.Quiet}}
	return w, w.boot()
}

// boot creates the cluster and all state that depends on it.
func (w *World) boot() error {
	kept := records
	if w.options.Quiet {
		kept = 1 // one record suffices, because the hashes of the trace cover all records
	}
	o := w.options.Cluster
	at := clock.Epoch()
	if w.foreign != nil && !w.foreign.newest.IsZero() {
		at = w.foreign.newest
	}
	o.Bare, o.Clock, o.Trace = !w.options.Whole, clock.NewManual(at), kept
	if w.options.Whole {
		o.Auth = auth.RBAC
	}
	c, err := sim.New(o)
	if cel.Supported && err == nil && w.foreign != nil {
		w.imported, err = c.Import(w.foreign.objects, at)
	}
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

// opAnswer holds the last request of an operation and the total number of its requests.
type opAnswer struct {
	last     *Exchange
	requests int
}

// Do runs one operation. If the operation is invalid in the current state, it returns an error, adds nothing to the log
// and has no effect. If an expectation does not hold, it returns a Result with a Failure, and no error.
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

// Frames returns the frames with numbers greater than since. The caller must not change them.
func (w *World) Frames(since uint64) []Frame {
	return slices.Clip(w.frames[min(since, uint64(len(w.frames))):])
}

// Exchange returns the request and response of the http.req or http.res frame n, or nil.
func (w *World) Exchange(n uint64) *Exchange {
	if n == 0 || n > uint64(len(w.frames)) {
		return nil
	}
	return w.frames[n-1].Exchange
}

// Log returns the operations so far.
func (w *World) Log() []Op { return slices.Clip(w.log) }

// Hash returns the fingerprint of all frames, including bodies.
func (w *World) Hash() string { return w.print.text() }

// Semantic returns a fingerprint of the resulting objects that does not depend on the order of events: see
// trace.Trace.Semantic.
func (w *World) Semantic() string { return w.cluster.Trace().Semantic }

// Cluster returns the cluster. If the caller changes it, the log no longer determines the World.
func (w *World) Cluster() *sim.Cluster { return w.cluster }

// Now returns the cluster's time.
func (w *World) Now() time.Time { return w.clock.Now() }

// NextTimer returns the time of the earliest timer. It returns false if there are no timers.
func (w *World) NextTimer() (time.Time, bool) { return w.clock.Next() }

// Files returns the files that operations can use.
func (w *World) Files() map[string]string { return maps.Clone(w.files) }

// client returns the client with the given name. It creates the client on first use.
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

// you is the name of the client for operations without --as.
const you = "you"

// ClientState is the state of a client.
type ClientState struct {
	Name     string
	Replica  int // the replica that receives its requests
	Held     bool
	Jump     time.Duration // the offset of its clock from the cluster's
	Requests int           // the number of requests sent
	RV       string        // the resourceVersion of its last response
	Token    string        // the continue token of its last page, or "" if there is no next page
	Actor    *ActorState   // nil if it is not an actor
}

// ActorState is the state of an informer, a pager or a controller.
type ActorState = actor.State

// Clients returns all clients, in order of creation.
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

// Actors returns the actors, in the order of their first start.
func (w *World) Actors() []ActorState {
	out := make([]ActorState, len(w.actors))
	for i, a := range w.actors {
		out[i] = a.State()
	}
	return out
}
