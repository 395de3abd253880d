package campaign

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"
)

// Outcome is the result of a run.
type Outcome struct {
	Failures  []Failure     // in order; empty if the run passed
	Hash      string        // the hash of the trace: runs with equal hashes are identical
	Sequences []uint64      // sequences of requests and responses: see Sequences
	Seen      Seen          // the clients, resources and objects of the run
	Writes    []Write       // the writes of the clients under test, in order
	Own       []Write       // the writes of the test itself until faults end, in order; its name is TestItself
	Others    []Write       // the first commits in each second of kubesim's controllers and nodes; they have no client
	Sent      []Sent        // the writes of all clients, including the test; only for a failed run with full details
	Timeline  string        // the last events of a failed run
	Output    string        // the output of the test
	Happened  string        // the faults and their effects
	Took      time.Duration // real time
	Known     bool          // a known failure was removed
	Disturbed bool          // the run had to wait for the machine, so another run may differ
}

// Sites of failures that are not reported by a line of a test.
const (
	SitePanic  = "panic"
	SiteHang   = "hang"   // virtual time does not advance, or a goroutine runs forever
	SiteLeak   = "leak"   // goroutines are still running when the test ends
	SiteWorker = "worker" // the process ended unexpectedly
)

// Failure is a failure reported by the test or by an additional check.
type Failure struct {
	Site string // file:line, or one of the sites above
	Text string
}

// Site returns the site of the first failure, or "" if the run passed. Failures at the same site are considered equal.
func (o *Outcome) Site() string {
	if len(o.Failures) == 0 {
		return ""
	}
	return o.Failures[0].Site
}

// Forget removes the failures whose text contains one of the known texts. If a failure has no text, because an assertion library has
// printed it, Forget uses the test's output.
func (o *Outcome) Forget(known []string) {
	n := len(o.Failures)
	o.Failures = slices.DeleteFunc(o.Failures, func(f Failure) bool {
		return slices.ContainsFunc(known, func(text string) bool { return strings.Contains(cmp.Or(f.Text, o.Output), text) })
	})
	o.Known = o.Known || len(o.Failures) < n
}

// Seen lists the clients, resources and objects that a run has used. Plans are drawn from them.
type Seen struct {
	Clients   []Client      // under test, sorted by name
	Resources []string      // requested by the clients, sorted by name: pods, deployments.apps
	Replicas  int           // the number of API servers
	Took      time.Duration // virtual time until faults end
	Objects   []Object      // may be edited
}

// Client is a client under test.
type Client struct {
	Name    string // a prefix of its User-Agent
	Writes  int    // the number of writes, not counting leases and events
	Process bool   // it can crash
	Clock   bool   // it has a clock that can jump
}

// Object is an object that may be edited.
type Object struct {
	Resource string // such as sites.web.example.com
	Key      string // namespace/name
	Schema   []byte // the schema of its spec, as JSON
	Spec     []byte // as JSON
}

// Write is a write request, successful or not.
type Write struct {
	N         uint64        // the number of its trace record
	At        time.Duration // virtual time since the beginning of the run
	Client    string        // "" for a commit without a request
	Verb      string        // of such a commit ADDED, MODIFIED or DELETED
	What      string        // such as secrets, widgets/status
	Key       string        // namespace/name; for a create with generateName, the generated name
	Code      int           // status code; 0 if the run ended before the response
	Committed bool          // it has changed the store, regardless of the response
}

// sequenceLength is the number of consecutive requests of one client in a sequence.
const sequenceLength = 3

// Sequences collects the sequences of requests and responses of each client. If two runs have the same sequences, their
// clients have taken the same code paths, as far as a server can observe.
type Sequences struct {
	last map[string][]string // by client
	seen map[uint64]bool
	list []uint64
}

// Add adds a request, described by its shape, such as "update widgets/status", and the status code of its response.
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

// codes formats a status code. All successful codes are "ok".
func codes(code int) string {
	if code/100 == 2 {
		return "ok"
	}
	return string([]byte{byte('0' + code/100%10), byte('0' + code/10%10), byte('0' + code%10)})
}
