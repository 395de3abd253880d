package registry

import (
	"errors"
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Page is the answer of a list.
type Page struct {
	Rev       uint64 // 0 if the objects have no revision
	Items     []*resource.Item
	Continue  string
	Remaining *int64 // remainingItemCount

	broken []*resource.Item // items that cannot be decoded: the whole list fails
	failed *status.Status   // why it does, nil if it does not
}

// reading describes which state a list reads (API concepts, "Semantics for get and list").
type reading struct {
	exact  bool   // the state at rev; otherwise any state not older than rev
	newest bool   // not older than the store's revision now
	rev    uint64 // 0 with neither exact nor newest: whatever the cache has
	token  bool   // the revision comes from a continue token
	store  bool   // read from the store, not from the cache
	from   string // first key
}

// List reads a collection, or a page of it, and calls answer when it has it.
func (r *Registry) List(q *Request, o ListOptions, answer func(*Page, *status.Status)) {
	done := func(p *Page, s *status.Status) {
		if s == nil && len(p.broken) > 0 && p.failed == nil {
			p.failed = r.corruptList(q.Definition, p.broken)
		}
		if s == nil && p.failed != nil {
			p, s = nil, p.failed
		}
		answer(p, s)
	}
	if items, ok := observed(q.Definition); ok {
		done(listObserved(o, items), nil)
		return
	}
	l := &lister{r: r, d: q.Definition, o: o, limit: o.Limit, asker: q.Asker}
	l.scope(q.Namespace)
	read, s := l.reading()
	if s != nil {
		done(nil, s)
		return
	}
	if l.d.Hub.Strategy.Uncached || read.store {
		done(l.fromStore(read))
		return
	}
	if s := r.checkReady(l.d); s != nil {
		if !l.light(read) {
			done(nil, s)
			return
		}
		l.limit = o.Limit // which the store obeys, and the cache does not always
		done(l.fromStore(read))
		return
	}
	cache := r.Backend.Cache(l.d.Hub)
	want := read.rev
	if read.newest {
		if s := r.unreachable(l.d, "list"); s != nil { // the newest revision is unknown
			done(nil, s)
			return
		}
		want = r.Backend.Store().Rev()
	}
	r.Backend.Await(cache, want, func(fresh bool) {
		switch {
		case fresh:
			p, s := l.fromCache(cache, read)
			if s == nil && len(p.broken) > 0 && !l.light(read) {
				p.failed = r.cannotFill(l.d, p.broken)
			}
			done(p, s)
		case read.newest: // the cache lags: the store answers instead
			done(l.fromStore(read))
		default:
			done(nil, status.TooLargeResourceVersion(want, cache.Rev(), 1))
		}
	})
	l.asker = nil // if it waits now, it reads within the commit of another request
}

// lister is one list on its way.
type lister struct {
	r      *Registry
	d      *resource.Definition
	o      ListOptions
	limit  int64
	asker  resource.Asker // waits for conversion webhooks; it may be nil
	prefix string         // of the keys of the collection
	single string         // the only key, when a field selector names one object
}

// scope returns the keys that a list reads: field selectors for one namespace or one name narrow it. They do not if there is a
// continue token: its key then counts from the beginning of the collection that the path names, even if it comes from a list that
// was narrowed.
func (l *lister) scope(namespace string) {
	if l.d.Namespaced && namespace == "" && l.o.Continue == "" {
		namespace, _ = l.o.Fields.RequiresExact("metadata.namespace")
	}
	l.prefix = l.d.Key(namespace, "")
	name := l.o.Name
	if name == "" {
		name, _ = l.o.Fields.RequiresExact("metadata.name")
	}
	whole := namespace != "" || !l.d.Namespaced
	if name != "" && l.o.Continue == "" && whole && len(field.PathSegment(name)) == 0 {
		l.single = l.d.Key(namespace, name)
	}
}

// reading decides from resourceVersion, resourceVersionMatch, limit and continue which state to read.
func (l *lister) reading() (reading, *status.Status) {
	read := reading{from: l.prefix}
	if l.o.Continue != "" {
		return l.continueFrom()
	}
	rev, err := strconv.ParseUint(l.o.ResourceVersion, 10, 64)
	if err != nil && l.o.ResourceVersion != "" {
		return read, invalidListVersion(l.o.ResourceVersion)
	}
	read.rev = rev
	switch {
	case l.o.Match == "Exact":
		read.exact, read.store = true, l.single != ""
	case l.o.Match == "NotOlderThan":
	case l.o.ResourceVersion == "":
		read.newest = true
	case rev > 0 && l.limit > 0: // the legacy meaning of a limit without a match, which one object does not have
		read.exact, read.store = l.single == "", l.single != ""
	}
	if rev == 0 && !read.newest && !l.d.Hub.Strategy.Uncached {
		l.limit = 0 // whatever the cache has is never cut into pages
	}
	return read, nil
}

// continueFrom reads on where a token points.
func (l *lister) continueFrom() (reading, *status.Status) {
	from, rev, err := decodeContinue(l.o.Continue, l.prefix)
	if err != nil {
		return reading{}, status.BadRequest("invalid continue token: %v", err)
	}
	if rv := l.o.ResourceVersion; rv != "" && rv != "0" {
		return reading{}, status.BadRequest("specifying resource version is not allowed when using continue")
	}
	if l.o.ResourceVersion == "0" && !l.d.Hub.Strategy.Uncached {
		l.limit = 0
	}
	if rev <= inconsistent {
		return reading{newest: true, from: from}, nil
	}
	return reading{exact: true, rev: uint64(rev), token: true, from: from}, nil
}

func invalidListVersion(rv string) *status.Status {
	return status.BadRequest("invalid resource version: %s", status.BadVersion(rv))
}

func (l *lister) fromCache(cache *watchcache.Cache, read reading) (*Page, *status.Status) {
	if !read.exact {
		return l.page(cache.View(), cache.Rev(), read, true), nil
	}
	if view := cache.Snapshot(read.rev); view != nil && l.single == "" {
		return l.page(view, read.rev, read, true), nil
	}
	view, s := l.past(read)
	if s != nil {
		return nil, s
	}
	return l.page(view, read.rev, read, true), nil
}

func (l *lister) fromStore(read reading) (*Page, *status.Status) {
	if s := l.r.unreachable(l.d, "list"); s != nil {
		return nil, s
	}
	store := l.r.Backend.Store()
	if read.rev > store.Rev() {
		return nil, status.TooLargeResourceVersion(read.rev, store.Rev(), 0)
	}
	if !read.exact {
		read.rev = 0
	}
	view, s := l.past(read)
	if s != nil {
		return nil, s
	}
	return l.page(view, view.Rev(), read, false), nil
}

// past returns the store's state at the revision, or 410 Expired when it has been compacted.
func (l *lister) past(read reading) (*mvcc.View, *status.Status) {
	if s := l.r.unreachable(l.d, "list"); s != nil {
		return nil, s
	}
	store := l.r.Backend.Store()
	view, err := store.At(read.rev)
	switch {
	case err == nil:
		return view, nil
	case errors.Is(err, mvcc.ErrFutureRevision):
		return nil, status.TooLargeResourceVersion(read.rev, store.Rev(), 0)
	case !read.token:
		return nil, status.Expired(status.ExpiredList)
	}
	s := status.Expired(status.ExpiredContinue)
	s.Continue = continueToken{Version: tokenVersion, Rev: inconsistent, Start: read.from[len(l.prefix):]}.encode()
	return nil, s
}

// page collects the matching objects of the view from read.from on.
func (l *lister) page(view *mvcc.View, rev uint64, read reading, cached bool) *Page {
	p := &Page{Rev: rev}
	if l.single != "" {
		if kv := view.Get(l.single); kv != nil {
			l.add(p, kv)
		}
		return p
	}
	indexed := l.indexed(read, cached)
	var last string
	view = view.Made() // it is counted, too
	view.Range(l.prefix, read.from, func(kv *mvcc.KV) bool {
		if indexed != nil && !indexed(kv) {
			return true
		}
		if l.limit > 0 && int64(len(p.Items)) == l.limit {
			p.Continue = encodeContinue(l.prefix, last, int64(rev), cached)
			return false
		}
		l.add(p, kv)
		last = kv.Key
		return true
	})
	if p.Continue != "" && l.o.Labels.Empty() && l.o.Fields.Empty() {
		remaining := int64(view.Count(l.prefix, read.from)) - l.limit
		p.Remaining = &remaining
	}
	return p
}

// indexed returns which objects an index of the cache finds for the field selector, or nil if the list uses none: only
// lists of the newest state that the cache has do, and only their first page.
func (l *lister) indexed(read reading, cached bool) func(kv *mvcc.KV) bool {
	label := l.d.Hub.Strategy.Index
	if label == "" || l.limit == 0 || !cached || read.exact || l.o.Continue != "" {
		return nil
	}
	value, ok := l.o.Fields.RequiresExact(label)
	if !ok {
		return nil
	}
	return func(kv *mvcc.KV) bool { return resource.ItemFor(l.asker, l.d.Hub, kv).Field(label) == value }
}

func (l *lister) add(p *Page, kv *mvcc.KV) {
	it := resource.ItemFor(l.asker, l.d.Hub, kv)
	if it.Err != nil {
		p.broken = append(p.broken, it)
	}
	if l.o.Matches(it) {
		p.Items = append(p.Items, decorate(l.d, it))
	}
}
