package fake

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/oracle"
)

// Process is a client that can crash and restart, like the container of an operator.
//
//	p := srv.Process("operator", func(ctx context.Context, transport http.RoundTripper) error {
//		manager, err := controllerruntime.NewManager(&rest.Config{Host: srv.URL(), Transport: transport, QPS: -1}, options)
//		…
//		return manager.Start(ctx)
//	})
//	p.Crash(5 * time.Second)
type Process struct {
	server *Server
	name   string
	run    func(ctx context.Context, transport http.RoundTripper) error

	mu      sync.Mutex
	life    *life // nil while the process is down
	stopped bool
	down    time.Duration // the length of the next pause
	stop    chan struct{} // closed to end the process
	ended   chan struct{} // closed when the process has ended
}

// life is one run of a process. It is also the transport of the run's requests. After its end it does not refer to the server, so that
// goroutines that the process leaves behind do not keep the server in memory.
type life struct {
	name      string // of the process
	end       context.CancelFunc
	mu        sync.Mutex
	transport http.RoundTripper // nil after its end
}

var errDead = errors.New("kubesim: the process has crashed")

// restartAfter is the pause before a process whose function has returned is started again. It is the back-off of a kubelet after
// the first end of a container.
const restartAfter = 10 * time.Second

// Process runs a client of the server in a goroutine, until the server's test ends. It must send its requests through
// transport, which makes the User-Agent begin with name, so that faults and routes can match it. run must return when
// ctx is done. If it returns earlier, it is called again after ten seconds, like a container that is restarted. It may
// return an error if a fault has occurred (Faults, replicas). In a run without faults, an error fails the test.
//
// The server's clock must advance by itself, so Process is for a testing/synctest bubble (Options.Clock).
func (s *Server) Process(name string, run func(ctx context.Context, transport http.RoundTripper) error) *Process {
	p := &Process{server: s, name: name, run: run, stop: make(chan struct{}), ended: make(chan struct{})}
	s.mu.Lock()
	s.processes = append(s.processes, p)
	s.mu.Unlock()
	go p.loop()
	if s.test != nil {
		s.test.Cleanup(p.Stop)
	}
	return p
}

// Processes returns the processes in the order in which they were started.
func (s *Server) Processes() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Process(nil), s.processes...)
}

// Name returns the process's name, with which the User-Agent of its requests begins.
func (p *Process) Name() string { return p.name }

// loop runs the process, and restarts it after a pause whenever it has ended.
func (p *Process) loop() {
	defer close(p.ended)
	for {
		ctx, end := context.WithCancel(context.Background())
		l := &life{name: p.name, end: end, transport: p.server.transport}
		p.mu.Lock()
		if p.stopped {
			p.mu.Unlock()
			end()
			return
		}
		p.life, p.down = l, restartAfter
		p.mu.Unlock()
		err := p.run(ctx, l)
		p.mu.Lock()
		unasked := l.die() && !p.stopped
		p.life = nil
		down := p.down
		p.mu.Unlock()
		if err != nil && unasked && !p.server.IsTroubled() && p.server.test != nil {
			oracle.Errorf(p.server.test)("kubesim: the process %s ended: %v", p.name, err)
		}
		timer := p.server.cluster.Clock().NewTimer(down)
		select {
		case <-timer.C():
		case <-p.stop:
			timer.Stop()
			return
		}
	}
}

// Crash ends the process immediately, and restarts it after down. From now on, all its requests fail, including
// requests in flight. If the process has already crashed and is still ending, Crash changes only the time; during the
// pause it has no effect.
func (p *Process) Crash(down time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	if p.life != nil {
		p.life.die()
	}
}

// Stop ends the process gracefully, by ending the context of run, and waits until run has returned. The process is not restarted.
func (p *Process) Stop() {
	p.mu.Lock()
	if !p.stopped {
		p.stopped = true
		close(p.stop)
		if p.life != nil {
			p.life.end()
		}
	}
	p.mu.Unlock()
	<-p.ended
}

// die ends the run: its context is done, and its requests fail. It returns false if the run had already ended.
func (l *life) die() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	alive := l.transport != nil
	l.transport = nil
	l.end()
	return alive
}

// server returns the transport to the server, or nil after the end.
func (l *life) server() http.RoundTripper {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.transport
}

// RoundTrip implements http.RoundTripper.
func (l *life) RoundTrip(r *http.Request) (*http.Response, error) {
	server := l.server()
	if server == nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, errDead
	}
	if agent := r.Header.Get("User-Agent"); !strings.HasPrefix(agent, l.name) {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", strings.TrimSpace(l.name+" "+agent))
	}
	res, err := server.RoundTrip(r)
	if l.server() == nil {
		if err == nil {
			res.Body.Close()
		}
		return nil, errDead
	}
	return res, err
}

// ClientClock returns the clock of the machine on which a client runs. Calls with the same name return the same clock.
// It shows the server's time until Jump changes it. Pass it to the client instead of a real clock: a controller that
// takes a k8s.io/utils/clock gets clock.As[kclock.Timer, kclock.Ticker]{Clock: srv.ClientClock("b")}.
//
// The clock of a client that uses package time cannot be changed. Times that it keeps only in memory have a monotonic
// reading, which is not affected by a jump on a real machine either. A jump breaks comparisons with a time that went
// through the API, such as a lease's renewTime, or with a time that was rounded (kubernetes/kubernetes#125761).
func (s *Server) ClientClock(client string) *clock.Skewed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clocks == nil {
		s.clocks = map[string]*clock.Skewed{}
	}
	if s.clocks[client] == nil {
		s.clocks[client] = clock.NewSkewed(s.cluster.Clock())
	}
	return s.clocks[client]
}

// HasClientClock reports whether ClientClock was called for a client.
func (s *Server) HasClientClock(client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clocks[client] != nil
}

// Jump moves the clock of a client's machine forward by d, or back if d is negative. It does not affect the server's
// time, timers and other clients.
func (s *Server) Jump(client string, d time.Duration) { s.ClientClock(client).Jump(d) }
