package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/kubesim/kubesim/sim/soak"
)

// Remote executes the operations of a soak's clients, concurrently, against a server over HTTP, and records the history.
//
//	c1 ─ ops ─▶ requests ─┐
//	c2 ─ ops ─▶ requests ─┼─▶ server ─▶ responses, frames ─▶ checker.History
//	log ─ list and watch ─┘                └─ of the log's watches ─▶ checker.Rebuild ─▶ the log
//
// It creates and deletes objects named o0 to o5, and soak-end, in the namespaces default and kube-public. It does not cause faults
// or disturbances, which are up to the server.
type Remote struct {
	URL       string
	Transport http.RoundTripper
	Token     string
	Config    soak.Config

	step    atomic.Int64
	mu      sync.Mutex // guards the fields below
	history checker.History
	world   *scenario.World   // converts operations to requests; executes none of them
	newest  map[string]uint64 // newest revision that each client has seen
	streams sync.WaitGroup
}

// remoteResources are the soak resources that every server serves and whose objects do not expire.
var remoteResources = []string{"configmaps", "leases.coordination.k8s.io"}

// Run executes the operations. It returns an error if the server does not respond to requests at all.
func (r *Remote) Run() (*checker.History, error) {
	byClient := map[string][]scenario.Op{}
	for _, o := range soak.Generate(r.Config) {
		if client, ok := o.Flag("as"); ok && (len(o.Args) == 0 || slices.Contains(remoteResources, o.Args[0])) {
			byClient[client] = append(byClient[client], o)
		}
	}
	return r.record(func(ctx context.Context) {
		var clients sync.WaitGroup
		for name, ops := range byClient { // order does not matter: they run concurrently
			clients.Go(func() { r.client(ctx, name, ops) })
		}
		clients.Wait()
	})
}

// record runs work and returns the recorded history. The context passed to work also ends the watches of the log.
func (r *Remote) record(work func(ctx context.Context)) (*checker.History, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	if r.world, err = scenario.New(scenario.Options{Agent: func(client string) string { return "soak-" + client }}); err != nil {
		return nil, err
	}
	r.newest = map[string]uint64{}
	lists, logs, err := r.log(ctx)
	if err != nil {
		return nil, err
	}
	work(ctx)
	if err := r.finish(ctx, logs); err != nil {
		return nil, err
	}
	cancel()
	r.streams.Wait()
	full := make([]*checker.Stream, 0, len(logs))
	for _, l := range logs {
		full = append(full, l.stream)
	}
	checker.Rebuild(&r.history, lists, full)
	slices.SortStableFunc(r.history.Calls, func(a, b *checker.Call) int { return int(a.Called - b.Called) })
	return &r.history, nil
}

