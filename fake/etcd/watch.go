package etcd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// progressInterval is the interval at which a watch with progress_notify is notified of the current revision.
const progressInterval = 10 * time.Minute

// watcher is one watch of a stream: WatchCreateRequest { key = 1, range_end = 2, start_revision = 3, progress_notify = 4, filters = 5,
// prev_kv = 6, watch_id = 7, fragment = 8 }.
type watcher struct {
	id       int64
	within   Range
	next     uint64 // the first revision that was not sent
	progress bool
	prev     bool // send previous values
	noPut    bool
	noDelete bool
}

// stream is a stream of requests and responses of Watch.
type stream struct {
	*Service
	call     *grpc.Call
	watchers []*watcher
	last     int64 // the highest ID
}

// watch serves a stream of WatchRequest { create_request = 1, cancel_request = 2, progress_request = 3 }.
func (s *Service) watch(ctx context.Context, c *grpc.Call) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, ended := make(chan message), make(chan error, 1)
	go func() { ended <- receiveAll(ctx, c, requests) }()
	x := &stream{Service: s, call: c, last: -1}
	ticker := s.clock.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		changed := s.store.Changed()
		if err := x.sendEvents(); err != nil {
			return err
		}
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err = <-ended:
			return err
		case q := <-requests:
			err = x.handle(q)
		case <-ticker.C():
			err = x.notify()
		case <-changed:
		}
		if err != nil {
			return err
		}
	}
}

// receiveAll sends the requests of a stream to a channel until the stream ends.
func receiveAll(ctx context.Context, c *grpc.Call, requests chan<- message) error {
	for {
		q, err := requestOf(c)
		if err != nil {
			return err
		}
		select {
		case requests <- q:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle handles one request.
func (x *stream) handle(q message) error {
	for field, handle := range []func(message) error{x.create, x.cancel, func(message) error { return x.send(-1, nil) }} {
		all, err := q.Messages(fieldNumber(1 + field))
		if err != nil {
			return err
		}
		for _, inner := range all {
			if err := handle(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// create begins a watch.
func (x *stream) create(q message) error {
	w := &watcher{id: q.Number(7), within: Range{q.Text(1), q.Text(2)}, next: uint64(q.Number(3)), progress: q.Is(4), prev: q.Is(6)}
	if w.within.Key == "" {
		w.within.Key = "\x00" // as in etcd, an empty key is the smallest one
	}
	w.noPut, w.noDelete = filters(q)
	if taken := slices.ContainsFunc(x.watchers, func(other *watcher) bool { return other.id == w.id }); w.id == 0 || taken {
		w.id = x.last + 1
	}
	x.last = max(x.last, w.id)
	if err := x.send(w.id, func(b *builder, tx Tx) {
		if w.next == 0 {
			w.next = tx.Rev() + 1
		}
		b.Bool(3, true)
	}); err != nil {
		return err
	}
	x.watchers = append(x.watchers, w)
	return nil
}

// filters returns the filters NOPUT = 0 and NODELETE = 1 of a request, which are packed or not.
func filters(q message) (noPut, noDelete bool) {
	packed := q.Text(5)
	single := q.Has(5)
	for _, value := range []byte(packed) {
		noPut, noDelete = noPut || value == 0, noDelete || value == 1
	}
	if single {
		noPut, noDelete = noPut || q.Number(5) == 0, noDelete || q.Number(5) == 1
	}
	return noPut, noDelete
}

// cancel ends a watch: WatchCancelRequest { watch_id = 1 }.
func (x *stream) cancel(q message) error {
	i := slices.IndexFunc(x.watchers, func(w *watcher) bool { return w.id == q.Number(1) })
	if i < 0 {
		return nil
	}
	x.watchers = slices.Delete(x.watchers, i, i+1)
	return x.send(q.Number(1), func(b *builder, _ Tx) { b.Bool(4, true) })
}

// notify sends the current revision to the watches that asked for progress.
func (x *stream) notify() error {
	for _, w := range x.watchers {
		if !w.progress {
			continue
		}
		if err := x.send(w.id, nil); err != nil {
			return err
		}
	}
	return nil
}

// send sends WatchResponse { header = 1, watch_id = 2, created = 3, canceled = 4, compact_revision = 5, events = 11 }. fill may set
// further fields.
func (x *stream) send(id int64, fill func(*builder, Tx)) error {
	var b *builder
	err := x.store.Do(func(tx Tx) error {
		b = new(builder).Message(1, header(tx)).Number(2, id)
		if fill != nil {
			fill(b, tx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.call.Send(b.Bytes)
}

// sendEvents sends to each watch the events that it has not been sent. A watch whose next revision is compacted is cancelled.
func (x *stream) sendEvents() error {
	for _, w := range slices.Clone(x.watchers) {
		b, err := x.events(w)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		if err := x.call.Send(b.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// events returns the response for the events that a watch has not been sent, or nil if there are none.
func (x *stream) events(w *watcher) (b *builder, err error) {
	found := false
	err = x.store.Do(func(tx Tx) error {
		if tx.Rev() < w.next {
			return nil
		}
		b = new(builder).Message(1, header(tx)).Number(2, w.id)
		var failed error
		err := tx.Events(w.within, w.next, func(e Event) bool {
			if e.Now == nil && w.noDelete || e.Now != nil && w.noPut {
				return true
			}
			inner, err := w.encode(e)
			if err != nil {
				failed = err
				return false
			}
			found = true
			b.Message(11, inner)
			return true
		})
		if errors.Is(err, mvcc.ErrCompacted) {
			found, err = true, nil
			b = new(builder).Message(1, header(tx)).Number(2, w.id).Bool(4, true).Number(5, int64(tx.Compacted()))
			x.watchers = slices.DeleteFunc(x.watchers, func(other *watcher) bool { return other == w })
		}
		w.next = tx.Rev() + 1
		return cmp.Or(err, failed)
	})
	if err != nil || !found {
		return nil, err
	}
	return b, nil
}

// encode returns Event { type = 1, kv = 2, prev_kv = 3 }. The type is PUT = 0 or DELETE = 1. The kv of a delete has the key and the
// revision of the delete.
func (w *watcher) encode(e Event) (*builder, error) {
	b := new(builder)
	now := e.Now
	if now == nil {
		b.Number(1, 1).Message(2, new(builder).Text(1, e.Prev.Key).Number(3, int64(e.Rev)))
	} else {
		inner, err := now.encode(false)
		if err != nil {
			return nil, err
		}
		b.Message(2, inner)
	}
	if w.prev && e.Prev != nil {
		inner, err := e.Prev.encode(false)
		if err != nil {
			return nil, err
		}
		b.Message(3, inner)
	}
	return b, nil
}
