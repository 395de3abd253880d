package soak

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/trouble"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// Options say how to run ops.
type Options struct {
	Config Config
	Ops    []Op // nil: those that Generate draws
	Tail   int  // how many records of the trace are kept
	// Tamper gets each frame of a watch before its client and returns what the client gets instead: to plant a bug. nil:
	// the frame as it is.
	Tamper func(s *checker.Stream, frame []byte) [][]byte
}

// Result is what became of a run.
type Result struct {
	History    *checker.History
	Violations []checker.Violation
	Hash       string // of the trace, and of every byte that clients got
	Semantic   string // of what became of the objects, whatever the order
	Tail       string // the end of the trace, for people
	Ops        int    // those that did something
}

// connection is an open watch.
type connection struct {
	client string
	server int
	stream *checker.Stream
	watch  *watchcache.Watch
}

// runner is a run in progress.
type runner struct {
	o       Options
	clock   *clock.Manual
	cluster *sim.Cluster
	history *checker.History
	memory  map[string]*Memory
	route   map[string]int
	open    []*connection
	step    int64
	hash    hash.Hash
	errors  []string
	done    int
	moves   int // how often it went on with another cluster
}

// Run runs ops and checks what came of them. An error says that it could not begin, or that a plan is wrong.
func Run(o Options) (*Result, error) {
	if o.Ops == nil {
		o.Ops = Generate(o.Config)
	}
	r := newRunner(o)
	if err := r.begin(); err != nil {
		return nil, err
	}
	for i, op := range o.Ops {
		r.step++
		if err := r.do(op, i+1); err != nil {
			return nil, fmt.Errorf("soak: op %d, %s: %w", i+1, op, err)
		}
		r.drain()
	}
	r.settle()
	return r.result(), nil
}

func newRunner(o Options) *runner {
	return &runner{o: o, clock: clock.NewManual(clock.Epoch()), history: &checker.History{Expiring: expiring}, step: 1,
		memory: map[string]*Memory{}, route: map[string]int{}, hash: sha256.New()}
}

// begin makes the cluster.
func (r *runner) begin() error {
	replicas := make([]sim.ReplicaOptions, max(r.o.Config.Replicas, 1))
	cluster, err := sim.New(sim.Options{Bare: true, Clock: r.clock, Seed: r.o.Config.Seed, Replicas: replicas,
		Trace: trace.Options{Keep: r.o.Tail, Hash: true}})
	if err != nil {
		return err
	}
	r.cluster = cluster
	for i := 1; i <= r.o.Config.Clients; i++ {
		name := fmt.Sprint("c", i)
		r.memory[name], r.route[name] = NewMemory(), 1+i%len(replicas)
	}
	code := 0
	r.send("set-up", 1, &Request{Method: wire.MethodPost, Path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		ContentType: "application/json", Body: widgets}, func(a *apiserver.Answer) { code = a.Code })
	if code != wire.StatusCreated {
		return fmt.Errorf("soak: the definition of widgets was answered with %d", code)
	}
	r.history.From = cluster.Revision()
	cluster.OnCommit(r.committed)
	return nil
}

// move goes on with another cluster that is as the one so far: a fork, or one that was loaded. Open watches and requests
// that wait stay behind; their clients never hear of them again.
func (r *runner) move(to *sim.Cluster) {
	for _, s := range r.history.Streams {
		s.Ended = true
	}
	r.cluster, r.open = to, nil
	r.moves++
	r.clock = to.Clock().(*clock.Manual)
	to.OnCommit(r.committed)
}

// committed keeps the log. The cluster's lock is held.
func (r *runner) committed(c sim.Commit) {
	commit := checker.Commit{ID: checker.ID{Resource: c.Resource, Namespace: c.Namespace, Name: c.Name}, Rev: c.Rev, Step: r.step}
	if c.Object != nil {
		o, err := checker.ReadObject(c.Object)
		if err != nil {
			r.errors = append(r.errors, err.Error())
			return
		}
		commit.Object = o
	}
	r.history.Commits = append(r.history.Commits, commit)
}

// send gives a request to a replica; answer is called at once or later, with the cluster's lock held.
func (r *runner) send(client string, server int, q *Request, answer func(*apiserver.Answer)) {
	in := &apiserver.Request{Method: q.Method, Path: q.Path, Query: q.Query, Header: wire.Header{"User-Agent": {client}},
		Body: []byte(q.Body), BodyExpected: q.Body != ""}
	if q.ContentType != "" {
		in.Header.Set("Content-Type", q.ContentType)
	}
	r.cluster.Server(server).Start(in, answer)
}

// do carries out the n-th op.
func (r *runner) do(o Op, n int) error {
	if o.Client == "*" {
		r.done++
		return r.happen(o)
	}
	m := r.memory[o.Client]
	if m == nil {
		return fmt.Errorf("there is no client %s", o.Client)
	}
	if o.Verb == "stop" {
		r.stop(o.Client)
		return nil
	}
	q := Make(o, m, n, r.cluster.Revision())
	if q == nil {
		return nil
	}
	r.done++
	if q.Stream != nil {
		r.watch(o.Client, n, q)
		return nil
	}
	r.call(o.Client, n, q)
	return nil
}

