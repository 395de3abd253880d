package listen

import (
	"context"
	"net"
	"sync"
)

// Memory is a net.Listener with connections in memory (net.Pipe). Use it as Options.Socket for clients in the same process that
// have to use HTTP, such as those in a testing/synctest bubble. Its address is 127.0.0.1:1.
//
//	socket := listen.NewMemory()
//	srv.Listen(fake.ListenOptions{Socket: socket})
//	client := &http.Client{Transport: &http.Transport{DialContext: socket.DialContext}}
type Memory struct {
	dialed chan net.Conn
	closed chan struct{}
	close  sync.Once
}

// NewMemory returns a Memory without connections.
func NewMemory() *Memory {
	return &Memory{dialed: make(chan net.Conn), closed: make(chan struct{})}
}

// DialContext returns a new connection to the listener. It ignores network and address, and waits until the connection is accepted.
// After Close it returns net.ErrClosed. Its type is that of http.Transport.DialContext.
func (m *Memory) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.dialed <- server:
		return client, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.dialed:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It may be called more than once.
func (m *Memory) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *Memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
