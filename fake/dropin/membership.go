package dropin

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/encryption"
	v3 "github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/cbor"
)

// membership is the connection of an API server to its etcd, through which the API servers of a prefix share one store. It implements
// sim.Shared.
//
//	read      receives messages; it never waits for the store
//	work      applies changes and the other news, as soon as the store is free
//	Acquire   called by requests and timers
type membership struct {
	start
	gone   chan struct{} // closed when the connection ends; nil without one
	shared chan struct{} // closed when share is called

	prefix string
	keys   net.Listener
	conn   io.Closer
	out    *sender
	stderr io.Writer
	srv    *fake.Server

	working sync.WaitGroup // work

	mu      sync.Mutex
	changed sync.Cond
	held    bool // this API server may write
	ended   bool // the connection has ended
	leads   bool // this API server writes the folder of the data, and runs the controllers
	written bool // the folder contains everything
	pending []sim.Change
	peers   []sim.Peer // nil if they have not changed since the last work
	others  int        // number of peers
	news    chan struct{}
}

// Close leaves the API servers of the prefix. The server must be closed, so that no other one writes the folder of the data before.
func (m *membership) Close() {
	if m.conn != nil {
		_ = m.conn.Close()
		_ = m.keys.Close() // of a listener on this machine
	}
	m.working.Wait() // it may have begun to write the folder
}

var errForeign = errors.New("it is not kubesim's etcd: data is kept in memory only")

const (
	joinPatience = 20 * time.Second // for an etcd that is starting, and for other API servers that are starting
	joinPoll     = 5 * time.Millisecond
)

// join joins the API servers of a prefix, as self describes it. It waits up to joinPatience for an etcd that is starting. If the server at
// the URL is not kubesim's etcd, the error is errForeign.
func join(ctx context.Context, etcd, prefix string, self sim.Peer) (*membership, error) {
	ctx, cancel := context.WithTimeout(ctx, joinPatience)
	defer cancel()
	for {
		m, err := joinOnce(ctx, etcd, prefix, self)
		if err == nil || errors.Is(err, errForeign) {
			return m, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("etcd at %s: %w", etcd, err)
		case <-time.After(joinPoll):
		}
	}
}

// joinOnce is join without repetition. It returns when etcd allows the API server to write for the first time.
func joinOnce(ctx context.Context, etcd, prefix string, self sim.Peer) (m *membership, err error) {
	keys, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			keys.Close()
		}
	}()
	text, err := json.Marshal(self)
	if err != nil {
		return nil, err
	}
	query := url.Values{"prefix": {prefix}, "keys": {"http://" + keys.Addr().String()}, "server": {string(text)}}
	q, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(etcd, "/")+joinPath+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	q.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {protocol}}
	res, err := (&http.Transport{}).RoundTrip(q)
	if err != nil {
		return nil, err
	}
	conn, ok := res.Body.(io.ReadWriteCloser)
	if res.StatusCode != http.StatusSwitchingProtocols || !ok {
		res.Body.Close()
		return nil, errForeign
	}
	m = &membership{prefix: prefix, keys: keys, conn: conn, out: newSender(conn), gone: make(chan struct{}), shared: make(chan struct{}),
		news: make(chan struct{}, 1)}
	m.changed.L = &m.mu
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	in := gob.NewDecoder(conn)
	for m.Dir == "" {
		var x message
		switch err := in.Decode(&x); {
		case err != nil:
			conn.Close()
			return nil, errors.Join(err, ctx.Err())
		case x.Start != nil:
			m.start = *x.Start
		}
	}
	m.held, m.leads, m.written, m.others = true, m.Leads, m.Leads, len(m.Others)
	go m.read(in)
	return m, nil
}

// read receives messages until the connection ends.
func (m *membership) read(in *gob.Decoder) {
	defer close(m.gone)
	for {
		var x message
		if in.Decode(&x) != nil {
			break
		}
		m.receive(&x)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.changed.Broadcast()
}

// receive handles one message.
func (m *membership) receive(x *message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case x.Change != nil:
		m.pending = append(m.pending, *x.Change)
	case x.Granted:
		m.held = true
		m.changed.Broadcast()
		return
	case x.Revoke:
		m.others = max(m.others, 1) // an API server that joins is a peer as soon as it starts
		go m.release()
		return
	case x.Lead:
		m.leads = true
	case x.Peers != nil:
		m.others, m.peers = len(x.Peers.List), append([]sim.Peer{}, x.Peers.List...)
	}
	select {
	case m.news <- struct{}{}:
	default: // work has not begun with earlier news
	}
}

// release lets another API server write, as soon as no request is being processed here.
func (m *membership) release() {
	select {
	case <-m.shared:
	case <-m.gone:
		return
	}
	m.srv.Yield(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.held = false
	})
	m.out.send(message{Release: true})
}

// Acquire implements sim.Shared.
func (m *membership) Acquire() []sim.Change {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.held && !m.ended {
		m.out.send(message{Want: true})
	}
	for !m.held && !m.ended {
		m.changed.Wait()
	}
	if m.ended && !m.held {
		return nil // another server may have written meanwhile
	}
	changes := m.pending
	m.pending = nil
	return changes
}

// Publish implements sim.Shared.
func (m *membership) Publish(c sim.Change) {
	m.mu.Lock()
	alone := m.written && m.others == 0
	m.mu.Unlock()
	if !alone {
		m.out.send(message{Change: &c})
	}
}

// share shares the store of the API server that has started with the data, and serves its keys to etcd. It repeats the writes of clients
// of etcd from the time before. values encrypts the values; it may be nil.
func (m *membership) share(srv *fake.Server, values *encryption.Values, stderr io.Writer) error {
	if values != nil {
		values.Attach(srv.Storage(), m.prefix)
	}
	if m.keys == nil {
		return nil
	}
	m.srv, m.stderr = srv, stderr
	if err := errors.Join(srv.Share(m), srv.SetPeers(m.Others)); err != nil {
		return err
	}
	objects := v3.NewObjects(srv.Storage(), m.prefix, cbor.Codec{})
	if values != nil {
		objects.Encrypted(values)
	}
	for _, err := range objects.Replay(m.Writes) {
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): etcd: %v\n", err)
	}
	server := &http.Server{Handler: v3.New(objects, clock.System{}), ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(m.keys) }() // until Close
	close(m.shared)
	m.working.Go(m.work)
	return nil
}

// work applies the news from etcd until the connection ends.
func (m *membership) work() {
	for {
		select {
		case <-m.news:
			m.apply()
		case <-m.gone:
			return
		}
	}
}

// apply applies the changes and the other news that have been received.
func (m *membership) apply() {
	m.mu.Lock()
	peers, lead := m.peers, m.leads && !m.written
	m.peers = nil
	m.mu.Unlock()
	if peers != nil {
		if err := m.srv.SetPeers(peers); err != nil {
			fmt.Fprintf(m.stderr, "kube-apiserver (kubesim): another API server over etcd: %v\n", err)
		}
	}
	rev := m.srv.CatchUp()
	if lead {
		if err := m.srv.Lead(); errors.Is(err, os.ErrClosed) {
			return // etcd keeps the changes that the folder lacks, and adds them when another server starts
		} else if err != nil {
			fmt.Fprintf(m.stderr, "kube-apiserver (kubesim): %v\n", err)
			return
		}
		m.mu.Lock()
		m.written = true
		m.mu.Unlock()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written {
		m.out.send(message{Saved: rev})
	}
}
