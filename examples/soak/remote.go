package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/soak"
)

// Remote runs the work of a soak's clients, side by side, against a server over HTTP, and keeps the history.
//
//	c1 ─ ops ─▶ requests ─┐
//	c2 ─ ops ─▶ requests ─┼─▶ server ─▶ answers, frames ─▶ checker.History
//	log ─ list and watch ─┘                └─ of the log's watches ─▶ checker.Rebuild ─▶ the log
//
// It makes and removes objects named o0 to o5, and soak-end, in the namespaces default and kube-public. Trouble is left
// out: it is the server's own.
type Remote struct {
	URL       string
	Transport http.RoundTripper
	Token     string
	Config    soak.Config

	step    atomic.Int64
	mu      sync.Mutex
	history checker.History
	memory  map[string]*soak.Memory
	streams sync.WaitGroup
}

// remoteResources are those of soak that every server has and whose objects stay.
var remoteResources = []string{"configmaps", "leases.coordination.k8s.io"}

// Run runs the work. An error says that the server could not be asked at all.
func (r *Remote) Run() (*checker.History, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lists, logs, err := r.log(ctx)
	if err != nil {
		return nil, err
	}
	r.memory = map[string]*soak.Memory{}
	byClient := map[string][]soak.Op{}
	for _, o := range soak.Generate(r.Config) {
		if o.Client != "*" && (len(o.Words) == 0 || slices.Contains(remoteResources, o.Words[0])) {
			byClient[o.Client] = append(byClient[o.Client], o)
			r.memory[o.Client] = soak.NewMemory()
		}
	}
	var clients sync.WaitGroup
	for name, ops := range byClient { // order does not matter: they run side by side
		clients.Go(func() { r.client(ctx, name, ops) })
	}
	clients.Wait()
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

// reader is an open watch.
type reader struct {
	stream *checker.Stream
	body   io.ReadCloser
}

// log lists each resource and begins the watches that tell of everything.
func (r *Remote) log(ctx context.Context) (lists []*checker.Call, logs []*logger, err error) {
	for _, name := range remoteResources {
		op, _ := soak.ParseOp("log list " + name)
		q := soak.Make(op, soak.NewMemory(), 0, 0)
		if err := r.ask(ctx, "log", q); err != nil {
			return nil, nil, fmt.Errorf("soak: %s: %w", r.URL, err)
		}
		if !q.Call.Done() {
			return nil, nil, fmt.Errorf("soak: list %s: %d %s: give a -token that may read and write it", name, q.Call.Code,
				q.Call.Reason)
		}
		lists = append(lists, q.Call)
		op, _ = soak.ParseOp("log watch " + name + " rv=last legacy")
		m := soak.NewMemory()
		m.Last[q.Call.Scope] = q.Call.Rev
		w := soak.Make(op, m, 0, 0)
		rd, err := r.watch(ctx, "log", w)
		if err != nil {
			return nil, nil, err
		}
		l := &logger{stream: w.Stream, ended: make(chan struct{})}
		logs = append(logs, l)
		r.streams.Go(func() { r.follow(rd, l.saw); l.end() })
	}
	return lists, logs, nil
}

// logger is a watch of the log; it has ended when the object that goes away last has done so, or when nothing more can.
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

// finish writes an object of each resource and waits until the log has it.
func (r *Remote) finish(ctx context.Context, logs []*logger) error {
	for i, name := range remoteResources {
		for _, verb := range []string{"create", "delete"} {
			op, _ := soak.ParseOp("log " + verb + " " + name + " default/" + lastName)
			q := soak.Make(op, soak.NewMemory(), 0, 0)
			if err := r.ask(ctx, "log", q); err != nil {
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

// client does its ops, one after the other.
func (r *Remote) client(ctx context.Context, name string, ops []soak.Op) {
	var open []*reader
	for i, o := range ops {
		if o.Verb == "stop" {
			if len(open) > 0 {
				open[0].body.Close()
				open = open[1:]
			}
			continue
		}
		r.mu.Lock()
		m := r.memory[name]
		newest := uint64(0)
		for _, rev := range m.Known { // order does not matter: the greatest is taken
			newest = max(newest, rev)
		}
		q := soak.Make(o, m, i+1, newest)
		r.mu.Unlock()
		switch {
		case q == nil:
		case q.Call != nil:
			q.Call.N = i + 1
			_ = r.ask(ctx, name, q) // an answer that never came is in the history as such
			r.mu.Lock()
			r.history.Calls = append(r.history.Calls, q.Call)
			m.Learn(q.Call)
			r.mu.Unlock()
		default:
			q.Stream.N = i + 1
			rd, err := r.watch(ctx, name, q)
			if err != nil {
				continue
			}
			open = append(open, rd)
			r.mu.Lock()
			r.history.Streams = append(r.history.Streams, q.Stream)
			r.mu.Unlock()
			r.streams.Go(func() { r.follow(rd, func(ev *checker.Event) { m.Saw(q.Stream, ev) }) })
		}
	}
}

// request makes the HTTP request.
func (r *Remote) request(ctx context.Context, client string, q *soak.Request) (*http.Request, error) {
	in, err := http.NewRequestWithContext(ctx, q.Method, r.URL+q.Path+"?"+q.Query.Encode(), strings.NewReader(q.Body))
	if err != nil {
		return nil, err
	}
	in.Header.Set("User-Agent", "soak-"+client)
	if q.ContentType != "" {
		in.Header.Set("Content-Type", q.ContentType)
	}
	if r.Token != "" {
		in.Header.Set("Authorization", "Bearer "+r.Token)
	}
	return in, nil
}

// ask sends a request and notes the answer.
func (r *Remote) ask(ctx context.Context, client string, q *soak.Request) error {
	in, err := r.request(ctx, client, q)
	if err != nil {
		return err
	}
	q.Call.Client, q.Call.Called = client, r.step.Add(1)
	res, err := r.Transport.RoundTrip(in)
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
	return q.Call.ReadAnswer(res.StatusCode, body)
}

// watch opens a watch.
func (r *Remote) watch(ctx context.Context, client string, q *soak.Request) (*reader, error) {
	in, err := r.request(ctx, client, q)
	if err != nil {
		return nil, err
	}
	q.Stream.Client, q.Stream.Called = client, r.step.Add(1)
	res, err := r.Transport.RoundTrip(in)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("soak: watch %s: %s", q.Path, res.Status)
	}
	return &reader{q.Stream, res.Body}, nil
}

// follow reads a watch to its end.
func (r *Remote) follow(rd *reader, saw func(ev *checker.Event)) {
	defer rd.body.Close()
	lines := bufio.NewScanner(rd.body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		r.mu.Lock()
		if err := rd.stream.ReadEvent(lines.Bytes(), r.step.Add(1)); err == nil {
			saw(&rd.stream.Events[len(rd.stream.Events)-1])
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	rd.stream.Ended = true
	r.mu.Unlock()
}
