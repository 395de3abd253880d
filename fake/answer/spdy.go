package answer

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/moby/spdystream"

	"github.com/kubesim/kubesim/sim/kubelet"
)

// overSPDY serves a session on SPDY streams, which the client opens.
func (u upgraded) overSPDY(conn net.Conn, r *http.Request) {
	c, err := spdystream.NewConnection(conn, true)
	if err != nil {
		return
	}
	defer c.Close()
	ctx, gone := context.WithCancel(context.Background())
	opened := make(chan *spdystream.Stream)
	go func() {
		defer gone()
		c.Serve(func(s *spdystream.Stream) {
			if s.SendReply(http.Header{}, false) != nil {
				return
			}
			select {
			case opened <- s:
			case <-ctx.Done():
			}
		})
	}()
	if u.answer.Session.Ports {
		u.forward(ctx, opened)
		return
	}
	u.run(ctx, r, opened)
}

// run serves a command, with one stream each for its input, its output and its result.
func (u upgraded) run(ctx context.Context, r *http.Request, opened <-chan *spdystream.Stream) {
	session, query := u.answer.Session, r.URL.Query()
	streams := map[string]*spdystream.Stream{}
	wanted := []string{"error"}
	for _, name := range []string{"stdin", "stdout", "stderr"} {
		if on, _ := strconv.ParseBool(query.Get(name)); on && (name != "stderr" || query.Get("tty") != "true") {
			wanted = append(wanted, name)
		}
	}
	for missing(streams, wanted) {
		select {
		case s := <-opened:
			streams[s.Headers().Get("Streamtype")] = s
		case <-ctx.Done():
			return
		}
	}
	go func() { // the last stream is for terminal sizes, which are ignored
		for {
			select {
			case <-opened:
			case <-ctx.Done():
				return
			}
		}
	}()
	if in := streams["stdin"]; in != nil {
		go listen(u.server, session, in)
	}
	result, ended := carry(ctx, u.server, session, func(o kubelet.Output) error {
		to := streams["stdout"]
		if o.Error && streams["stderr"] != nil {
			to = streams["stderr"]
		}
		if to == nil {
			return nil
		}
		_, err := to.Write(o.Data)
		return err
	})
	if !ended {
		return
	}
	_, _ = streams["error"].Write(resultText(result))
	for _, name := range wanted {
		_ = streams[name].Close()
	}
	<-ctx.Done() // the client disconnects when it has read everything
}

func missing(streams map[string]*spdystream.Stream, names []string) bool {
	for _, name := range names {
		if streams[name] == nil {
			return true
		}
	}
	return false
}

// forward serves connections to ports, with two streams each, for data and for an error.
func (u upgraded) forward(ctx context.Context, opened <-chan *spdystream.Stream) {
	ctx, over := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer over()
	all.Go(func() { // the pod may be deleted
		defer over()
		carry(ctx, u.server, u.answer.Session, func(kubelet.Output) error { return nil })
	})
	pairs := map[string]*pair{}
	for {
		select {
		case s := <-opened:
			id := s.Headers().Get("Requestid")
			p := pairs[id]
			if p == nil {
				p = &pair{}
				pairs[id] = p
			}
			if s.Headers().Get("Streamtype") == "error" {
				p.error = s
			} else {
				p.data = s
			}
			if p.error != nil && p.data != nil {
				delete(pairs, id)
				all.Go(func() { u.connect(ctx, p) })
			}
		case <-ctx.Done():
			return
		}
	}
}

// pair contains the two streams of a connection to a port.
type pair struct{ data, error *spdystream.Stream }

// connect serves a connection to a port of a pod. If there is no connection, it writes the reason to the error stream.
func (u upgraded) connect(ctx context.Context, p *pair) {
	defer p.error.Close()
	defer p.data.Close()
	port, err := strconv.Atoi(p.data.Headers().Get("Port"))
	var session *kubelet.Session
	if err == nil {
		locked(u.server, func() { session, err = u.answer.Session.Connect(port) })
	}
	if err != nil {
		_, _ = io.WriteString(p.error, err.Error())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go listen(u.server, session, p.data)
	carry(ctx, u.server, session, func(o kubelet.Output) error {
		_, err := p.data.Write(o.Data)
		return err
	})
}
