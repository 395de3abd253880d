package trace

import (
	"slices"
	"strings"
	"time"
)

// ReportOptions are options of Report.
type ReportOptions struct {
	// Lines is the number of newest steps to show, in addition to the marked ones. 0 means all.
	Lines int
	// ByObject groups the steps by object, in order of appearance.
	ByObject bool
	// Marked are the numbers of records that violate an assertion (✗). Their causes are also marked (»): the last
	// events that their client received about the object and its owners, and the client's own last requests.
	Marked []uint64
}

// Report returns the records as steps. A step is a request with its response, its writes as a diff, and the clients
// that were notified of them. Times are those of the cluster's clock. Routine steps are summarized: bookmarks, heartbeats
// of nodes, renewals of leases, and discovery.
//
//	2026-01-01
//	     12 00:00:05     operator/v1 (jane) create deployments.apps default/web → 201
//	                         deployments.apps default/web, revision 4017: it is new
//	                         notified: operator/v1, kubelet/v1
//	      …              57 bookmarks in 1h0m0s
//	✗   431 01:00:05     operator/v1 (jane) patch deployments.apps default/web → 200
//	                         deployments.apps default/web, revision 4031
//	                             spec.replicas: 1 → 3
func (l *Log) Report(o ReportOptions) string {
	b := &builder{records: map[uint64]*step{}}
	for i := range l.Records {
		b.take(&l.Records[i])
	}
	b.mark(o.Marked)
	p := printer{dropped: l.Dropped}
	if o.ByObject {
		return p.byObject(b.steps, o.Lines)
	}
	return p.inOrder(b.steps, o.Lines)
}

// step is a request and its consequences, or an event without a request.
type step struct {
	n        uint64
	at       time.Time
	record   *Record // the first record
	answer   *Record // nil if there is no response
	changes  []*Record
	notified []string // clients that were notified of its changes
	faults   []*Record
	noise    string // for a routine step, its noun in the singular and the plural; otherwise empty
	marker   string
}

type builder struct {
	steps   []*step
	records map[uint64]*step
}

func (b *builder) add(r *Record) *step {
	s := &step{n: r.N, at: r.At, record: r}
	b.steps = append(b.steps, s)
	b.records[r.N] = s
	return s
}

// take adds a record to its step.
func (b *builder) take(r *Record) {
	cause := b.records[r.Cause]
	switch r.Site {
	case RequestArrived:
		b.add(r)
	case RequestDecided, ReplicaApplied:
		if cause != nil {
			b.records[r.N] = cause
		}
	case StoreCommitted:
		s := b.within(cause, r)
		s.changes = append(s.changes, r)
		b.records[r.N] = s
		if cause == nil && isHeartbeat(r) {
			s.noise = "heartbeat of a node/heartbeats of nodes"
		}
	case RequestAnswered:
		s := b.within(cause, r)
		s.answer = r
		s.noise = routineRequest(s)
	case WatchSent:
		b.sent(r, cause)
	case Fault:
		s := b.within(cause, r)
		s.faults = append(s.faults, r)
		b.records[r.N] = s
	}
}

// within returns the step to which a record belongs: cause or, if cause is nil, a new step.
func (b *builder) within(cause *step, r *Record) *step {
	if cause == nil {
		return b.add(r)
	}
	return cause
}

// sent adds an event to the step that caused it. An event that was sent later becomes a separate step.
func (b *builder) sent(r *Record, cause *step) {
	switch {
	case r.Verb == "BOOKMARK":
		b.add(r).noise = "bookmark/bookmarks"
	case cause == nil && r.Verb == "ADDED":
		b.add(r).noise = "object that a watch begins with/objects that watches begin with"
	case cause == nil:
		b.add(r)
	case r.At.After(cause.changed()):
		b.add(r).noise = cause.noise
	default:
		if name := r.client(); !slices.Contains(cause.notified, name) {
			cause.notified = append(cause.notified, name)
		}
		b.records[r.N] = cause
	}
}

// changed returns the time of the step's last write.
func (s *step) changed() time.Time {
	if len(s.changes) == 0 {
		return s.at
	}
	return s.changes[len(s.changes)-1].At
}

// isHeartbeat reports whether a commit without a request only renews a lease, or the times of a node's conditions.
func isHeartbeat(r *Record) bool {
	if r.Verb != "MODIFIED" || r.What == "leases.coordination.k8s.io" {
		return r.Verb == "MODIFIED"
	}
	changes := Difference(parsed(r.Before), parsed(r.After))
	return len(changes) > 0 && !slices.ContainsFunc(changes, func(line string) bool { return !strings.Contains(line, "lastHeartbeatTime") })
}

// routineRequest returns the name, in the singular and the plural, of a kind of request that clients repeat all the
// time. It returns "" for other requests.
func routineRequest(s *step) string {
	r, a := s.record, s.answer
	switch {
	case a.Code >= 300 || len(s.faults) > 0:
	case strings.HasPrefix(r.What, "/"):
		return "request for discovery/requests for discovery"
	case strings.HasPrefix(r.What, "leases.coordination.k8s.io") && r.Verb != "create" && r.Verb != "delete":
		return "request for a lease/requests for leases"
	}
	return ""
}

// mark marks the steps of the given records, and their causes.
func (b *builder) mark(records []uint64) {
	for _, n := range records {
		s := b.records[n]
		if s == nil {
			continue
		}
		s.marker = "✗"
		b.markCauses(s)
	}
}

// markCauses marks the steps on which the client of a step based its request: the last event that it received about the
// object and each of its owners, and its own last request.
func (b *builder) markCauses(s *step) {
	who := s.record.client()
	about := s.names()
	for _, x := range slices.Backward(b.steps[:slices.Index(b.steps, s)]) {
		r := x.record
		told := slices.Contains(x.notified, who) || r.Site == WatchSent && r.client() == who
		own := r.Site == RequestArrived && r.client() == who && r.Verb != "watch"
		_, name, _ := strings.Cut(x.key(), "/")
		i := slices.Index(about, name)
		if (told || own) && i >= 0 && x.noise == "" && x.marker == "" {
			x.marker = "»"
			if told {
				about = slices.Delete(about, i, i+1)
			}
		}
		if len(about) == 0 {
			return
		}
	}
}

// key returns the key of the step's object.
func (s *step) key() string {
	switch {
	case len(s.changes) > 0:
		return s.changes[0].Key
	case s.answer != nil && s.answer.Key != "":
		return s.answer.Key
	}
	return s.record.Key
}

// names returns the names of the step's object and of its owners.
func (s *step) names() (all []string) {
	_, name, _ := strings.Cut(s.key(), "/")
	all = append(all, name)
	for _, c := range s.changes {
		for _, state := range [][]byte{c.Before, c.After} {
			for _, owner := range parsed(state).Objects("metadata", "ownerReferences") {
				if n := owner.String("name"); !slices.Contains(all, n) {
					all = append(all, n)
				}
			}
		}
	}
	return all
}
