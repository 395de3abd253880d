package dropin

import (
	"bufio"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"

	v3 "github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
)

// space is the data of the API servers of a prefix. Each of them has a copy of the store in its process, and one at a time may write:
//
//	queue ─▶ holder ─ changes ─▶ all other members
//	                         └─▶ unsaved, until members[0] has written them to dir
//
// The fields are guarded by spaces.mu.
type space struct {
	prefix  string
	dir     string
	members []*member // that have started, in that order; the first one writes dir
	joining []*member // that have not started
	holder  *member   // may write; nil if there is none
	queue   []*member // that want to write, in the order in which they asked
	revoked bool      // the holder has been asked to let another one write
	written bool      // members[0] has written dir since it became the first one
	unsaved []sim.Change
}

// isComplete reports whether the folder has all changes, or no member will write them.
func (x *space) isComplete() bool { return x.first() == nil || x.written && len(x.unsaved) == 0 }

// member is an API server as etcd sees it.
type member struct {
	space *space
	self  sim.Peer
	keys  *url.URL      // where it serves the keys
	gone  chan struct{} // is closed when it has ended
	out   *outbox
}

// join handles a request for joinPath: it adds an API server to the members of a prefix until the connection ends.
func (s *spaces) join(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	keys, err := url.Parse(query.Get("keys"))
	var self sim.Peer
	if err != nil || keys.Host == "" || json.Unmarshal([]byte(query.Get("server")), &self) != nil || r.Header.Get("Upgrade") != protocol {
		http.Error(w, "the query has no URL of keys or no server", http.StatusBadRequest)
		return
	}
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(r.Context(), func() { conn.Close() })()
	s.mu.Lock()
	space := s.space(cmp.Or(query.Get("prefix"), v3.DefaultPrefix)) // exists before the API server gets an answer
	s.mu.Unlock()
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", protocol); err != nil {
		return
	}
	m := &member{space: space, self: self, keys: keys, gone: make(chan struct{}), out: newOutbox(conn)}
	s.mu.Lock()
	m.self.Number = m.space.freeNumber()
	m.space.joining = append(m.space.joining, m)
	s.want(m)
	s.mu.Unlock()
	s.receive(m, in.Reader)
	s.mu.Lock()
	s.leave(m)
	s.mu.Unlock()
	m.out.close()
	close(m.gone)
}

// freeNumber returns the lowest number that no API server has.
func (x *space) freeNumber() int {
	for n := 1; ; n++ {
		if !slices.ContainsFunc(slices.Concat(x.members, x.joining), func(m *member) bool { return m.self.Number == n }) {
			return n
		}
	}
}

// receive handles the messages of an API server until the connection ends.
func (s *spaces) receive(m *member, in *bufio.Reader) {
	messages := gob.NewDecoder(in)
	for {
		var x message
		if messages.Decode(&x) != nil {
			return
		}
		s.mu.Lock()
		switch {
		case x.Want:
			s.want(m)
		case x.Release && m.space.holder == m:
			m.space.holder = nil
			s.grant(m.space)
		case x.Change != nil:
			m.space.change(m, *x.Change)
		case x.Saved > 0 && m.space.first() == m:
			m.space.written = true
			m.space.unsaved = slices.DeleteFunc(m.space.unsaved, func(c sim.Change) bool { return c.Rev <= x.Saved })
			s.grant(m.space)
		}
		s.mu.Unlock()
	}
}

// first returns the member that writes the folder, or nil.
func (x *space) first() *member {
	if len(x.members) == 0 {
		return nil
	}
	return x.members[0]
}

// change distributes a change of a member.
func (x *space) change(by *member, c sim.Change) {
	for _, m := range x.members {
		if m != by {
			m.out.send(message{Change: &c})
		}
	}
	if x.first() != by || !x.written {
		x.unsaved = append(x.unsaved, c)
	}
}

// want queues a member that wants to write.
func (s *spaces) want(m *member) {
	m.space.queue = append(m.space.queue, m)
	s.grant(m.space)
}

// grant lets the next member of the queue write, if no other one may. A member that has not started reads the folder, so it waits until
// the folder has all changes.
func (s *spaces) grant(x *space) {
	if x.holder == nil {
		if i := slices.IndexFunc(x.queue, func(m *member) bool { return slices.Contains(x.members, m) || x.isComplete() }); i >= 0 {
			x.holder, x.revoked = x.queue[i], false
			x.queue = slices.Delete(x.queue, i, i+1)
			if slices.Contains(x.members, x.holder) {
				x.holder.out.send(message{Granted: true})
			} else {
				s.start(x.holder)
			}
		}
	}
	if x.holder != nil && len(x.queue) > 0 && !x.revoked {
		x.revoked = true
		x.holder.out.send(message{Revoke: true})
	}
}

// start lets a member start, which may write from now on.
func (s *spaces) start(m *member) {
	x := m.space
	if x.first() == nil && len(x.unsaved) > 0 {
		if archive.Append(filepath.Join(x.dir, dataFile), x.unsaved) == nil {
			x.unsaved = nil
		}
	}
	b := &start{Dir: x.dir, Server: m.self.Number, Leads: x.first() == nil, Others: x.peersOf(m)}
	if b.Leads {
		x.written = true
		b.Writes = s.rest.Take(x.prefix + "/")
	}
	x.joining = slices.DeleteFunc(x.joining, func(other *member) bool { return other == m })
	x.members = append(x.members, m)
	m.out.send(message{Start: b})
	x.introduce(m)
}

// introduce informs all members except one of their peers.
func (x *space) introduce(except *member) {
	for _, m := range x.members {
		if m != except {
			m.out.send(message{Peers: &peers{x.peersOf(m)}})
		}
	}
}

// peersOf returns the other members.
func (x *space) peersOf(m *member) (all []sim.Peer) {
	for _, other := range x.members {
		if other != m {
			all = append(all, other.self)
		}
	}
	return all
}

// leave removes a member. If it wrote the folder, the next member does so from now on.
func (s *spaces) leave(m *member) {
	x, wrote := m.space, m.space.first() == m
	isMember := func(other *member) bool { return other == m }
	x.members, x.joining, x.queue = slices.DeleteFunc(x.members, isMember), slices.DeleteFunc(x.joining, isMember), slices.DeleteFunc(x.queue, isMember)
	if x.holder == m {
		x.holder = nil
	}
	if wrote && x.first() != nil {
		x.written = false
		x.first().out.send(message{Lead: true})
	}
	x.introduce(nil)
	s.grant(x)
}

// dataFile is the file in the folder of a space (fake.Options.Data).
const dataFile = "cluster.archive"

// outbox sends messages without waiting for their receiver.
type outbox struct {
	*sender
	conn net.Conn

	mu      sync.Mutex
	changed sync.Cond
	waiting []message
	closed  bool
}

func newOutbox(conn net.Conn) *outbox {
	b := &outbox{sender: newSender(conn), conn: conn}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// send queues a message.
func (b *outbox) send(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, m)
	b.changed.Signal()
}

// run sends the queued messages until close is called.
func (b *outbox) run() {
	for {
		b.mu.Lock()
		for len(b.waiting) == 0 && !b.closed {
			b.changed.Wait()
		}
		messages, closed := b.waiting, b.closed
		b.waiting = nil
		b.mu.Unlock()
		if closed {
			return
		}
		for _, m := range messages {
			b.sender.send(m)
		}
	}
}

func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Signal()
}
