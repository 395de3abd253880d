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

// Page is the result of a list.
type Page struct {
	Rev       uint64 // 0 if the objects have no revision
	Items     []*resource.Item
	Continue  string
	Remaining *int64 // remainingItemCount
	Shards    string // the selector of shards, or ""

	broken []*resource.Item // items that cannot be decoded: the whole list fails
	failed *status.Status   // the error of the list, or nil
}

// reading describes the state that a list reads (API concepts, "Semantics for get and list").
type reading struct {
	exact  bool   // the state at rev; otherwise any state that is not older than rev
	newest bool   // not older than the store's current revision
	rev    uint64 // if 0 and neither exact nor newest is set: any state of the cache
	token  bool   // the revision comes from a continue token
	store  bool   // read from the store, not from the cache
	from   string // first key
}

// List reads a collection, or a page of it, and calls answer with the result.
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
	if s := r.parseShards(&o); s != nil {
		done(nil, s)
		return
	}
	l := &lister{r: r, d: q.Definition, o: o, limit: o.Limit, asker: q.Asker}
	l.scope(q.Namespace)
	read, s := l.reading()
	if s != nil {
		done(nil, s)
		return
	}
	if l.r.uncached(l.d) || read.store {
		done(l.fromStore(read))
		return
	}
	if s := r.checkReady(l.d); s != nil {
		if !l.servedFromStore(read) {
			done(nil, s)
			return
		}
		l.limit = o.Limit // the store always applies the limit, unlike the cache
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
			if s == nil && len(p.broken) > 0 && !isEncrypted(p.broken[0]) && !l.servedFromStore(read) {
				p.failed = r.cannotFill(l.d, p.broken)
			}
			done(p, s)
		case read.newest: // the cache lags: read from the store instead
			done(l.fromStore(read))
		default:
			done(nil, status.TooLargeResourceVersion(want, cache.Rev(), 1))
		}
	})
	l.asker = nil // if it waits, it reads within the commit of another request
}

// lister is a list in progress.
type lister struct {
	r      *Registry
	d      *resource.Definition
	o      ListOptions
	limit  int64
	asker  resource.Asker // waits for conversion webhooks; it may be nil
	prefix string         // of the keys in the collection
	single string         // the only key, if a field selector names one object
}

// scope sets the keys that a list reads. Field selectors for one namespace or one name narrow them, unless there is a continue
// token: its key is relative to the collection of the path, even if the token comes from a narrowed list.
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

// reading determines the state to read from resourceVersion, resourceVersionMatch, limit and continue.
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
	case rev > 0 && l.limit > 0: // the legacy meaning of a limit without a match; it does not apply to a single object
		read.exact, read.store = l.single == "", l.single != ""
	}
	if rev == 0 && !read.newest && !l.r.uncached(l.d) {
		l.limit = 0 // an arbitrary state of the cache is never divided into pages
	}
	return read, nil
}

// continueFrom returns the state and the first key for the page that a continue token requests. It returns 400 if the token is
// invalid, or if the client also specified a resourceVersion other than 0.
func (l *lister) continueFrom() (reading, *status.Status) {
	from, rev, err := decodeContinue(l.o.Continue, l.prefix)
	if err != nil {
		return reading{}, status.BadRequest("invalid continue token: %v", err)
	}
	if rv := l.o.ResourceVersion; rv != "" && rv != "0" {
		return reading{}, status.BadRequest("specifying resource version is not allowed when using continue")
	}
	if l.o.ResourceVersion == "0" && !l.r.uncached(l.d) {
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

// past returns the store's state at the revision, or 410 Expired if it has been compacted.
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

// page returns the matching objects of the view, beginning at read.from.
func (l *lister) page(view *mvcc.View, rev uint64, read reading, cached bool) *Page {
	p := &Page{Rev: rev, Shards: l.o.shards.String()}
	if l.single != "" {
		if kv := view.Get(l.single); kv != nil {
			l.add(p, kv)
		}
		return p
	}
	var last string
	view = view.Made() // Made makes the Count below cheap
	l.each(view, read, cached, func(kv *mvcc.KV) bool {
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

// each calls yield with the objects of the collection in key order, beginning at read.from, until it returns false. For the first
// page of a list of the cache's newest state, it uses the cache's index if the field selector requires a value of the indexed
// field.
func (l *lister) each(view *mvcc.View, read reading, cached bool, yield func(*mvcc.KV) bool) {
	if value := l.indexed(); value != nil && cached && !read.exact && l.o.Continue == "" {
		l.r.Backend.Cache(l.d.Hub).Select(l.d.Hub, *value, l.prefix, yield)
		return
	}
	view.Range(l.prefix, read.from, yield)
}

// indexed returns the value that the field selector requires for the kind's indexed field, or nil if it requires none or no field
// is indexed.
func (l *lister) indexed() *string {
	if field := l.d.Hub.Strategy.Index; field != "" {
		if value, ok := l.o.Fields.RequiresExact(field); ok {
			return &value
		}
	}
	return nil
}

func (l *lister) add(p *Page, kv *mvcc.KV) {
	it := resource.ItemFor(l.asker, l.d.Hub, kv)
	if it.Err() != nil {
		p.broken = append(p.broken, it)
	}
	if l.o.Matches(it) {
		p.Items = append(p.Items, decorate(l.d, it))
	}
}
