package answer

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/status"
)

// tail is the body of a response that follows the log of a container.
type tail struct {
	server  *apiserver.Server
	session *kubelet.Session
	ctx     context.Context
	once    sync.Once
	closed  chan struct{}
	left    []byte // taken from the session, but not yet read
}

func newTail(ctx context.Context, server *apiserver.Server, session *kubelet.Session) *tail {
	return &tail{server: server, session: session, ctx: ctx, closed: make(chan struct{})}
}

// Read implements io.Reader. It waits until the container prints something, or the session ends.
func (t *tail) Read(p []byte) (int, error) {
	for len(t.left) == 0 {
		out, ended := take(t.server, t.session)
		for _, o := range out {
			t.left = append(t.left, o.Data...)
		}
		switch {
		case len(t.left) > 0:
		case ended:
			return 0, io.EOF
		default:
			select {
			case <-t.session.Ready():
			case <-t.closed:
				return 0, http.ErrBodyReadAfterClose
			case <-t.ctx.Done():
				t.Close()
				return 0, t.ctx.Err()
			}
		}
	}
	n := copy(p, t.left)
	t.left = t.left[n:]
	return n, nil
}

// Close implements io.Closer. It ends the session. Another goroutine may be reading.
func (t *tail) Close() error {
	t.once.Do(func() {
		close(t.closed)
		locked(t.server, t.session.End)
	})
	return nil
}

// take calls Session.Take with the lock held.
func take(server *apiserver.Server, s *kubelet.Session) (out []kubelet.Output, ended bool) {
	locked(server, func() { out, ended = s.Take() })
	return out, ended
}

func locked(server *apiserver.Server, f func()) {
	server.Lock.Lock()
	defer server.Lock.Unlock()
	f()
}

// carry passes the output of a session to write until the session ends, and returns its result. If ctx is done or write fails, it
// stops, and ended is false.
func carry(ctx context.Context, server *apiserver.Server, s *kubelet.Session, write func(kubelet.Output) error) (result *status.Status, ended bool) {
	defer locked(server, s.End)
	for {
		out, over := take(server, s)
		for _, o := range out {
			if write(o) != nil {
				return nil, false
			}
		}
		if over {
			return s.Result(), true
		}
		select {
		case <-s.Ready():
		case <-ctx.Done():
			return nil, false
		}
	}
}

// listen copies the client's input to a session until the input ends.
func listen(server *apiserver.Server, s *kubelet.Session, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			locked(server, func() { s.Input(buffer[:n]) })
		}
		if err != nil {
			locked(server, s.CloseInput)
			return
		}
	}
}
