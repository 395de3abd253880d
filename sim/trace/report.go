package trace

import (
	"slices"
	"strings"
	"time"
)

// ReportOptions say what a Report shows.
type ReportOptions struct {
	// Lines is how many of the newest steps are shown, beside those that are marked. 0: all.
	Lines int
	// ByObject shows step after step of one object, then of the next, in the order in which they came up.
	ByObject bool
	// Marked are the numbers of records that went wrong (✗). What led to them is marked too (»): what their client had been
	// told of the object and its owners, and asked for itself.
	Marked []uint64
}

// Report prints the records as a story: a step is a request with its answer, what it wrote, as a diff, and who was told of it.
// Times are those of the cluster's clock. What goes on for ever is folded: bookmarks, renewals of leases, discovery.
//
//	2026-01-01
//	     12 00:00:05     operator/v1 (jane) create deployments.apps default/web → 201
//	                         deployments.apps default/web, revision 4017: it is new
//	                         told: operator/v1, kubelet/v1
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

// step is a request and what came of it, or something that happened without one.
type step struct {
	n       uint64
	at      time.Time
	record  *Record // the first one
	answer  *Record // nil: there is none, yet
	changes []*Record
	told    []string // clients, of its changes
	faults  []*Record
	noise   string // what goes on for ever, one and many of it; "": it does not
	marker  string
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

// take puts a record into its step.
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

// within is the step that a record is part of: cause, or else one that begins with it.
func (b *builder) within(cause *step, r *Record) *step {
	if cause == nil {
		return b.add(r)
	}
	return cause
}

// sent takes in an event: with the change that it tells of, or as a step of its own when it comes later.
func (b *builder) sent(r *Record, cause *step) {
	switch {
	case r.Verb == "BOOKMARK":
		b.add(r).noise = "bookmark/bookmarks"
	case cause == nil && r.Verb == "ADDED":
		b.add(r).noise = "object that a watch begins with/objects that watches begin with"
	case cause == nil || r.At.After(cause.changed()):
		b.add(r)
	default:
		if name := r.client(); !slices.Contains(cause.told, name) {
			cause.told = append(cause.told, name)
		}
		b.records[r.N] = cause
	}
}

// changed is when the step wrote last.
func (s *step) changed() time.Time {
	if len(s.changes) == 0 {
		return s.at
	}
	return s.changes[len(s.changes)-1].At
}

// routineRequest names what a request is that all clients send again and again. "": it is none.
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

// mark marks the steps of some records, and what led to them.
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

// markCauses marks what the client of a step knew of its object and the owners: the last that it was told of each, and its own
// last request.
func (b *builder) markCauses(s *step) {
	who := s.record.client()
	about := s.names()
	for _, x := range slices.Backward(b.steps[:slices.Index(b.steps, s)]) {
		r := x.record
		told := slices.Contains(x.told, who) || r.Site == WatchSent && r.client() == who
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

// key is the object that the step is about.
func (s *step) key() string {
	switch {
	case len(s.changes) > 0:
		return s.changes[0].Key
	case s.answer != nil && s.answer.Key != "":
		return s.answer.Key
	}
	return s.record.Key
}

// names are those of the step's object and of its owners.
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
