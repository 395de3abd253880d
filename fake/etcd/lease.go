package etcd

import (
	"slices"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/object"
)

// leases are the leases of a Service and the keys that are attached to them.
//
//	byID   7 ─▶ lease {60 s, timer}        byKey   "/a" ─▶ 7
type leases struct {
	mu    sync.Mutex
	last  int64
	byID  map[int64]*lease
	byKey map[string]int64
}

type lease struct {
	ttl   int64 // in seconds
	ends  time.Time
	timer clock.Timer
}

func (l *leases) get(id int64) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// of returns the lease of a key, or 0.
func (l *leases) of(key string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byKey[key]
}

// attach sets the lease of a key. If id is 0, the key has none.
func (l *leases) attach(key string, id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byKey, key)
	if id != 0 {
		l.byKey[key] = id
	}
}

// keys returns the keys of a lease, sorted.
func (l *leases) keys(id int64) (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range object.SortedKeys(l.byKey) {
		if l.byKey[key] == id {
			all = append(all, key)
		}
	}
	return all
}

// grant handles LeaseGrantRequest { TTL = 1, ID = 2 }. It returns LeaseGrantResponse { header = 1, ID = 2, TTL = 3 }.
func (s *Service) grant(q message) (*builder, error) {
	l := &s.leases
	l.mu.Lock()
	id, ttl := q.Number(2), max(q.Number(1), 1)
	if id == 0 {
		for l.last++; l.byID[l.last] != nil; {
			l.last++
		}
		id = l.last
	}
	if l.byID[id] != nil {
		l.mu.Unlock()
		return nil, errLeaseExists
	}
	made := &lease{ttl: ttl}
	l.byID[id] = made
	s.extend(id, made)
	l.mu.Unlock()
	return s.answer(func(b *builder) { b.Number(2, id).Number(3, ttl) })
}

// extend lets a lease begin again. The caller holds the lock of the leases.
func (s *Service) extend(id int64, l *lease) {
	if l.timer != nil {
		l.timer.Stop()
	}
	ttl := time.Duration(l.ttl) * time.Second
	l.ends = s.clock.Now().Add(ttl)
	l.timer = s.clock.AfterFunc(ttl, func() { _ = s.end(id) }) // it fails if the lease was revoked
}

// end removes a lease and its keys.
func (s *Service) end(id int64) error {
	s.leases.mu.Lock()
	l := s.leases.byID[id]
	delete(s.leases.byID, id)
	s.leases.mu.Unlock()
	if l == nil {
		return errNoLease
	}
	l.timer.Stop()
	return s.write(func(tx Tx) error {
		for _, key := range s.leases.keys(id) {
			if err := tx.Delete(key); err != nil {
				return err
			}
			s.leases.attach(key, 0)
		}
		return nil
	})
}

// revoke handles LeaseRevokeRequest { ID = 1 }. It returns LeaseRevokeResponse { header = 1 }.
func (s *Service) revoke(q message) (*builder, error) {
	if err := s.end(q.Number(1)); err != nil {
		return nil, err
	}
	return s.answer(func(*builder) {})
}

// timeToLive handles LeaseTimeToLiveRequest { ID = 1, keys = 2 }. It returns LeaseTimeToLiveResponse { header = 1, ID = 2, TTL = 3,
// grantedTTL = 4, keys = 5 }. The TTL of a lease that does not exist is -1.
func (s *Service) timeToLive(q message) (*builder, error) {
	id := q.Number(1)
	l := s.leases.get(id)
	if l == nil {
		return s.answer(func(b *builder) { b.Number(2, id).Number(3, -1) })
	}
	return s.answer(func(b *builder) {
		b.Number(2, id).Number(3, s.left(l)).Number(4, l.ttl)
		if q.Is(2) {
			for _, key := range s.leases.keys(id) {
				b.Text(5, key)
			}
		}
	})
}

// left returns the remaining time of a lease in seconds.
func (s *Service) left(l *lease) int64 {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	return int64(l.ends.Sub(s.clock.Now()) / time.Second)
}

// listLeases returns LeaseLeasesResponse { header = 1, leases = 2 { ID = 1 } }.
func (s *Service) listLeases(message) (*builder, error) {
	s.leases.mu.Lock()
	var ids []int64
	for id := range s.leases.byID { // sorted below
		ids = append(ids, id)
	}
	s.leases.mu.Unlock()
	slices.Sort(ids)
	return s.answer(func(b *builder) {
		for _, id := range ids {
			b.Message(2, new(builder).Number(1, id))
		}
	})
}

// keepAlive handles a stream of LeaseKeepAliveRequest { ID = 1 }. It sends LeaseKeepAliveResponse { header = 1, ID = 2, TTL = 3 }. The
// TTL of a lease that does not exist is 0.
func (s *Service) keepAlive(c *grpc.Call) error {
	for {
		q, err := requestOf(c)
		if err != nil {
			return err
		}
		id, ttl := q.Number(1), int64(0)
		s.leases.mu.Lock()
		if l := s.leases.byID[id]; l != nil {
			s.extend(id, l)
			ttl = l.ttl
		}
		s.leases.mu.Unlock()
		answer, err := s.answer(func(b *builder) { b.Number(2, id).Number(3, ttl) })
		if err != nil {
			return err
		}
		if err := c.Send(answer.Bytes); err != nil {
			return err
		}
	}
}

// answer returns a response that begins with a header.
func (s *Service) answer(fill func(*builder)) (b *builder, err error) {
	err = s.store.Do(func(tx Tx) error {
		b = new(builder).Message(1, header(tx))
		return nil
	})
	if err == nil {
		fill(b)
	}
	return b, err
}