// log lists each resource and starts the watches that record all events.
func (r *Remote) log(ctx context.Context) (lists []*checker.Call, logs []*logger, err error) {
	for _, name := range remoteResources {
		q, err := r.ask(ctx, "list "+name+" -A --as log")
		if err != nil {
			return nil, nil, fmt.Errorf("soak: %s: %w", r.URL, err)
		}
		if !q.Call.Done() {
			return nil, nil, fmt.Errorf("soak: list %s: %d %s: give a -token that may read and write it", name, q.Call.Code,
				q.Call.Reason)
		}
		lists = append(lists, q.Call)
		w, err := r.line(fmt.Sprintf("watch %s -A --as log --rv %d", name, q.Call.Rev))
		if err != nil {
			return nil, nil, err
		}
		body, err := r.watch(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		l := &logger{stream: w.Stream, ended: make(chan struct{})}
		logs = append(logs, l)
		r.streams.Go(func() { r.follow(w, body, l.saw); l.end() })
	}
	return lists, logs, nil
}

// logger is a watch of the log. ended is closed when it has received the deletion of the last object, or when the watch ends.
type logger struct {
	stream *checker.Stream
	once   sync.Once
	ended  chan struct{}
	found  bool
}

func (l *logger) saw(ev *checker.Event) {
	if ev.Type == checker.Deleted && ev.Object.Name == lastName {
		l.found = true
		l.end()
	}
}

func (l *logger) end() { l.once.Do(func() { close(l.ended) }) }

const lastName = "soak-end"

// finish creates and deletes an object of each resource, and waits until the log contains its deletion.
func (r *Remote) finish(ctx context.Context, logs []*logger) error {
	for i, name := range remoteResources {
		for _, verb := range []string{"create", "delete"} {
			q, err := r.ask(ctx, verb+" "+name+" "+lastName+" --as log")
			if err != nil {
				return err
			}
			r.history.Calls = append(r.history.Calls, q.Call)
		}
		if <-logs[i].ended; !logs[i].found {
			return fmt.Errorf("soak: the watch of %s ended before everything had come: run fewer operations", name)
		}
	}
	return nil
}

// client executes its operations one after another.
func (r *Remote) client(ctx context.Context, name string, ops []scenario.Op) {
	var open []io.Closer
	for i, o := range ops {
		if o.Name == "stop" {
			if len(open) > 0 {
				open[0].Close()
				open = open[1:]
			}
			continue
		}
		q, err := r.make(o)
		switch {
		case q == nil || err != nil:
		case q.Call != nil:
			q.Call.N = i + 1
			_ = r.send(ctx, q) // the history records that there was no response
			r.mu.Lock()
			r.history.Calls = append(r.history.Calls, q.Call)
			r.mu.Unlock()
		default:
			q.Stream.N = i + 1
			body, err := r.watch(ctx, q)
			if err != nil {
				continue
			}
			open = append(open, body)
			r.mu.Lock()
			r.history.Streams = append(r.history.Streams, q.Stream)
			r.mu.Unlock()
			r.streams.Go(func() { r.follow(q, body, func(ev *checker.Event) { r.newest[name] = max(r.newest[name], ev.Rev) }) })
		}
	}
}

// make returns the request for an operation, or nil if the operation sends none.
func (r *Remote) make(o scenario.Op) (*scenario.Request, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client, _ := o.Flag("as")
	list, err := r.world.Requests(o, r.newest[client])
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// line parses a line of a scenario and returns its request.
func (r *Remote) line(text string) (*scenario.Request, error) {
	o, err := scenario.Parse(text)
	if err != nil {
		return nil, err
	}
	return r.make(o)
}

// ask parses a line of a scenario, sends its request, and records the response.
func (r *Remote) ask(ctx context.Context, text string) (*scenario.Request, error) {
	q, err := r.line(text)
	if err != nil {
		return nil, err
	}
	return q, r.send(ctx, q)
}

// begin sends a request and returns the response.
func (r *Remote) begin(ctx context.Context, q *scenario.Request) (*http.Response, error) {
	in, err := http.NewRequestWithContext(ctx, q.Method, r.URL+q.Path, bytes.NewReader(q.Body))
	if err != nil {
		return nil, err
	}
	in.Header = http.Header(q.Header).Clone()
	if r.Token != "" {
		in.Header.Set("Authorization", "Bearer "+r.Token)
	}
	return r.Transport.RoundTrip(in)
}

// send sends a request and records the response.
func (r *Remote) send(ctx context.Context, q *scenario.Request) error {
	q.Call.Called = r.step.Add(1)
	res, err := r.begin(ctx, q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	q.Call.Returned = r.step.Add(1)
	if err != nil {
		q.Call.Code, q.Call.Broken = res.StatusCode, true
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q.Answered(res.StatusCode, body)
	err = q.Call.ReadAnswer(res.StatusCode, body)
	r.newest[q.Client] = max(r.newest[q.Client], q.Call.Rev)
	return err
}

// watch opens a watch and returns its body. It returns an error unless the status code is 200.
func (r *Remote) watch(ctx context.Context, q *scenario.Request) (io.ReadCloser, error) {
	q.Stream.Called = r.step.Add(1)
	res, err := r.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("soak: watch %s: %s", q.Path, res.Status)
	}
	return res.Body, nil
}

// follow reads a watch until it ends.
func (r *Remote) follow(q *scenario.Request, body io.ReadCloser, saw func(ev *checker.Event)) {
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		r.mu.Lock()
		if err := q.Stream.ReadEvent(lines.Bytes(), r.step.Add(1)); err == nil {
			q.Saw(lines.Bytes())
			saw(&q.Stream.Events[len(q.Stream.Events)-1])
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	q.Stream.Ended = true
	r.mu.Unlock()
}
