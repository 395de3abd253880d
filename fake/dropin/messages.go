package dropin

import (
	"encoding/gob"
	"io"
	"sync"

	v3 "github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/sim"
)

// joinPath is the path of the request with which an API server joins those of a prefix. The query contains the prefix of its keys, the URL
// at which it serves them to etcd, and a sim.Peer as JSON. After the response, 101 Switching Protocols, both sides send messages.
const joinPath = "/kubesim/join"

// protocol is the value of the header Upgrade.
const protocol = "kubesim"

// message is sent between etcd and an API server. Each has one of the fields.
//
//	API server ─ want ─▶ etcd ─ revoke ─▶ the API server that may write
//	           ◀─ granted ─   ◀─ changes, release ─
//
// Only one API server at a time may write. It keeps that right until another one wants it. Changes reach the other servers at once, in
// order, and before they may write.
type message struct {
	// Sent by an API server.
	Want    bool
	Release bool
	Saved   uint64 // the folder of the data contains the changes up to this revision

	// Sent by etcd.
	Start   *start
	Granted bool
	Revoke  bool
	Lead    bool // the server writes the folder and runs the controllers from now on, because the previous one has left
	Peers   *peers

	// Sent by both.
	Change *sim.Change
}

// start is sent to an API server once, when it may write for the first time.
type start struct {
	Dir    string
	Server int  // number of the server, counted from 1
	Leads  bool // the server writes the folder and runs the controllers
	Others []sim.Peer
	Writes []v3.Write // of clients of etcd, below the prefix
}

// peers are the other API servers of the prefix.
type peers struct{ List []sim.Peer }

// sender sends messages. It may be used by several goroutines.
type sender struct {
	mu      sync.Mutex
	encoder *gob.Encoder
}

func newSender(w io.Writer) *sender { return &sender{encoder: gob.NewEncoder(w)} }

// send sends a message. It ignores errors: the receiver of the same connection has one, too.
func (s *sender) send(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.encoder.Encode(m)
}
