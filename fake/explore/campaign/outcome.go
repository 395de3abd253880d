package campaign

import (
	"hash/fnv"
	"io"
	"strings"
	"time"
)

// Outcome is what came of a run.
type Outcome struct {
	Failures  []Failure     // in their order; none: the run passed
	Hash      string        // of the trace: two runs with the same are the same
	Sequences []uint64      // the requests and responses, see Sequences
	Seen      Seen          // what there was
	Writes    []Write       // of the clients under test, in their order
	Sent      []Sent        // the writes of all clients, including the test; only for a failed run with full details
	Timeline  string        // what happened last; of a run that failed
	Output    string        // what the test printed
	Happened  string        // the faults, each with what has become of it
	Took      time.Duration // real
	Disturbed bool          // the machine kept the run waiting: another one need not be the same
}

// Sites of failures that no line of a test has found.
const (
	SitePanic  = "panic"
	SiteHang   = "hang"   // virtual time stands still, or a goroutine runs without end
	SiteLeak   = "leak"   // goroutines do not end with the test
	SiteWorker = "worker" // the process ended, for whatever reason
)

// Failure is one failure that the test, or a check beside it, has reported.
type Failure struct {
	Site string // file:line, or one of the sites above
	Text string
}

// Site is where the first failure was found, "" when the run passed. Two runs that fail at the same site fail alike.
func (o *Outcome) Site() string {
	if len(o.Failures) == 0 {
		return ""
	}
	return o.Failures[0].Site
}

// Seen lists the clients, resources and objects that a run has used. Plans are drawn from them.
type Seen struct {
	Clients   []Client      // under test, in the order of their names
	Resources []string      // that they ask for, in the order of their names: pods, deployments.apps
	Replicas  int           // how many API servers there are
	Took      time.Duration // virtual, until the test ended trouble or itself
	Objects   []Object      // that may be edited
}

// Client is a client under test.
type Client struct {
	Name    string // a User-Agent begins with it
	Writes  int    // leases and events aside
	Process bool   // it can crash
	Clock   bool   // it has a clock that can jump
}

// Object is an object that may be edited.
type Object struct {
	Resource string // sites.web.example.com
	Key      string // namespace/name
	Schema   []byte // of its spec, as JSON
	Spec     []byte // as JSON
}

// Write is a request that changes, or tries to change, something.
type Write struct {
	N         uint64        // of its record in the trace
	At        time.Duration // virtual, since the run began
	Client    string
	Verb      string
	What      string // secrets, widgets/status
	Key       string // namespace/name; of a create with generateName what the server made of it
	Code      int    // status code; 0 if the run ended before the response
	Committed bool   // it has changed something, whatever the answer said
}

// sequenceLength is how many requests in a row of one client make a sequence.
const sequenceLength = 3

// Sequences collects the sequences of requests and answers of each client. Two runs with the same ones have taken the same
// ways through the code of the clients, as far as a server can see.
type Sequences struct {
	last map[string][]string // by client
	seen map[uint64]bool
	list []uint64
}

// Add records a request by its shape, such as "update widgets/status", and the code of its response.
func (s *Sequences) Add(client, shape string, code int) {
	if s.last == nil {
		s.last, s.seen = map[string][]string{}, map[uint64]bool{}
	}
	list := append(s.last[client], shape+" "+codes(code))
	if len(list) > sequenceLength {
		list = list[1:]
	}
	s.last[client] = list
	h := fnv.New64a()
	_, _ = io.WriteString(h, client+"\n"+strings.Join(list, "\n"))
	if sum := h.Sum64(); !s.seen[sum] {
		s.seen[sum] = true
		s.list = append(s.list, sum)
	}
}

// List returns the collected sequences in order.
func (s *Sequences) List() []uint64 { return s.list }

// codes prints a status code; those of success do not differ.
func codes(code int) string {
	if code/100 == 2 {
		return "ok"
	}
	return string([]byte{byte('0' + code/100%10), byte('0' + code/10%10), byte('0' + code%10)})
}