// call sends the n-th request for a client.
func (r *runner) call(client string, n int, q *Request) {
	c := q.Call
	c.N, c.Client, c.Called = n, client, r.step
	r.history.Calls = append(r.history.Calls, c)
	r.send(client, r.route[client], q, func(a *apiserver.Answer) { r.answered(c, r.memory[client], a) })
}

// answered takes in an answer.
func (r *runner) answered(c *checker.Call, m *Memory, a *apiserver.Answer) {
	body := a.Sent().Bytes()
	fmt.Fprintf(r.hash, "%d %d %s\n", c.N, a.Code, body)
	c.Returned = r.step
	if a.Lost > 0 {
		c.Code, c.Broken = a.Code, true
		return
	}
	if err := c.ReadAnswer(a.Code, body); err != nil {
		r.errors = append(r.errors, err.Error())
	}
	m.Learn(c)
}

// watchesMax is how many watches a client has open at most; the oldest makes room.
const watchesMax = 4

// watch opens a watch.
func (r *runner) watch(client string, n int, q *Request) {
	s, server := q.Stream, r.route[client]
	s.N, s.Client, s.Called = n, client, r.step
	r.history.Streams = append(r.history.Streams, s)
	r.send(client, server, q, func(a *apiserver.Answer) {
		fmt.Fprintf(r.hash, "%d %d %s\n", n, a.Code, a.Body.Bytes())
		if a.Watch == nil {
			s.Ended = true
			return
		}
		r.open = append(r.open, &connection{client, server, s, a.Watch})
	})
	if r.history.Settled { // what is open is looked at once more
		return
	}
	mine := 0
	for _, c := range r.open {
		if c.client == client {
			mine++
		}
	}
	if mine > watchesMax {
		r.stop(client)
	}
}

// stop closes the oldest watch of a client.
func (r *runner) stop(client string) {
	for i, c := range r.open {
		if c.client == client {
			lock := r.cluster.Server(c.server).Lock
			lock.Lock()
			c.watch.End()
			lock.Unlock()
			c.stream.Ended = true
			r.open = append(r.open[:i:i], r.open[i+1:]...)
			return
		}
	}
}

// drain reads what has come on all watches.
func (r *runner) drain() {
	if len(r.open) == 0 {
		return
	}
	lock := r.cluster.Server(1).Lock // the cluster's: all servers have the same
	lock.Lock()
	defer lock.Unlock()
	open := r.open[:0]
	for _, c := range r.open {
		frames, ended := c.watch.Take()
		for _, frame := range frames {
			r.receive(c, frame)
		}
		if c.stream.Ended = ended; !ended {
			open = append(open, c)
		}
	}
	clear(r.open[len(open):])
	r.open = open
}

// receive takes in one frame.
func (r *runner) receive(c *connection, frame []byte) {
	fmt.Fprintf(r.hash, "%d %s", c.stream.N, frame)
	frames := [][]byte{frame}
	if r.o.Tamper != nil {
		frames = r.o.Tamper(c.stream, frame)
	}
	for _, f := range frames {
		if err := c.stream.ReadEvent(f, r.step); err != nil {
			r.errors = append(r.errors, err.Error())
			continue
		}
		r.memory[c.client].Saw(c.stream, &c.stream.Events[len(c.stream.Events)-1])
	}
}

// happen does something to the cluster.
func (r *runner) happen(o Op) error {
	word := func(i int) string {
		if i < len(o.Words) {
			return o.Words[i]
		}
		return ""
	}
	if k := trouble.Find(o.Verb); k != nil {
		t, err := k.Parse(o.Words)
		if err != nil {
			return err
		}
		replica := r.cluster.Replica(t.Replica)
		if replica == nil {
			return fmt.Errorf("there is no replica %s", word(0))
		}
		return t.Do(replica)
	}
	switch o.Verb {
	case "advance":
		d, err := time.ParseDuration(word(0))
		r.clock.Advance(d)
		return err
	case "compact":
		r.cluster.Compact()
	case "expire":
		r.cluster.Expire()
	case "hold":
		r.cluster.Hold(word(0))
	case "release":
		r.cluster.Release(word(0))
	case "route":
		r.route[word(0)], _ = strconv.Atoi(word(1))
	case "fault":
		plan, err := fault.Parse(strings.Join(o.Words, " "))
		if err != nil {
			return err
		}
		return r.cluster.AddFaults(plan...)
	case "clear":
		r.cluster.ClearFaults()
	case "fork":
		r.move(r.cluster.Fork())
	case "reload":
		loaded, err := sim.Load(r.cluster.State(), nil)
		if err != nil {
			return err
		}
		r.move(loaded)
	}
	return nil
}
