package registry

import (
	"cmp"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// watchTimeoutMin is the default of config.Cluster.MinRequestTimeout.
const watchTimeoutMin = 1800 * time.Second

// Watch starts a watch and returns it at once; its first events may have to wait for the cache. If the parameters are invalid,
// Watch returns a Status and no watch.
func (r *Registry) Watch(q *Request, o ListOptions, encoder watchcache.Encoder) (*watchcache.Watch, *status.Status) {
	d := q.Definition
	if s := r.CheckWatch(q, o); s != nil {
		return nil, s
	}
	if s := r.parseShards(&o); s != nil {
		return nil, s
	}
	rev, _ := ParseRev(o.ResourceVersion)
	l := &lister{r: r, d: d, o: o}
	l.o.Continue = ""
	l.scope(q.Namespace)
	w := watchcache.NewWatch(watchcache.Options{
		Definition: d.Hub, Prefix: l.prefix, Key: l.single, Value: l.indexed(), Match: o.Matches, Encoder: encoder, Bookmarks: o.Bookmarks,
		Gate:     q.Caller,
		Decorate: func(it *resource.Item) *resource.Item { return decorate(d, it) },
	})
	if q.Caller != nil {
		q.Caller.Watching(w)
	}
	timeout := time.Duration(o.TimeoutSeconds) * time.Second
	if timeout < 0 { // or it overflows because it is so long: the watch then ends before anything is read
		w.End()
		return w, nil
	}
	s := &starter{r: r, w: w, o: o, cache: r.Backend.Cache(d.Hub), rev: rev, uncached: r.uncached(d)}
	s.start()
	if !w.Ended() {
		w.Schedule(r.Backend, r.watchTimeout(timeout))
	}
	return w, nil
}

// CheckWatch returns an error if a watch cannot be opened. The real server checks this before it selects a streaming encoding.
func (r *Registry) CheckWatch(q *Request, o ListOptions) *status.Status {
	d := q.Definition
	if _, ok := ParseRev(o.ResourceVersion); !ok {
		return status.InvalidVersion(o.ResourceVersion)
	}
	if r.uncached(d) {
		return nil
	}
	if s := r.checkReady(d); s != nil {
		return s
	}
	return r.checkFillable(d, q.Namespace)
}

// starter determines the first events of a watch (API concepts, "Semantics for watch", KEP-3157):
//
//	resourceVersion   sendInitialEvents   begins with
//	"" or "0"         true                the state, once it is fresh ("") or as it is ("0"), then the end bookmark
//	N                 true                the state not older than N, then the end bookmark
//	"" or "0"         false               nothing: events after now
//	N                 unset or false      events after N
//	"" or "0"         unset (/watch/)     the state as it is, without a bookmark
type starter struct {
	r        *Registry
	w        *watchcache.Watch
	o        ListOptions
	cache    *watchcache.Cache
	rev      uint64
	uncached bool
}

func (s *starter) start() {
	fromNow := s.o.ResourceVersion == "" || s.o.ResourceVersion == "0"
	switch {
	case s.o.SendInitialEvents != nil && *s.o.SendInitialEvents:
		s.state()
	case fromNow && s.o.SendInitialEvents == nil:
		s.w.SendState(s.cache)
		s.connect(s.cache.Rev())
	case s.o.ResourceVersion == "" && !s.r.Backend.Reachable():
		s.w.Fail(status.Internal(errUnreachable))
	case s.o.ResourceVersion == "":
		s.connect(s.r.Backend.Store().Rev())
	case fromNow:
		s.connect(s.cache.Rev())
	default:
		s.connect(s.rev)
	}
}

// state sends the current objects as soon as the cache is fresh enough, and then the bookmark that marks their end.
func (s *starter) state() {
	want := s.rev
	if s.o.ResourceVersion == "" {
		if !s.r.Backend.Reachable() {
			s.w.Fail(status.Internal(errUnreachable))
			return
		}
		want = s.r.Backend.Store().Rev()
	}
	s.r.Backend.Await(s.cache, want, func(fresh bool) {
		if !fresh {
			s.w.Fail(status.TooLargeResourceVersion(want, s.cache.Rev(), 1))
			return
		}
		s.w.SendState(s.cache)
		s.connect(s.cache.Rev())
		s.w.Bookmark(true)
	})
}

// connect sends the past events after a revision, followed by future events.
func (s *starter) connect(after uint64) {
	if !s.uncached {
		s.cache.Start(s.w, after)
		return
	}
	if !s.r.Backend.Reachable() {
		s.w.Fail(status.Internal(errUnreachable))
		return
	}
	store := s.r.Backend.Store()
	if after+1 < store.Compacted() {
		s.w.Fail(status.Expired(status.ExpiredWatch))
		return
	}
	s.cache.Join(s.w, after, func(yield func(*mvcc.Event) bool) {
		_ = store.Events(after, yield) // cannot be compacted: checked above
	})
}

// watchTimeout returns the duration after which a watch ends, or 0 if it does not time out. requested is 0 if the client specifies
// none.
func (r *Registry) watchTimeout(requested time.Duration) time.Duration {
	least := cmp.Or(r.Config.MinRequestTimeout, watchTimeoutMin)
	if requested != 0 || least < 0 {
		return requested
	}
	return least + time.Duration(r.Backend.Random("watch timeouts", int(least/time.Millisecond)))*time.Millisecond
}
